//! What of a session's state needs the person: the only definition.

use crate::roster::row::Row;
use crate::session::state::{State, StateKind};
use crate::time::Timestamp;

use super::policy::COUNT_DWELL;

/// What the person is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Need {
    /// A tool wants permission.
    Approval,
    /// A question waits for its answer.
    Question,
    /// A plan waits for a verdict.
    Plan,
    /// A dialog of the client stops a call of a running turn.
    Dialog,
    /// The turn ended by an error, or at a usage limit.
    Error,
    /// The turn ended by itself. Worth an alert, but nobody is waited for: it is no "needs you".
    Finished,
}

impl Need {
    /// Every kind, in the order in which a list names them.
    pub const ALL: [Self; 6] =
        [Self::Approval, Self::Question, Self::Plan, Self::Dialog, Self::Error, Self::Finished];

    /// The word in JSON, settings and text output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Approval => "approval",
            Self::Question => "question",
            Self::Plan => "plan",
            Self::Dialog => "dialog",
            Self::Error => "error",
            Self::Finished => "finished",
        }
    }
}

/// What a state needs the person for; `None` when it goes on, rests or is over without them.
///
/// A dialog that the person opened needs nobody: they are at that terminal. An error needs them only until the session has
/// been left alone for so long that it is idle.
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

/// What a row needs the person for: nothing while they have it snoozed or put away.
pub const fn needs_person(row: &Row) -> Option<Need> {
    if row.snoozed_until.is_some() || row.put_away { None } else { need(row.state, row.state_kind) }
}

/// How many sessions need the person, by kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    by_need: [u32; 5],
}

impl Counts {
    /// How many for this; none ever for [`Need::Finished`], which needs nobody.
    pub const fn of(&self, need: Need) -> u32 {
        match need {
            Need::Finished => 0,
            other => self.by_need[other as usize],
        }
    }

    /// How many altogether.
    pub fn total(&self) -> u32 {
        self.by_need.iter().sum()
    }

    pub(super) const fn add(&mut self, need: Need) {
        if !matches!(need, Need::Finished) {
            self.by_need[need as usize] += 1;
        }
    }
}

/// The counts of a roster at one glance, without a history: a need that is younger than the dwell does not count yet.
pub fn counts_of<'a>(rows: impl IntoIterator<Item = &'a Row>, now: Timestamp) -> Counts {
    let mut counts = Counts::default();
    for row in rows {
        if let Some(need) = needs_person(row)
            && row.needed_since() + COUNT_DWELL <= now
        {
            counts.add(need);
        }
    }
    counts
}
