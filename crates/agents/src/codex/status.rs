//! The background server of Codex on its socket: what is asked, and what its messages say.
//!
//! Source: the talk with Codex 0.169.0 in `tests/fixtures/codex/app-server-talk.ndjson`. It is JSON-RPC without `jsonrpc`, one
//! message in each WebSocket frame.

use serde_json::Value;
use watchbill_core::evidence::registry::RegistryStatus;
use watchbill_core::ids::SessionId;
use watchbill_core::time::Timestamp;

use crate::fold::json::{list, object, text};
use crate::traits::{ServerSaid, ServerStatus, StatusServer};

/// The most threads that are asked for. The status of any other one comes with its next change.
const MAX_THREADS: usize = 200;
/// The id of the first question about a thread.
const FIRST_ID: usize = 3;
/// The error of a server whose queue is full (`app-server/src/transport` in its source).
const OVERLOADED: i64 = -32001;

/// The server. No question changes anything, and nothing else is ever sent: other methods act.
///
/// The first `initialize` names the client, and all later threads of the process would carry its name and lose what is for
/// Codex's own clients. Only names that the server exempts do not do that (`NON_ORIGINATING_CLIENT_NAMES` in its
/// `initialize_processor.rs`). This is the one of its own lifecycle checks. Without such a list in a version, that version would
/// take the name; no version tells before.
///
/// `thread/loaded/list` names the threads that it runs, and `thread/read` gives the state of one without loading it. `thread/list`
/// would give fifty at once, but in 0.169.0 no subagent, although each can wait for a person.
pub const SERVER: StatusServer = StatusServer {
    folder: "app-server-control",
    socket: "app-server-control.sock",
    questions: &[
        r#"{"id":1,"method":"initialize","params":{"clientInfo":{"name":"codex_app_server_daemon","version":"0"}}}"#,
        r#"{"method":"initialized"}"#,
        r#"{"id":2,"method":"thread/loaded/list","params":{}}"#,
    ],
    read,
};

/// Reads a message.
fn read(message: &[u8]) -> Option<ServerSaid> {
    let message = object(std::str::from_utf8(message).ok()?, "codex").ok()?;
    if let Some(method) = text(&message, "method") {
        let mut statuses = Vec::new();
        if method == "thread/status/changed" {
            let params = message.get("params")?;
            statuses.push(said(text(params, "threadId")?, params.get("status"), None));
        }
        return Some(ServerSaid::News(statuses));
    }
    if message.get("error").and_then(|error| error.get("code")).and_then(Value::as_i64) == Some(OVERLOADED) {
        return Some(ServerSaid::Busy);
    }
    let result = message.get("result").unwrap_or(&Value::Null);
    // An answer may be older than the news before it, so it always has a time.
    let answer = |id: &str, thread: &Value| {
        let seconds = thread.get("updatedAt").and_then(Value::as_i64).unwrap_or(0);
        // Rounded down, as the server gives it.
        said(id, thread.get("status"), Some(Timestamp::from_millis(seconds.saturating_mul(1000))))
    };
    if let Some(thread) = result.get("thread") {
        let statuses = vec![answer(text(thread, "id")?, thread)];
        return Some(ServerSaid::Answer { statuses, questions: Vec::new() });
    }
    let loaded: Vec<&str> = list(result, "data").filter_map(Value::as_str).take(MAX_THREADS).collect();
    let question = |(thread, id): (&&str, usize)| {
        let thread = Value::from(*thread);
        format!(
            r#"{{"id":{id},"method":"thread/read","params":{{"threadId":{thread},"includeTurns":false}}}}"#
        )
    };
    // A loaded thread. Its lock says who runs it.
    let statuses = loaded.iter().map(|id| answer(id, &Value::Null)).collect();
    Some(ServerSaid::Answer { statuses, questions: loaded.iter().zip(FIRST_ID..).map(question).collect() })
}

fn said(id: &str, status: Option<&Value>, changed_at: Option<Timestamp>) -> ServerStatus {
    ServerStatus { session: SessionId::new(id), status: status.and_then(word), changed_at }
}

