//! What a notification offers, and what came of it.

use super::board::Card;

/// What a desktop calls a click on the notification itself.
pub(super) const OPEN: &str = "default";
pub(super) const FOCUS: &str = "focus-terminal";
pub(super) const SNOOZE: &str = "snooze";

/// A button of a notification of one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Button {
    pub action: &'static str,
    pub label: &'static str,
}

/// Offered for a single session, where the desktop has buttons.
pub(super) const BUTTONS: &[Button] =
    &[Button { action: FOCUS, label: "Focus terminal" }, Button { action: SNOOZE, label: "Snooze 15 min" }];

/// What the person, or the desktop, did with what stands on the screen.
pub(super) enum Heard {
    /// The notification, or a button of it, was clicked.
    Chosen(Card, String),
    /// It was taken away.
    Gone(Card),
    /// Somebody shows notifications from now on, who has none of those that stood before.
    Came,
}
