//! What the machine of the turn shows.

use serde::{Deserialize, Serialize};

use crate::session::state::{State, StateKind};
use crate::time::Timestamp;

/// The shared storage of the statig machine: what is shown.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Shown {
    /// The state.
    pub state: State,
    /// The kind within it.
    pub kind: Option<StateKind>,
    /// Since when; `None` until the first transition.
    pub since: Option<Timestamp>,
    /// Silence decided.
    pub by_timeout: bool,
    /// While silence has it that a turn is over: since when it had run, and of which kind it was. If the next record goes
    /// on with it, or a subagent writes, that was no end.
    pub worked: Option<(Timestamp, Option<StateKind>)>,
}
