//! What is known of the place where a session runs, before anything is asked of the system.

use std::sync::Arc;

use watchbill_core::hook::TerminalContext;
use watchbill_core::ids::Instance;

/// Where a session runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seat {
    /// The session's id.
    pub session: Arc<str>,
    /// The folder it works in.
    pub cwd: Option<Arc<str>>,
    /// The terminal, as hooks or the registry told.
    pub terminal: Option<Arc<TerminalContext>>,
    /// Its process.
    pub presence: Presence,
}

/// What is known of the process behind a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Presence {
    /// It runs: its id and its start time agree.
    Runs(Instance),
    /// It was heard of, but whether its id is still its own cannot be told.
    Heard,
    /// It runs without a terminal, as a background job of the agent's own.
    Background,
    /// Its process id belongs to another world: a container, another machine.
    Elsewhere,
    /// No process runs it.
    Ended,
    /// It is part of the demo.
    MadeUp,
}
