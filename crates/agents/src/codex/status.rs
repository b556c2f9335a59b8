//! The background server of Codex on its socket: what is asked, and what its messages say.
//!
//! Source: the talk with Codex 0.169.0 in `tests/fixtures/codex/app-server-talk.ndjson`. It is JSON-RPC without `jsonrpc`, one
//! message in each WebSocket frame.

use serde_json::Value;
use watchbill_core::evidence::registry::RegistryStatus;
use watchbill_core::ids::SessionId;
use watchbill_core::time::Timestamp;

use crate::fold::json::{list, object, text};
use crate::traits::{ServerStatus, StatusServer};

/// The server. No question changes anything, and nothing else is ever sent: other methods act.
///
/// The first `initialize` names the client, and all later threads of the process would carry its name and lose what is for
/// Codex's own clients. Only names that the server exempts do not do that (`NON_ORIGINATING_CLIENT_NAMES` in its
/// `initialize_processor.rs`). This is the one of its own lifecycle checks. Without such a list in a version, that version would
/// take the name; no version tells before.
///
/// `thread/list` gives the newest 50 from the server's database: without that, it would read all rollouts. It is asked for the
/// threads that a person starts, and for subagents. The status of any other thread comes with its next change.
pub const SERVER: StatusServer = StatusServer {
    folder: "app-server-control",
    socket: "app-server-control.sock",
    questions: &[
        r#"{"id":1,"method":"initialize","params":{"clientInfo":{"name":"codex_app_server_daemon","version":"0"}}}"#,
        r#"{"method":"initialized"}"#,
        r#"{"id":2,"method":"thread/loaded/list","params":{}}"#,
        r#"{"id":3,"method":"thread/list","params":{"limit":50,"sortKey":"updated_at","modelProviders":[],"useStateDbOnly":true}}"#,
        r#"{"id":4,"method":"thread/list","params":{"limit":50,"sortKey":"updated_at","modelProviders":[],"sourceKinds":["subAgent"],"useStateDbOnly":true}}"#,
    ],
    read,
};

/// Reads a message.
fn read(message: &[u8]) -> Option<Vec<ServerStatus>> {
    let message = object(std::str::from_utf8(message).ok()?, "codex").ok()?;
    if text(&message, "method") == Some("thread/status/changed") {
        let params = message.get("params")?;
        return Some(vec![said(text(params, "threadId")?, params.get("status"), None)]);
    }
    let Some(result) = message.get("result") else { return Some(Vec::new()) };
    let threads = list(result, "data").filter_map(|thread| match thread.as_str() {
        // A loaded thread. Its lock says who runs it.
        Some(id) => Some(said(id, None, None)),
        None => {
            let seconds = thread.get("updatedAt").and_then(Value::as_i64);
            // Rounded down, as the server gives it.
            let at = seconds.map(|seconds| Timestamp::from_millis(seconds.saturating_mul(1000)));
            Some(said(text(thread, "id")?, thread.get("status"), at))
        }
    });
    Some(threads.collect())
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
            let brief = said.iter().map(|said| (&said.session.as_str()[28..], &said.status, said.changed_at));
            format!("{:?}", brief.collect::<Vec<_>>())
        });
        insta::assert_snapshot!(said.collect::<Vec<_>>().join("\n"), @r#"
        []
        []
        [("ed1c9766", None, None), ("c70a3e90", None, None)]
        [("ed1c9766", Some(Waiting("permission prompt")), Some(Timestamp(1795451780000)))]
        [("ed1c9766", Some(Busy), None)]
        [("ed1c9766", Some(Idle), None)]
        [("ed1c9766", Some(Idle), Some(Timestamp(1795451789000)))]
        "#);
    }

    #[test]
    fn each_status_has_its_word_and_no_message_panics() {
        let of = |status: &str| {
            let message = format!(
                r#"{{"method":"thread/status/changed","params":{{"threadId":"t","status":{status}}}}}"#
            );
            (SERVER.read)(message.as_bytes()).map(|said| said[0].status.clone())
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
        for silent in [r#"{"id":9,"error":{"code":1}}"#, r#"{"method":"account/updated"}"#, "{}"] {
            assert_eq!((SERVER.read)(silent.as_bytes()), Some(Vec::new()), "{silent}");
        }
    }
}
