//! Lines of JSON-RPC 2.0.

use serde_json::{Map, Value, json};
use watchbill_protocol::own::event::OwnWhat;

use super::line::{self, Line};
use crate::driver::LogLine;

/// A message, by its form.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Message<'a> {
    /// A call that wants a reply.
    Call { id: &'a Value, method: &'a str, params: &'a Value },
    /// A call that wants none.
    Notice { method: &'a str, params: &'a Value },
    /// The result of a call.
    Result { id: &'a Value, result: &'a Value },
    /// The failure of a call.
    Failure { id: &'a Value, error: &'a Value },
}

/// The form of a message; `None` for none.
pub(crate) fn read(line: &Value) -> Option<Message<'_>> {
    let id = line.get("id").filter(|id| id.is_string() || id.is_number());
    let params = line.get("params").unwrap_or(&Value::Null);
    match (id, line.get("method").and_then(Value::as_str)) {
        (Some(id), Some(method)) => Some(Message::Call { id, method, params }),
        (None, Some(method)) => Some(Message::Notice { method, params }),
        (Some(id), None) => match (line.get("result"), line.get("error")) {
            (_, Some(error)) => Some(Message::Failure { id, error }),
            (Some(result), None) => Some(Message::Result { id, result }),
            (None, None) => None,
        },
        (None, None) => None,
    }
}

/// Folds one record of an agent that talks in JSON-RPC. `said` takes what the agent wrote, `written` what was written to it.
pub(crate) fn fold<S>(
    state: &mut S,
    line: LogLine<'_>,
    agent: &str,
    said: impl FnOnce(&mut S, &str, Message<'_>, &mut Vec<OwnWhat>),
    written: impl FnOnce(&mut S, &str, Option<Message<'_>>, &mut Vec<OwnWhat>),
) -> Vec<OwnWhat> {
    let mut events = Vec::new();
    match line::read(line, agent) {
        Line::Out(text, value) => {
            if let Some(message) = read(&value) {
                said(state, text, message, &mut events);
            }
        }
        Line::In(text, value) => written(state, text, read(&value), &mut events),
        Line::Broken(event) => events.push(event),
        Line::Silent => {}
    }
    events
}

/// An id as text: the one that a string holds, or the number.
pub(crate) fn id_text(id: &Value) -> String {
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}

/// Writes messages. Codex leaves out the member `jsonrpc` (0.169.0), the Agent Client Protocol wants it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Writer {
    /// Each message names the version.
    pub(crate) names_version: bool,
}

impl Writer {
    /// A call.
    pub(crate) fn call(self, id: &str, method: &str, params: &Value) -> String {
        self.line([("id", json!(id)), ("method", json!(method)), ("params", params.clone())])
    }

    /// A call that wants no reply.
    pub(crate) fn notice(self, method: &str, params: Option<&Value>) -> String {
        let params = params.map(|params| ("params", params.clone()));
        self.line([("method", json!(method))].into_iter().chain(params))
    }

    /// A result.
    pub(crate) fn result(self, id: &Value, result: &Value) -> String {
        self.line([("id", id.clone()), ("result", result.clone())])
    }

    /// The failure of a call that this program does not know.
    pub(crate) fn unknown(self, id: &Value, method: &str) -> String {
        let error =
            json!({ "code": -32601, "message": format!("Watchbill does not know the method {method}") });
        self.line([("id", id.clone()), ("error", error)])
    }

    fn line(self, members: impl IntoIterator<Item = (&'static str, Value)>) -> String {
        let mut line = Map::new();
        if self.names_version {
            line.insert("jsonrpc".to_owned(), "2.0".into());
        }
        line.extend(members.into_iter().map(|(name, value)| (name.to_owned(), value)));
        Value::Object(line).to_string()
    }
}
