//! The groups of the roster, in the order in which they stand.

use crate::attention::need;
use crate::roster::row::Row;
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

/// The group in which a row stands, and for which it counts: what the person has snoozed rests, whatever its state.
///
/// A need stands and counts once it has lasted (`row.needs`). Until then a request belongs to the turn that runs, since a
/// reviewer that is no person may answer it, and its row would jump to the top and back; after an error the turn is over.
/// What the person has put away, and what goes on elsewhere, never counts, so that there is no turn to wait for.
pub const fn group_of(row: &Row) -> Group {
    if row.snoozed_until.is_some() {
        return Group::Idle;
    }
    let is_hidden = row.put_away || row.superseded.is_some();
    match (group(row.state, row.state_kind), row.state) {
        (Group::NeedsYou | Group::YourTurn, _) if row.needs.is_none() && is_hidden => Group::Idle,
        (Group::NeedsYou, State::WaitingForApproval) if row.needs.is_none() => Group::Working,
        (Group::NeedsYou, _) if row.needs.is_none() => Group::YourTurn,
        (group, _) => group,
    }
}

/// The group of a state that has lasted. Who needs the person is not decided here: [`need`] is the only definition.
pub const fn group(state: State, kind: Option<StateKind>) -> Group {
    if need(state, kind).is_some() {
        return Group::NeedsYou;
    }
    match state {
        State::Working => Group::Working,
        State::WaitingForApproval | State::WaitingForInput => Group::YourTurn,
        State::Idle | State::Ended => Group::Idle,
    }
}
