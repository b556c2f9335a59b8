//! How a turn ended.
//!
//! Source: the `result` lines of client 2.1.329. `subtype: "success"` says nothing, and an interrupted turn is an error there.

use serde_json::Value;
use watchbill_protocol::own::event::{OwnTokens, OwnWhat};

use crate::fold::failure::failure;
use crate::fold::json::{list, number, owned, text};

/// The end of a turn.
pub(super) struct Ended {
    /// The reason of `TurnEnd`.
    pub(super) reason: &'static str,
    /// What the user should read.
    pub(super) error: Option<OwnWhat>,
}

/// Reads a result. `api_error` is the error of the assistant line before it, if that line had one.
pub(super) fn read(line: &Value, api_error: Option<&str>) -> Ended {
    let terminal = text(line, "terminal_reason").unwrap_or_default();
    let is_error = line.get("is_error").and_then(Value::as_bool).unwrap_or(false);
    if terminal.starts_with("aborted") {
        return Ended { reason: "interrupted", error: None };
    }
    if terminal == "max_turns" || text(line, "subtype") == Some("error_max_turns") {
        return Ended { reason: "max_turns", error: None };
    }
    if !is_error {
        return Ended { reason: "completed", error: None };
    }
    let (reason, cause) = match (api_error, number(line, "api_error_status")) {
        (Some("rate_limit"), _) | (_, Some(429)) => ("limit", "limit"),
        (Some("authentication_failed"), _) | (_, Some(401 | 403)) => ("login", "login"),
        // Before the first turn: an unknown session, for one.
        (None, None) if terminal.is_empty() => ("error", "start"),
        _ => ("error", "api"),
    };
    let said = owned(line, "result").or_else(|| {
        let errors: Vec<_> = list(line, "errors").filter_map(Value::as_str).collect();
        (!errors.is_empty()).then(|| errors.join("\n"))
    });
    let words =
        said.unwrap_or_else(|| "Claude Code ended the turn with an error and gave no reason.".to_owned());
    Ended { reason, error: Some(failure(cause, words)) }
}

/// The tokens of a result.
pub(super) fn tokens(line: &Value) -> Option<OwnTokens> {
    let usage = line.get("usage")?;
    let count = |name| number(usage, name).unwrap_or(0);
    let tokens = OwnTokens {
        input: count("input_tokens"),
        output: count("output_tokens"),
        cache_read: count("cache_read_input_tokens"),
        cache_write: count("cache_creation_input_tokens"),
    };
    (tokens != OwnTokens::default()).then_some(tokens)
}
