//! The state of an own session's turn, its end, and their texts for the user.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use watchbill_core::roster::reason::PendingTool;
use watchbill_core::session::facts::one_line;
use watchbill_core::session::state::{State, StateKind};
use watchbill_core::time::Timestamp;
use watchbill_core::transcript::record::Usage;
use watchbill_protocol::own::event::OwnTokens;

/// What a session does that was never asked.
pub(crate) const STARTS: &str = "the agent starts with the first prompt";
/// What a session does that waits for a time.
pub(crate) const GOES_ON: &str = "what is queued goes on at the time that the user said";

/// Tokens of a session, with those of a turn.
pub(crate) fn sum(of_before: Usage, turn: OwnTokens) -> Usage {
    let add = |a: u64, b: u64| a.saturating_add(b.min(Usage::MAX_TOKENS));
    Usage {
        input: add(of_before.input, turn.input),
        output: add(of_before.output, turn.output),
        cache_read: add(of_before.cache_read, turn.cache_read),
        cache_write: add(of_before.cache_write, turn.cache_write),
    }
}

/// The state of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Turn {
    /// None has begun.
    None,
    /// It runs, with what it does beside its work.
    Runs(Beside),
    /// It has ended, with the reason and the words of its error.
    Over(Arc<str>, Option<Arc<str>>),
}

/// An activity of a running turn other than its work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Beside {
    Nothing,
    Retries(Arc<str>),
    Unresponsive(Arc<str>),
    Compacts,
}

impl Turn {
    /// The state of the session, as a text.
    pub fn in_words(&self) -> (State, Option<StateKind>, String) {
        match self {
            Self::None => (State::Idle, None, "no prompt yet".to_owned()),
            Self::Runs(Beside::Nothing) => {
                (State::Working, None, "the agent says that a turn runs".to_owned())
            }
            Self::Runs(Beside::Retries(words)) => {
                (State::Working, Some(StateKind::Retrying), words.to_string())
            }
            Self::Runs(Beside::Unresponsive(words)) => (State::Working, None, words.to_string()),
            Self::Runs(Beside::Compacts) => {
                (State::Working, Some(StateKind::Compacting), "the context is being compacted".to_owned())
            }
            Self::Over(reason, words) => {
                let words = |otherwise: &str| words.as_deref().map_or_else(|| otherwise.to_owned(), one_line);
                let (kind, detail) = match &**reason {
                    "completed" => (StateKind::TurnEnded, "the turn has ended".to_owned()),
                    "interrupted" => (StateKind::Interrupted, "the user interrupted the turn".to_owned()),
                    "limit" => (StateKind::Limit, words("a usage limit was reached")),
                    "login" => (StateKind::Error, words("the agent is not logged in")),
                    "max_turns" => (StateKind::Error, words("the turn reached its greatest length")),
                    _ => (StateKind::Error, words("the turn ended with an error")),
                };
                (State::WaitingForInput, Some(kind), detail)
            }
        }
    }
}

/// How the session ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct End {
    pub at: Timestamp,
    pub kind: Option<StateKind>,
    pub detail: Arc<str>,
}

/// A text that says something.
pub(crate) fn filled(text: &Option<String>) -> Option<Arc<str>> {
    text.as_deref().filter(|text| !text.is_empty()).map(Arc::from)
}

/// The longest id of a call, and the longest name of a tool, in bytes. The agent chooses them.
const MAX_NAME_BYTES: usize = 512;

/// A call, or a request in its place.
pub(crate) fn pending(since: Timestamp, id: &str, tool: &str, target: &str) -> PendingTool {
    let name = |text: &str| text[..text.floor_char_boundary(MAX_NAME_BYTES)].into();
    PendingTool { id: name(id), tool: name(tool), target: target.into(), since }
}
