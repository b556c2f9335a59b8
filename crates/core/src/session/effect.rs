//! What comes out of the fold: transitions as they happen, and the reading that holds now.

use std::borrow::Cow;

use crate::session::state::{Confidence, State, StateKind};
use crate::time::Timestamp;

/// Something happened that others may want to hear of.
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
        /// Why, in words for the person.
        detail: Cow<'static, str>,
    },
}

/// What the transcript says of the turn: one witness among several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The state.
    pub state: State,
    /// The kind within it.
    pub kind: Option<StateKind>,
    /// Since when state and kind hold.
    pub since: Timestamp,
    /// Why, in words for the person.
    pub detail: String,
    /// Silence decided, not a record.
    pub by_timeout: bool,
    /// How sure it is.
    pub confidence: Confidence,
}
