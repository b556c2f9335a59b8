//! The buttons of a notification, and the events that come back from it.
//!
//! The action of an answer names its request: a server may still show the buttons of the request before.

use watchbill_protocol::request::RequestDecision;

use super::board::Card;

/// The freedesktop name of a click on the notification itself.
pub(super) const OPEN: &str = "default";
pub(super) const FOCUS: &str = "focus-terminal";
pub(super) const SNOOZE: &str = "snooze";

/// A button of a notification about one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Button {
    pub action: String,
    pub label: &'static str,
}

/// The id and the digest of a request.
pub(super) type RequestNames = (String, String);

const ALLOW: &str = "allow ";
const DENY: &str = "deny ";

/// The buttons of a notification about one session. With a request that it shows whole, they answer that one.
pub(super) fn buttons(request: Option<&RequestNames>) -> Vec<Button> {
    let button = |action: &str, label| Button { action: action.to_owned(), label };
    let focus = button(FOCUS, "Focus terminal");
    match request.map(|names| serde_json::to_string(names).unwrap_or_default()) {
        None => vec![focus, button(SNOOZE, "Snooze 15 min")],
        Some(names) => {
            let answer = |prefix: &str, label| button(&format!("{prefix}{names}"), label);
            vec![answer(ALLOW, "Allow"), answer(DENY, "Deny"), focus]
        }
    }
}

/// The request that an action answers, and the decision. `None` for the other actions.
pub(super) fn answer(action: &str) -> Option<(RequestNames, RequestDecision)> {
    let (names, decision) = match action.strip_prefix(ALLOW) {
        Some(names) => (names, RequestDecision::Allow),
        None => (action.strip_prefix(DENY)?, RequestDecision::Deny { reason: String::new() }),
    };
    Some((serde_json::from_str(names).ok()?, decision))
}

/// An event from the user or the desktop about a notification.
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "other systems tell nothing of them"))]
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
