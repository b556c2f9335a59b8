//! A record of the log as a value.

use serde_json::Value;
use watchbill_protocol::own::event::OwnWhat;

use super::failure::failure;
use super::json::{object, text};
use super::requests::TOO_LARGE;
use crate::driver::{LogLine, SHORTENED};

/// A record, read.
pub(crate) enum Line<'a> {
    /// The agent wrote it.
    Out(&'a str, Value),
    /// It was written to the agent.
    In(&'a str, Value),
    /// It is no JSON object.
    Broken(OwnWhat),
    /// It says nothing: an empty line, or standard error.
    Silent,
}

/// Reads a record. `agent` is the agent's name.
pub(crate) fn read<'a>(line: LogLine<'a>, agent: &str) -> Line<'a> {
    let (words, writer) = match line {
        LogLine::Out("") | LogLine::In("") | LogLine::Err(_) => return Line::Silent,
        LogLine::Out(words) => (words, agent),
        LogLine::In(words) => (words, "Watchbill"),
    };
    match object(words, writer) {
        Err(why) => Line::Broken(failure("protocol", why)),
        // Half a request is never shown: it would be allowed as a whole.
        Ok(value) if value.get(SHORTENED).is_some() && asks(&value) => {
            Line::Broken(failure("protocol", TOO_LARGE))
        }
        Ok(value) if matches!(line, LogLine::Out(_)) => Line::Out(words, value),
        Ok(value) => Line::In(words, value),
    }
}

/// Whether the agent waits for an answer to the line.
fn asks(value: &Value) -> bool {
    text(value, "type") == Some("control_request")
        || (value.get("id").is_some() && value.get("method").is_some())
}
