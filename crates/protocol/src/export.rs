//! `export --format json`: a work chain with everything that happened in it, but for what is private.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::chain::WorkChain;
use crate::timeline::TimelineItem;

/// A work chain, whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct ExportChain {
    /// When it was written.
    pub exported_at: String,
    /// The title of the chain's head, as far as it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The folder in which its head works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Its segments and links.
    pub chain: WorkChain,
    /// The whole timeline without what is private; what subagents did stands at the call that started them. An item that is
    /// private as a whole is missing among the indexes.
    pub items: Vec<TimelineItem>,
}
