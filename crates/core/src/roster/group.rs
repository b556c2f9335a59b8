//! The groups of the roster, in their order on screen.

use crate::attention::need;
use crate::roster::row::Row;
use crate::session::state::{State, StateKind};

as_str!(Group);

/// The group of a row. The order of the variants is the order of the groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, strum_macros::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Group {
    /// An approval, a question, a plan, an error, a limit.
    NeedsYou,
    /// A turn runs.
    Working,
    /// The turn is over; the user is next.
    YourTurn,
    /// Nothing has happened for long, or the process is gone.
    Idle,
}

/// The group that shows and counts a row. A snoozed row is idle, in every state.
///
/// A need counts once it has lasted for the dwell (`row.needs`). Until then a request belongs to the running turn:
/// an automatic reviewer may answer it, and the row would jump to the top and back. After an error the turn is
/// over. A row that is put away or superseded never counts, because the user has no turn to take there. Neither does
/// one that a program started: it works, or it is idle.
pub const fn group_of(row: &Row) -> Group {
    if row.snoozed_until.is_some() {
        return Group::Idle;
    }
    if row.is_unattended() {
        let waits = matches!(row.state, State::Working | State::WaitingForApproval);
        return if waits { Group::Working } else { Group::Idle };
    }
    let is_hidden = row.put_away || row.superseded.is_some();
    match (group(row.state, row.state_kind), row.state) {
        (Group::NeedsYou | Group::YourTurn, _) if row.needs.is_none() && is_hidden => Group::Idle,
        (Group::NeedsYou, State::WaitingForApproval) if row.needs.is_none() => Group::Working,
        (Group::NeedsYou, _) if row.needs.is_none() => Group::YourTurn,
        (group, _) => group,
    }
}

/// The group of a state that has lasted. [`need`] alone defines which states need the user.
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
