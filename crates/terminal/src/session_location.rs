//! The known facts about the place where a session runs, before any query of the system.

use std::sync::Arc;

use watchbill_agents::resume::resume_command;
use watchbill_core::hook::TerminalContext;
use watchbill_core::ids::{Agent, Instance};

/// The place where a session runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionLocation {
    /// Whose session it is.
    pub agent: Agent,
    /// The session's id.
    pub session: Arc<str>,
    /// The id by which the agent resumes it.
    pub resume: Arc<str>,
    /// Its working folder.
    pub cwd: Option<Arc<str>>,
    /// The terminal, from hooks or the registry.
    pub terminal: Option<Arc<TerminalContext>>,
    /// The shell command that shows it, if it is a background session of its agent.
    pub attach: Option<Arc<str>>,
    /// The state of its process.
    pub presence: Presence,
}

impl SessionLocation {
    /// The shell command that goes on with it: it shows a background session, and resumes any other.
    pub fn command(&self) -> String {
        let resume = || resume_command(self.agent, &self.resume, self.cwd.as_deref());
        self.attach.as_deref().map_or_else(resume, str::to_owned)
    }
}

/// The known state of a session's process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Presence {
    /// It runs: its id and its start time agree.
    Runs(Instance),
    /// Hooks reported it, but its id may belong to another process by now.
    Unconfirmed,
    /// It runs without a terminal, as a background job.
    Background,
    /// Its process id belongs to another domain: a container, or another machine.
    Elsewhere,
    /// No process runs it.
    Ended,
    /// It is part of the demo.
    DemoOnly,
}
