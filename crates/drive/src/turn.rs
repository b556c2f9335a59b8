//! The state of an own session's turn, and its text for the user.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use watchbill_core::session::facts::one_line;
use watchbill_core::session::state::{State, StateKind};

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
