//! The status line of Claude Code: what the client writes to the command that draws it.
//!
//! Seen with 2.1.329: `/bin/sh -c` runs the command in the working folder, as a session without a terminal, with the columns
//! and lines of the terminal in its environment. It has no time limit. A new run ends the old one and all that it started. After
//! a code other than 0, and without output, the client shows nothing.

use std::borrow::Cow;
use std::sync::Arc;

use watchbill_core::hook::{STATUS_LINE, SaidContext, SaidPullRequest, StatusLine};
use watchbill_core::limits::{Limit, hundredths};
use watchbill_core::session::facts::one_line;
use watchbill_core::transcript::json::Raw;

use super::hooks::Fields;

/// The key of the status line in the client's settings.
pub const SETTING: &str = "statusLine";

/// The spans of the plan's limits, in minutes.
const FIVE_HOURS: u64 = 300;
const WEEK: u64 = 7 * 24 * 60;

/// The payload as a hook's, which names its event. `None`: it is no object.
pub fn as_event(payload: &[u8]) -> Option<Vec<u8>> {
    let rest = payload.trim_ascii().strip_prefix(b"{")?;
    let comma = if rest.trim_ascii_start().starts_with(b"}") { "" } else { "," };
    // The last of two keys counts: a client that names an event here itself would name another one.
    let rest = rest.strip_suffix(b"}")?;
    Some([b"{", rest, format!("{comma}\"hook_event_name\":\"{STATUS_LINE}\"}}").as_bytes()].concat())
}

/// What the client says.
pub(super) fn read(fields: &Fields<'_>) -> StatusLine {
    let text =
        |raw: Raw<'_>| raw.whole().map(|text| one_line(&text)).filter(|text| !text.is_empty()).map(Arc::from);
    StatusLine {
        context: context(fields.context),
        cost: fields.cost.get("total_cost_usd").decimal().and_then(millionths),
        model: text(fields.model.get("id")),
        effort: text(fields.effort.get("level")),
        pull_request: fields.pr.get("number").number().zip(url(fields.pr.get("url"))).map(|(number, url)| {
            SaidPullRequest { number, url, review: text(fields.pr.get("review_state")) }
        }),
        limits: [("five_hour", FIVE_HOURS), ("seven_day", WEEK)]
            .into_iter()
            .filter_map(|(name, minutes)| limit(fields.limits.get(name), minutes))
            .collect(),
    }
}

/// Only an address that a browser opens. A person copies it with one click.
fn url(raw: Raw<'_>) -> Option<Arc<str>> {
    let url: Cow<'_, str> = raw.whole()?;
    let is_plain = url.len() <= 2048 && url.bytes().all(|byte| byte.is_ascii_graphic());
    (is_plain && (url.starts_with("https://") || url.starts_with("http://"))).then(|| Arc::from(url))
}

fn context(raw: Raw<'_>) -> Option<SaidContext> {
    let size = raw.get("context_window_size").number().filter(|size| *size > 0)?;
    let percent = raw.get("used_percentage").decimal().and_then(hundredths);
    Some(SaidContext { size, used: raw.get("total_input_tokens").number().zip(percent) })
}

fn limit(raw: Raw<'_>, minutes: u64) -> Option<Limit> {
    Limit::new(minutes, raw.get("used_percentage").decimal()?, raw.get("resets_at").number()?)
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
fn millionths(dollars: f64) -> Option<u64> {
    (0.0..1e9).contains(&dollars).then(|| (dollars * 1e6).round() as u64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use watchbill_core::hook::HookEvent;
    use watchbill_core::time::Timestamp;

    use super::*;
    use crate::claude::hooks::parse_payload;

    fn said(payload: &serde_json::Value) -> StatusLine {
        let event = as_event(payload.to_string().as_bytes()).expect("an object");
        match parse_payload(&event).expect("an event").event {
            HookEvent::StatusLine(said) => StatusLine::clone(&said),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_word_of_the_client_is_read() {
        let word = said(&json!({
            "session_id": "s", "cwd": "/home/dev", "model": {"id": "opus", "display_name": "Opus"},
            "effort": {"level": "high"}, "cost": {"total_cost_usd": 1.23456789},
            "context_window": {"total_input_tokens": 71_000, "context_window_size": 200_000, "used_percentage": 35.5},
            "rate_limits": {
                "five_hour": {"used_percentage": 42.4, "resets_at": 1_795_940_000},
                "seven_day": {"used_percentage": 7, "resets_at": 1_796_000_000},
            },
            "pr": {"number": 318, "url": "https://example.invalid/pull/318", "review_state": "approved"},
        }));
        let context = SaidContext { size: 200_000, used: Some((71_000, 3550)) };
        assert_eq!(word.context, Some(context));
        assert_eq!((word.cost, word.model.as_deref()), (Some(1_234_568), Some("opus")));
        assert_eq!(word.effort.as_deref(), Some("high"));
        let found = word.pull_request.expect("a pull request");
        assert_eq!((found.number, found.review.as_deref()), (318, Some("approved")));
        let limit = |minutes, used, second: i64| Limit {
            minutes,
            used,
            resets_at: Timestamp::from_millis(second * 1000),
        };
        assert_eq!(word.limits, [limit(300, 4240, 1_795_940_000), limit(10_080, 700, 1_796_000_000)]);
    }

    #[test]
    fn what_the_client_does_not_know_yet_is_absent() {
        let word = said(&json!({
            "session_id": "s",
            "context_window": {"total_input_tokens": 0, "context_window_size": 1_000_000, "used_percentage": null},
            "pr": {"number": 1, "url": "javascript:alert(1)"},
            "rate_limits": {"five_hour": {"used_percentage": "all", "resets_at": -4}, "seven_day": [1]},
            "cost": {"total_cost_usd": -1.0},
        }));
        let context = Some(SaidContext { size: 1_000_000, used: None });
        assert_eq!(word, StatusLine { context, ..StatusLine::default() });
    }

    #[test]
    fn the_event_is_named_once_and_last() {
        assert_eq!(as_event(b" {} ").as_deref(), Some(&b"{\"hook_event_name\":\"StatusLine\"}"[..]));
        assert_eq!(as_event(b"[]"), None);
        let word = said(&json!({"hook_event_name": "Status", "session_id": "s"}));
        assert_eq!(word, StatusLine::default());
    }
}
