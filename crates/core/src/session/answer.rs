//! How to read an answer: whether the agent made it up, whether it ends the turn, and whether a refusal is a usage
//! limit.

use std::borrow::Cow;

use crate::time::Timestamp;
use crate::transcript::record::{Assistant, Block, StopReason};

/// The model name of messages that the agent made up itself.
pub(crate) const SYNTHETIC: &str = "<synthetic>";

/// Whether this block of an answer ends the turn.
///
/// Since 2.1.87 every block carries the stop reason of the whole message, so `end_turn` on a thinking block only
/// predicts the end. A tool call never ends a turn, with any reason. Older versions mostly wrote no reason. In four
/// of five cases a tool call of the same message follows a text without a reason, so such a text ends no turn.
pub(crate) fn ends_turn(answer: &Assistant<'_>) -> bool {
    let final_stop = matches!(
        answer.stop,
        Some(StopReason::EndTurn | StopReason::StopSequence | StopReason::MaxTokens | StopReason::Refusal)
    );
    let calls = answer.blocks.iter().any(|block| matches!(block, Block::ToolUse { .. }));
    final_stop && !answer.aborted && !calls && !matches!(answer.blocks.last(), Some(Block::Thinking))
}

/// Whether an error is a usage limit of the account, not a temporary refusal. Nearly every wording of agents 1.0.51 to
/// 2.1.332 names the limit, or the time at which it ends.
pub(crate) fn is_usage_limit(kind: Option<&str>, text: &str) -> bool {
    if kind == Some("usage_limit") {
        return true;
    }
    if !matches!(kind, None | Some("rate_limit" | "billing_error" | "unknown")) {
        return false;
    }
    let text = text.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    has(&["usage limit", "limit reached", "limit will reset", "out of extra usage", "out of usage"])
        || has(&["limit", "usage"]) && has(&["hit your", "reached your", "used all", "used up", "resets"])
}

/// The text of a refusal with its time in words. Agents 1.0 wrote seconds after a bar: `usage limit reached|1795000000`.
pub(crate) fn with_reset_time(text: &str) -> Cow<'_, str> {
    let in_seconds = text.trim_end().rsplit_once('|').and_then(|(words, seconds)| {
        let is_time = seconds.len() == 10 && seconds.bytes().all(|byte| byte.is_ascii_digit());
        Some((words, seconds.parse::<i64>().ok().filter(|_| is_time)?))
    });
    match in_seconds {
        Some((words, seconds)) => {
            let at = Timestamp::from_millis(seconds * 1_000).to_string();
            Cow::Owned(format!("{words} · resets {} {} UTC", &at[..10], &at[11..16]))
        }
        None => Cow::Borrowed(text),
    }
}
