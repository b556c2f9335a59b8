//! Which states need the user: the only definition.

use crate::session::state::{State, StateKind};
use crate::time::Millis;

/// How long a need must last before it counts. An automatic reviewer answers sooner.
pub const COUNT_DWELL: Millis = Millis::from_secs(1);

as_str!(Need);

/// What a session needs the user for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, strum_macros::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Need {
    /// A tool wants permission.
    Approval,
    /// A question waits for its answer.
    Question,
    /// A plan waits for the user's decision.
    Plan,
    /// A dialog of the agent stops a call of a running turn.
    Dialog,
    /// The turn ended by an error, or at a usage limit.
    Error,
    /// The turn ended by itself. That is worth an alert, but the session does not count as "needs you".
    Finished,
    /// The agent's reviewer refused a call, and the turn goes on. It does not count either.
    Refused,
    /// The reviewer refused several calls in a row, or is unavailable. It does not count either.
    RefusedInARow,
    /// Much of a plan's limit is used. It is no need of a session.
    PlanLimit,
}

impl Need {
    /// Every kind, in the order of lists.
    pub const ALL: [Self; 9] = [
        Self::Approval,
        Self::Question,
        Self::Plan,
        Self::Dialog,
        Self::Error,
        Self::Finished,
        Self::Refused,
        Self::RefusedInARow,
        Self::PlanLimit,
    ];

    /// Whether the session waits for the user. Only then does it count as "needs you".
    pub const fn counts(self) -> bool {
        !matches!(self, Self::Finished | Self::Refused | Self::RefusedInARow | Self::PlanLimit)
    }
}

/// What a state needs the user for; `None` when the session does not wait for the user.
///
/// A dialog that the user opened is no need, because the user is at that terminal. An error is a need only until the
/// session becomes idle.
pub const fn need(state: State, kind: Option<StateKind>) -> Option<Need> {
    match (state, kind) {
        (State::WaitingForApproval, Some(StateKind::Question)) => Some(Need::Question),
        (State::WaitingForApproval, Some(StateKind::Plan)) => Some(Need::Plan),
        (State::WaitingForApproval, Some(StateKind::Dialog)) => Some(Need::Dialog),
        (State::WaitingForApproval, _) => Some(Need::Approval),
        (State::WaitingForInput, Some(StateKind::Error | StateKind::Limit)) => Some(Need::Error),
        _ => None,
    }
}

/// How many sessions need the user, by kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    by_need: [u32; 5],
}

impl Counts {
    /// The count of one need; 0 for those that do not count.
    pub const fn of(&self, need: Need) -> u32 {
        if need.counts() { self.by_need[need as usize] } else { 0 }
    }

    /// How many altogether.
    pub fn total(&self) -> u32 {
        self.by_need.iter().sum()
    }

    pub(super) const fn add(&mut self, need: Need) {
        if need.counts() {
            self.by_need[need as usize] += 1;
        }
    }
}
