//! `chain --json`.

use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;
use ts_rs::TS;

/// A work chain with all its segments, and every link that touches it.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
#[allow(missing_docs)]
pub struct WorkChain {
    pub work_chain_id: String,
    pub name: Option<String>,
    /// The session in which the work goes on.
    pub head: String,
    pub segments: Vec<Segment>,
    pub links: Vec<Link>,
    /// `join` or `split`: the last command of the user in this chain, which can be undone. A split leaves no link
    /// to show it.
    pub undoable: Option<String>,
}

/// One segment.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
#[allow(missing_docs)]
pub struct Segment {
    pub session_id: String,
    /// From 0 over the whole chain.
    pub index: u32,
    /// Absent if no record of the segment carries a time.
    pub started_at: Option<String>,
    pub ended_at: Option<String>,
    /// The boundary that ended it.
    pub boundary: Option<Boundary>,
    pub transcript_path: String,
    pub superseded: bool,
}

/// A compaction.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
#[allow(missing_docs)]
pub struct Boundary {
    /// `auto`, `manual`, `unknown`.
    pub trigger: String,
    pub pre_tokens: Option<u64>,
    pub post_tokens: Option<u64>,
}

/// A link between two sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[allow(missing_docs)]
pub struct Link {
    pub from: String,
    pub to: String,
    pub reason: String,
    /// `proven` or `suggested`.
    pub confidence: String,
}
