//! Messages between the shell and the window, besides the roster.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A message of the shell to the window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ShellMessage {
    /// A text for the user: why a link leads nowhere, why a key does not work.
    Says {
        /// A sentence.
        text: String,
    },
    /// Whether made-up sessions are shown. Sent at the beginning, and at each change.
    Demo {
        /// Whether they are.
        on: bool,
    },
    /// Whether the window is a strip. Sent at the beginning, and at each change.
    Compact {
        /// Whether it is a strip.
        on: bool,
    },
}

/// The key that opens the window from anywhere, and whether it works.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct ShortcutState {
    /// As it stands in the settings, such as `Ctrl+Alt+W`; empty: none is wanted.
    pub wanted: String,
    /// Whether it works.
    pub active: bool,
    /// Why it does not, and what to do instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}
