//! The files of a timeline. The engine makes this plan, because it knows the chains.

use std::path::PathBuf;
use std::sync::Arc;

use watchbill_core::history::Exclude;
use watchbill_core::ids::SessionId;
use watchbill_core::session::subagent::{SIDE_QUESTION, copies_parent};

/// The files of a timeline, in chain order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelinePlan {
    /// The session that was asked for.
    pub session: SessionId,
    /// Its chain.
    pub chain: String,
    /// The name that the user gave the chain.
    pub name: Option<String>,
    /// Session, transcript, and the reason of its link to the one before.
    pub parts: Vec<(SessionId, PathBuf, Option<&'static str>)>,
    /// Files with records that the transcripts of its own sessions lack.
    pub beside: Vec<(SessionId, PathBuf)>,
    /// The transcripts of its sessions' subagents.
    pub agents: Vec<AgentFile>,
    /// What is left out of them.
    pub exclude: Exclude,
}

/// A subagent's transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFile {
    /// The session that it worked for.
    pub session: SessionId,
    /// Its id.
    pub agent: Arc<str>,
    /// The path of its transcript.
    pub path: PathBuf,
}

impl AgentFile {
    /// Whether a call started it. The agent's own workers, such as the one of a compaction, copy the parent's
    /// records and have no call.
    pub(super) fn is_called(&self) -> bool {
        !copies_parent(&self.agent)
    }

    /// Whether it holds a question that the user asked beside the work, by `/btw`.
    pub(super) fn is_side_question(&self) -> bool {
        self.agent.starts_with(SIDE_QUESTION)
    }
}
