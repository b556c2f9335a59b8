//! Which of several pending tool calls a row names.

use crate::roster::row::PendingTool;
use crate::tool::Ask;

/// The call that the row names: a question, else a plan, else the oldest that may wait for a
/// permission, else the oldest.
pub fn principal(pending: &[PendingTool]) -> Option<&PendingTool> {
    pending.iter().min_by_key(|call| match Ask::of(&call.tool, false) {
        Ask::Question => 0,
        Ask::Plan | Ask::Permission => 1,
        Ask::Edit | Ask::Tool => 2,
        Ask::Never => 3,
    })
}

/// Whether a call that asks the user in this way is pending.
pub(crate) fn is_pending(pending: &[PendingTool], ask: Ask) -> bool {
    pending.iter().any(|call| Ask::of(&call.tool, false) == ask)
}
