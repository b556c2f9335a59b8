//! Where a timeline is to be read from: the engine knows, since it knows the chains.

use std::path::PathBuf;
use std::sync::Arc;

use watchbill_core::ids::SessionId;

/// Where the parts of a timeline lie, in chain order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelinePlan {
    /// The session that was asked for.
    pub session: SessionId,
    /// Its chain.
    pub chain: String,
    /// What the person calls it.
    pub name: Option<String>,
    /// Session, transcript, and how it is linked to the one before.
    pub parts: Vec<(SessionId, PathBuf, Option<&'static str>)>,
    /// The transcripts of its sessions' subagents.
    pub agents: Vec<AgentFile>,
}

/// A subagent's transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFile {
    /// The session that it worked for.
    pub session: SessionId,
    /// Its id.
    pub agent: Arc<str>,
    /// Where its transcript lies.
    pub path: PathBuf,
}

impl AgentFile {
    /// Workers of the client itself, for a compaction for instance: they copy the parent's records, and nobody called them.
    pub(super) fn is_called(&self) -> bool {
        !self.agent.starts_with("acompact") && !self.agent.starts_with("aprompt_suggestion")
    }
}
