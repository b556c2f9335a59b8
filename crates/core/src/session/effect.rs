//! The output of the fold: transitions as they happen, and the current reading.

use std::borrow::Cow;

use crate::session::state::{Confidence, State, StateKind};
use crate::time::Timestamp;

/// An event in the fold that callers may want to report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// The state, or the kind within it, changed.
    Transition {
        /// The state before.
        from: State,
        /// The state after; the same as `from` when only the kind changed.
        to: State,
        /// The kind after.
        kind: Option<StateKind>,
        /// When it happened, by the records' own times.
        at: Timestamp,
        /// Why, as a text for the user.
        detail: Cow<'static, str>,
    },
}

/// The turn as the transcript shows it: one witness among several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The state.
    pub state: State,
    /// The kind within it.
    pub kind: Option<StateKind>,
    /// Since when state and kind hold.
    pub since: Timestamp,
    /// Why, as a text for the user.
    pub detail: String,
    /// Silence decided it, not a record.
    pub by_timeout: bool,
    /// How sure it is.
    pub confidence: Confidence,
}
