//! What the machine of the turn shows.

use serde::{Deserialize, Serialize};

use crate::session::state::{State, StateKind};
use crate::time::Timestamp;

/// The shared storage of the statig machine: the shown state.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Shown {
    /// The state.
    pub state: State,
    /// The kind within it.
    pub kind: Option<StateKind>,
    /// Since when; `None` until the first transition.
    pub since: Option<Timestamp>,
    /// Silence decided it.
    pub by_timeout: bool,
    /// While silence alone says that a turn is over: since when the turn ran, and its kind. If the next record
    /// continues it, or a subagent writes, the turn was not over.
    pub turn_before_silence: Option<(Timestamp, Option<StateKind>)>,
}
