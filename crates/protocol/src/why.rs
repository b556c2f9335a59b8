//! `why --json`: the state, and each piece of evidence considered.

use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;
use ts_rs::TS;

use crate::roster::StateReason;

/// The state of one session and its witnesses, winner first.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
#[allow(missing_docs)]
pub struct Why {
    pub session_id: String,
    pub state: String,
    pub state_kind: Option<String>,
    pub state_since: String,
    pub state_reason: StateReason,
    pub evidence: Vec<Witness>,
    /// When the state is checked again without a new fact.
    pub next_check_at: Option<String>,
}

/// One piece of evidence.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
#[allow(missing_docs)]
pub struct Witness {
    pub source: String,
    /// The state by this witness alone; absent if it gives none.
    pub state: Option<String>,
    pub state_kind: Option<String>,
    /// The time of the evidence.
    pub at: Option<String>,
    /// Process id, for evidence of one process.
    pub pid: Option<u32>,
    pub detail: String,
    pub confidence: String,
    pub winner: bool,
}
