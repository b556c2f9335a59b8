//! What the shell and the window say to each other beside the roster.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What the shell tells the window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ShellMessage {
    /// Words for the person: why a link leads nowhere, why a key does not work.
    Says {
        /// A sentence.
        text: String,
    },
    /// The window has become a strip, or is none any more. Told first, and at each change.
    Compact {
        /// It is a strip.
        on: bool,
    },
}

/// The key that opens the window from anywhere, and whether it does.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct ShortcutState {
    /// As it stands in the settings, such as `Ctrl+Alt+W`; empty: none is wanted.
    pub wanted: String,
    /// It works.
    pub active: bool,
    /// Why it does not, and what to do instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}
