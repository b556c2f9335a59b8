//! `export --format json`: a work chain with all its items, without private text.

use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;
use ts_rs::TS;

use crate::chain::WorkChain;
use crate::timeline::TimelineItem;

/// A whole work chain.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct ExportChain {
    /// When it was written.
    pub exported_at: String,
    /// The title of the chain's head, if it has one.
    pub title: Option<String>,
    /// The folder in which its head works.
    pub project: Option<String>,
    /// Its segments and links.
    pub chain: WorkChain,
    /// The whole timeline without private text. A subagent's items stand at the call that started it. An item that
    /// is private as a whole is left out, and its index is missing.
    pub items: Vec<TimelineItem>,
}
