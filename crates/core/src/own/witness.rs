//! The host of an own session, as a witness of the session's state.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::roster::reason::{PendingTool, Source};
use crate::session::state::{State, StateKind};
use crate::time::Timestamp;

as_str!(OwnWay);

/// How an own session talks to its agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, strum_macros::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum OwnWay {
    /// Lines of JSON on pipes.
    Stream,
    /// A terminal.
    Pty,
}

impl OwnWay {
    /// The witness that it is.
    pub const fn source(self) -> Source {
        match self {
            Self::Stream => Source::Stream,
            Self::Pty => Source::Pty,
        }
    }
}

/// What an own session's host says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnWitness {
    /// Pipes or a terminal.
    pub way: OwnWay,
    /// The host runs. An agent's process may not have begun, or not yet again.
    pub live: bool,
    /// The agent's process.
    pub pid: Option<u32>,
    /// When the newest event came.
    pub last_at: Timestamp,
    /// What the session does. `None`: a terminal runs, and only others know what happens in it.
    pub reading: Option<OwnReading>,
}

/// The state of an own session, by its host alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnReading {
    /// The state.
    pub state: State,
    /// The kind within it.
    pub kind: Option<StateKind>,
    /// Since when.
    pub since: Timestamp,
    /// In words, for the user.
    pub detail: Arc<str>,
    /// The call that the user is asked about.
    pub ask: Option<PendingTool>,
}
