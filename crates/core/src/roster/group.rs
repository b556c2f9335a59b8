//! The groups of the roster, in the order in which they stand.

use crate::session::state::{State, StateKind};

/// Where a row stands. The order of the variants is the order of the groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// An approval, a question, a plan, an error, a limit.
    NeedsYou,
    /// A turn runs.
    Working,
    /// The turn is over; the next word is the person's.
    YourTurn,
    /// Nothing has happened for long, or the process is gone.
    Idle,
}

impl Group {
    /// The word in JSON and text output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::NeedsYou => "needs_you",
            Self::Working => "working",
            Self::YourTurn => "your_turn",
            Self::Idle => "idle",
        }
    }
}

/// The group of a state.
///
/// An error needs the person only until it has been left alone for so long that the session is idle.
pub const fn group(state: State, kind: Option<StateKind>) -> Group {
    match (state, kind) {
        (State::WaitingForApproval, _)
        | (State::WaitingForInput, Some(StateKind::Error | StateKind::Limit)) => Group::NeedsYou,
        (State::Working, _) => Group::Working,
        (State::WaitingForInput, _) => Group::YourTurn,
        (State::Idle | State::Ended, _) => Group::Idle,
    }
}
