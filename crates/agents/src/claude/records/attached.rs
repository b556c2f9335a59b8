//! Attachments: what the agent adds to a conversation beside its messages.

use std::borrow::Cow;

use super::fields::RawAttachment;
use crate::words;
use watchbill_core::transcript::record::{Attachment, TEXT_LIMIT};

pub(super) fn attachment<'a>(attached: &RawAttachment<'a>) -> Attachment<'a> {
    match attached.kind.word() {
        Some("queued_command") => {
            let text = words::joined_text(attached.prompt, TEXT_LIMIT);
            let private = words::is_private(&text, || words::joined_text(attached.prompt, usize::MAX));
            return Attachment::QueuedCommand { text, private };
        }
        // Of 185 sessions with a structured output, none has an answer after it (2.1.1 to 2.1.238).
        Some("structured_output" | "max_turns_reached" | "hook_stopped_continuation") => {
            return Attachment::TurnEnd;
        }
        _ => {}
    }
    match session_start(attached) {
        Some(source) => Attachment::SessionStart { source },
        None => Attachment::Other,
    }
}

/// The source of a SessionStart hook, from `hookName` `SessionStart:clear`.
///
/// The outcome of the hook does not matter: its name alone gives the kind of start.
pub(super) fn session_start<'a>(attached: &RawAttachment<'a>) -> Option<Cow<'a, str>> {
    attached.hook_name.word()?.strip_prefix("SessionStart:").map(Cow::Borrowed)
}
