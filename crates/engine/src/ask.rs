//! What is asked of an engine about one session, as values.

use std::path::PathBuf;

use watchbill_core::ids::SessionId;

use crate::timeline::agents::AgentFile;

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
