//! Whether the desktop is dark, from its settings portal: asked once, then followed by signals. It never polls.
//!
//! The portal is `org.freedesktop.portal.Settings`; the value is `color-scheme` of `org.freedesktop.appearance`. 1 is
//! dark, 2 is light, any other number is no preference (XDG Desktop Portal, documentation of the interface Settings).

use futures_util::StreamExt;
use tauri::{AppHandle, Manager, Theme, async_runtime};
use tokio::sync::watch;
use zbus::fdo::DBusProxy;
use zbus::message::Type;
use zbus::zvariant::Value;
use zbus::{Connection, MatchRule, Message, MessageStream};

use crate::bus::{OWNER_CHANGED, has_owner, owner_changes};

const PORTAL: &str = "org.freedesktop.portal.Desktop";
const PATH: &str = "/org/freedesktop/portal/desktop";
const INTERFACE: &str = "org.freedesktop.portal.Settings";
const KEY: (&str, &str) = ("org.freedesktop.appearance", "color-scheme");

/// The desktop's preference. Tauri's managed state.
pub struct DesktopColours(watch::Receiver<Option<Theme>>);

impl DesktopColours {
    /// Asks, and does not wait: the portal may have to start first, and a window must not wait for that.
    pub fn ask() -> Self {
        let (tell, told) = watch::channel(None);
        async_runtime::spawn(async move {
            if let Err(error) = listen(&tell).await {
                tracing::debug!(%error, "the desktop's colours are not known; the window is light unless a theme is set");
            }
        });
        Self(told)
    }

    /// The preference as known so far; `None` without a preference or without a portal.
    pub fn theme(&self) -> Option<Theme> {
        *self.0.borrow()
    }

    /// Calls `recolour` after each change of the preference from now on.
    pub fn follow(&self, app: &AppHandle, recolour: fn(&AppHandle)) {
        let (app, mut told) = (app.clone(), self.0.clone());
        async_runtime::spawn(async move {
            while told.changed().await.is_ok() {
                recolour(&app);
            }
        });
    }
}

/// The preference as known so far.
pub fn theme(app: &AppHandle) -> Option<Theme> {
    app.try_state::<DesktopColours>().and_then(|colours| colours.theme())
}

/// Sends what the portal reports, until the bus is gone.
///
/// Answers and signals come through one stream, in the order in which the portal sent them. The last one counts.
async fn listen(tell: &watch::Sender<Option<Theme>>) -> zbus::Result<()> {
    let connection = Connection::session().await?;
    let mut messages = MessageStream::from(&connection);
    let bus = DBusProxy::new(&connection).await?;
    let changed = MatchRule::builder()
        .msg_type(Type::Signal)
        .path(PATH)?
        .interface(INTERFACE)?
        .member("SettingChanged")?
        .arg(0, KEY.0)?
        .arg(1, KEY.1)?
        .build();
    bus.add_match_rule(changed).await?;
    bus.add_match_rule(owner_changes(PORTAL)?).await?;
    let mut asked = read(&connection).await?;
    while let Some(message) = messages.next().await {
        let message = message?;
        let header = message.header();
        let theme = match header.member().map(|member| member.as_str()) {
            Some("SettingChanged") => message
                .body()
                .deserialize::<(&str, &str, Value<'_>)>()
                .ok()
                .map(|(.., value)| theme_of(&value)),
            // A portal that starts late or again may have another value. Its end changes nothing.
            Some(OWNER_CHANGED) => {
                if has_owner(&message, PORTAL) {
                    asked = read(&connection).await?;
                }
                None
            }
            _ if header.reply_serial() == Some(asked) => answer(&message),
            _ => None,
        };
        if let Some(theme) = theme {
            tell.send_if_modified(|before| std::mem::replace(before, theme) != theme);
        }
    }
    Ok(())
}

/// Asks the portal; returns the serial of the question. It calls `Read`, which every version has; `ReadOne` came
/// later.
async fn read(connection: &Connection) -> zbus::Result<std::num::NonZeroU32> {
    let question =
        Message::method_call(PATH, "Read")?.destination(PORTAL)?.interface(INTERFACE)?.build(&KEY)?;
    connection.send(&question).await?;
    Ok(question.primary_header().serial_num())
}

/// The portal's answer; `None` without a portal, or if the portal does not know the value.
fn answer(message: &Message) -> Option<Option<Theme>> {
    if message.message_type() == Type::Error {
        tracing::debug!(error = ?message.header().error_name(), "the desktop's portal does not report its colours");
        return None;
    }
    message.body().deserialize::<Value<'_>>().ok().map(|value| theme_of(&value))
}

/// `Read` wraps the value once more than the signal does, but not with every portal.
fn theme_of(value: &Value<'_>) -> Option<Theme> {
    match value {
        Value::Value(inner) => theme_of(inner),
        Value::U32(1) => Some(Theme::Dark),
        Value::U32(2) => Some(Theme::Light),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_portal_value_is_read_at_any_wrapping_depth() {
        let wrapped = |value: Value<'static>| Value::Value(Box::new(value));
        for (scheme, theme) in [(0, None), (1, Some(Theme::Dark)), (2, Some(Theme::Light)), (3, None)] {
            assert_eq!(theme_of(&Value::U32(scheme)), theme);
            assert_eq!(theme_of(&wrapped(Value::U32(scheme))), theme);
            assert_eq!(theme_of(&wrapped(wrapped(Value::U32(scheme)))), theme);
        }
        assert_eq!(theme_of(&Value::from("dark")), None);
    }
}
