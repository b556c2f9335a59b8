//! The messages to the notification server.

use std::collections::HashMap;

use zbus::Message;
use zbus::message::Flags;
use zbus::zvariant::{DynamicType, Value};

use super::cards::NotificationContent;
use crate::alerts::actions::OPEN;

/// The name of the server on the bus, which is also its interface.
pub const NAME: &str = "org.freedesktop.Notifications";
/// The path of its object.
pub const PATH: &str = "/org/freedesktop/Notifications";
/// The desktop entry that packages install, without its ending. Desktops find the program's name by it, and the
/// launcher finds the icon for the count.
pub const ENTRY: &str = "Watchbill";
/// The icon that packages install.
pub const ICON: &str = "watchbill-desktop";

/// What a server can show.
#[derive(Debug, Clone, Copy, Default)]
pub struct Abilities {
    pub actions: bool,
    pub body: bool,
    pub markup: bool,
}

impl Abilities {
    /// The abilities that a server reports.
    pub fn of(told: &[String]) -> Self {
        let has = |ability: &str| told.iter().any(|told| told == ability);
        Self { actions: has("actions"), body: has("body"), markup: has("body-markup") }
    }
}

/// The call that shows a notification, in place of the one with this id.
pub fn notify(replaced: u32, content: &NotificationContent, can: Abilities) -> Option<Message> {
    let NotificationContent { notice, buttons, sound } = content;
    let mut actions = Vec::new();
    if can.actions {
        actions.extend([OPEN, "Open"]);
        actions.extend(buttons.iter().flat_map(|button| [button.action.as_str(), button.label]));
    }
    let body = if can.body { body(&notice.body, can.markup) } else { String::new() };
    let mut hints = HashMap::from([
        ("urgency", Value::from(if notice.urgent { 2_u8 } else { 1_u8 })),
        ("category", Value::from("x-watchbill.session")),
        ("desktop-entry", Value::from(ENTRY)),
    ]);
    if *sound && !notice.quiet {
        hints.insert("sound-name", Value::from("message-new-instant"));
    } else {
        hints.insert("suppress-sound", Value::from(true));
    }
    // The server's own timeout: it keeps urgent notifications and removes the others.
    let expires = -1_i32;
    let arguments = ("Watchbill", replaced, ICON, &notice.summary, body, actions, hints, expires);
    call("Notify", &arguments, None)
}

/// A method call to the server. These arguments always fit the bus format; if not, nothing is sent.
pub fn call<B>(method: &str, arguments: &B, flag: Option<Flags>) -> Option<Message>
where
    B: serde::Serialize + DynamicType,
{
    let made = (|| {
        let builder = Message::method_call(PATH, method)?.destination(NAME)?.interface(NAME)?;
        let builder = match flag {
            Some(flag) => builder.with_flags(flag)?,
            None => builder,
        };
        builder.build(arguments)
    })();
    made.inspect_err(|error| tracing::warn!(%error, method, "the notification server cannot be called")).ok()
}

/// A server with markup would read `<` and `&` of a command as markup, or as an image to fetch.
fn body(lines: &[String], markup: bool) -> String {
    let text = lines.join("\n");
    if !markup {
        return text;
    }
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_is_never_markup() {
        let lines = ["wants to run `a && b < c`".to_owned(), "<img src=x>".to_owned()];
        assert_eq!(body(&lines, true), "wants to run `a &amp;&amp; b &lt; c`\n&lt;img src=x&gt;");
        assert_eq!(body(&lines, false), "wants to run `a && b < c`\n<img src=x>");
    }
}
