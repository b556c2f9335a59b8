//! Who owns a name on the session bus. Panels, notification servers and portals may start late, and restart.

use zbus::message::Type;
use zbus::{MatchRule, Message};

/// The member of the signals that [`owner_changes`] asks for.
pub const OWNER_CHANGED: &str = "NameOwnerChanged";

/// The name of the bus itself. No other program can have it.
pub const BUS: &str = "org.freedesktop.DBus";

/// The match rule for signals about the name getting or losing its owner.
///
/// # Errors
/// When `name` is no valid bus name.
pub fn owner_changes(name: &'static str) -> zbus::Result<MatchRule<'static>> {
    Ok(MatchRule::builder().msg_type(Type::Signal).sender(BUS)?.member(OWNER_CHANGED)?.arg(0, name)?.build())
}

/// Whether this signal says that the name has an owner now.
pub fn has_owner(message: &Message, name: &str) -> bool {
    let body = message.body();
    let owners = body.deserialize::<(&str, &str, &str)>();
    matches!(owners, Ok((named, _, new)) if named == name && !new.is_empty())
}
