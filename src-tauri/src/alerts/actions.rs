//! The buttons of a notification, and the events that come back from it.

use super::board::Card;

/// The freedesktop name of a click on the notification itself.
pub(super) const OPEN: &str = "default";
pub(super) const FOCUS: &str = "focus-terminal";
pub(super) const SNOOZE: &str = "snooze";

/// A button of a notification about one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Button {
    pub action: &'static str,
    pub label: &'static str,
}

/// Shown on a notification about a single session, if the desktop supports buttons.
pub(super) const BUTTONS: &[Button] =
    &[Button { action: FOCUS, label: "Focus terminal" }, Button { action: SNOOZE, label: "Snooze 15 min" }];

pub(super) const ALLOW: &str = "allow";
pub(super) const DENY: &str = "deny";

/// Shown instead if the notification holds the whole request.
pub(super) const ANSWER_BUTTONS: &[Button] = &[
    Button { action: ALLOW, label: "Allow" },
    Button { action: DENY, label: "Deny" },
    Button { action: FOCUS, label: "Focus terminal" },
];

/// An event from the user or the desktop about a notification.
pub(super) enum NotificationEvent {
    /// The user clicked the notification or one of its buttons.
    Chosen(Card, String),
    /// The user or the desktop closed it.
    Gone(Card),
    /// Another notification server has started. It shows none of the earlier notifications.
    Came,
    /// The screen was locked or unlocked.
    Locked,
}