/// A status in the words of the registry. `None` for `notLoaded`, and for `systemError`, which says nothing of the turn.
fn word(status: &Value) -> Option<RegistryStatus> {
    let waits = |what: &str| Some(RegistryStatus::Waiting(what.into()));
    match text(status, "type")? {
        "idle" => Some(RegistryStatus::Idle),
        "active" => {
            let has = |flag: &str| list(status, "activeFlags").any(|found| found.as_str() == Some(flag));
            match (has("waitingOnApproval"), has("waitingOnUserInput")) {
                (true, _) => waits("permission prompt"),
                (_, true) => waits("input needed"),
                _ => Some(RegistryStatus::Busy),
            }
        }
        "notLoaded" | "systemError" => None,
        other => Some(RegistryStatus::Unknown(other.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recorded_talk_says_these_states() {
        let talk = include_str!("../../../../tests/fixtures/codex/app-server-talk.ndjson");
        let said = talk.lines().map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            let said = (SERVER.read)(line["line"].as_str().unwrap().as_bytes()).expect("it is understood");
            let (statuses, questions) = match &said {
                ServerSaid::News(statuses) => (statuses, &Vec::new()),
                ServerSaid::Answer { statuses, questions } => (statuses, questions),
                ServerSaid::Busy => panic!("it was not"),
            };
            let brief = |said: &ServerStatus| {
                format!("{} {:?} {:?}", &said.session.as_str()[28..], said.status, said.changed_at)
            };
            format!("{:?} {questions:?}", statuses.iter().map(brief).collect::<Vec<_>>())
        });
        insta::assert_snapshot!(said.collect::<Vec<_>>().join("\n"), @r#"
        [] []
        [] []
        ["363b1e5e None Some(Timestamp(0))", "87b32074 None Some(Timestamp(0))", "fb42fd68 None Some(Timestamp(0))"] ["{\"id\":3,\"method\":\"thread/read\",\"params\":{\"threadId\":\"01a227eb-7249-7692-a9dd-d47c363b1e5e\",\"includeTurns\":false}}", "{\"id\":4,\"method\":\"thread/read\",\"params\":{\"threadId\":\"01a227eb-7881-7811-a353-8c4087b32074\",\"includeTurns\":false}}", "{\"id\":5,\"method\":\"thread/read\",\"params\":{\"threadId\":\"01a227eb-78e6-7380-8e07-be58fb42fd68\",\"includeTurns\":false}}"]
        ["fb42fd68 Some(Waiting(\"permission prompt\")) Some(Timestamp(1795966073000))"] []
        ["363b1e5e Some(Busy) Some(Timestamp(1795966073000))"] []
        ["87b32074 Some(Idle) Some(Timestamp(1795966074000))"] []
        ["fb42fd68 Some(Busy) None"] []
        ["fb42fd68 Some(Idle) None"] []
        ["363b1e5e Some(Idle) None"] []
        "#);
    }

    #[test]
    fn each_status_has_its_word_and_no_message_panics() {
        let of = |status: &str| {
            let message = format!(
                r#"{{"method":"thread/status/changed","params":{{"threadId":"t","status":{status}}}}}"#
            );
            match (SERVER.read)(message.as_bytes()) {
                Some(ServerSaid::News(statuses)) => Some(statuses[0].status.clone()),
                other => panic!("{other:?}"),
            }
        };
        let waits = |what: &str| Some(Some(RegistryStatus::Waiting(what.into())));
        assert_eq!(of(r#"{"type":"active","activeFlags":["waitingOnUserInput"]}"#), waits("input needed"));
        let both = r#"{"type":"active","activeFlags":["waitingOnUserInput","waitingOnApproval"]}"#;
        assert_eq!(of(both), waits("permission prompt"));
        assert_eq!(of(r#"{"type":"active","activeFlags":["later"]}"#), Some(Some(RegistryStatus::Busy)));
        assert_eq!(of(r#"{"type":"later"}"#), Some(Some(RegistryStatus::Unknown("later".into()))));
        for nothing in [r#"{"type":"notLoaded"}"#, r#"{"type":"systemError"}"#, "{}", "null", "7"] {
            assert_eq!(of(nothing), Some(None), "{nothing}");
        }
        for bad in ["", "{", "[]", "7", r#"{"method":"thread/status/changed"}"#, "\u{fffd}"] {
            assert_eq!((SERVER.read)(bad.as_bytes()), None, "{bad}");
        }
        assert_eq!((SERVER.read)(b"\xff"), None);
        assert_eq!((SERVER.read)(br#"{"method":"account/updated"}"#), Some(ServerSaid::News(Vec::new())));
        for silent in [r#"{"id":9,"error":{"code":1}}"#, r#"{"id":1,"result":{}}"#, "{}"] {
            let nothing = ServerSaid::Answer { statuses: Vec::new(), questions: Vec::new() };
            assert_eq!((SERVER.read)(silent.as_bytes()), Some(nothing), "{silent}");
        }
        assert_eq!((SERVER.read)(br#"{"id":9,"error":{"code":-32001}}"#), Some(ServerSaid::Busy));
    }
}
