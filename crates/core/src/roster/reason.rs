//! Why a row has its state: the witness that decided, and the tool calls that are open.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::session::state::Confidence;
use crate::time::Timestamp;

/// A tool call without a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingTool {
    /// `tool_use_id`.
    pub id: Arc<str>,
    /// The tool's name.
    pub tool: Arc<str>,
    /// What it acts on, one line.
    pub target: Arc<str>,
    /// When it was called.
    pub since: Timestamp,
}

/// Why a state holds: the witness that decided it, and its reason in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// The witness.
    pub source: Source,
    /// The reason, as a text for the user.
    pub detail: Arc<str>,
    /// How sure it is.
    pub confidence: Confidence,
}

as_str!(Source);

/// A kind of witness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, strum_macros::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Source {
    /// `sessions/<pid>.json`.
    Registry,
    /// A hook event.
    Hook,
    /// The transcript's records.
    Transcript,
    /// `.claude/status.<id>.md`.
    StatusFile,
    /// The operating system's report on the process.
    Process,
    /// The host of a session that Watchbill itself runs, over pipes.
    Stream,
    /// The host of a terminal that Watchbill itself runs.
    Pty,
    /// Silence for long enough.
    Timeout,
}
