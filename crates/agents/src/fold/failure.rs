//! A failure of the agent, as a text for the user.

use watchbill_protocol::own::event::OwnWhat;

/// The event of a failure. The causes are those of [`OwnWhat::Error`].
pub(crate) fn failure(cause: &str, text: impl Into<String>) -> OwnWhat {
    OwnWhat::Error { text: text.into(), cause: cause.to_owned(), record: None }
}
