//! Who owns a name on the session bus, as the bus itself tells: panels, notification servers and portals come late, and again.

use zbus::message::Type;
use zbus::{MatchRule, Message};

/// The member of the signals that [`owner_changes`] asks for.
pub const OWNER_CHANGED: &str = "NameOwnerChanged";

/// What to ask the bus for, to hear when the name gets or loses its owner.
///
/// # Errors
/// When that is no name.
pub fn owner_changes(name: &'static str) -> zbus::Result<MatchRule<'static>> {
    Ok(MatchRule::builder()
        .msg_type(Type::Signal)
        .sender("org.freedesktop.DBus")?
        .member(OWNER_CHANGED)?
        .arg(0, name)?
        .build())
}

/// Whether this signal says that the name has an owner now.
pub fn has_owner(message: &Message, name: &str) -> bool {
    let body = message.body();
    let owners = body.deserialize::<(&str, &str, &str)>();
    matches!(owners, Ok((named, _, new)) if named == name && !new.is_empty())
}
