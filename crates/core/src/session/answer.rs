//! How to read an answer: whether the agent made it up, whether it ends the turn, and whether a refusal is a usage
//! limit.

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

/// Whether an error is a usage limit of the account, not a temporary refusal.
pub(crate) fn is_usage_limit(kind: Option<&str>, text: &str) -> bool {
    if !matches!(kind, None | Some("rate_limit" | "unknown")) {
        return false;
    }
    let text = text.to_ascii_lowercase();
    text.contains("usage limit")
        || text.contains("limit reached")
        || text.contains("limit will reset")
        || (text.contains("limit") && (text.contains("hit your") || text.contains("reached your")))
        || (text.contains("limit") && text.contains("resets"))
}
