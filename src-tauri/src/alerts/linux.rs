//! Notifications over the session bus, as the freedesktop specification 1.2 has them, and the count on the launcher.
//!
//! Directly on the bus, because urgency, replacing, closing and "was it shown?" are what a stale or a lost alert hangs on.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::StreamExt;
use watchbill_protocol::doctor::DesktopHealth;
use zbus::fdo::DBusProxy;
use zbus::message::Type;
use zbus::names::BusName;
use zbus::zvariant::Value;
use zbus::{Connection, MatchRule, MessageStream};

use super::board::Card;
use super::notice::Notice;
use super::{Button, Heard, OPEN};

const NAME: &str = "org.freedesktop.Notifications";
const PATH: &str = "/org/freedesktop/Notifications";
/// A server that has not answered by now hangs.
const PATIENCE: Duration = Duration::from_secs(5);
/// The desktop entry that packages install, without its ending: desktops find our name by it, and the launcher to count on.
const ENTRY: &str = "Watchbill";
/// The icon that packages install.
const ICON: &str = "watchbill-desktop";

/// The screen, as far as the session bus leads to it.
pub struct Screen {
    connection: Connection,
    signals: MessageStream,
    /// What the server can show; asked for once, and again when another server has come.
    abilities: Option<Abilities>,
    /// What stands on the screen.
    shown: HashMap<Card, Shown>,
    /// Nobody showed the last one, which has been said.
    complained: bool,
}

/// A notification as a server knows it.
struct Shown {
    /// The server's number of it.
    id: u32,
    /// The server, by its own name on the bus: it takes what it shows along when it goes.
    by: String,
}

#[derive(Debug, Clone, Copy, Default)]
struct Abilities {
    actions: bool,
    body: bool,
    markup: bool,
}

impl Screen {
    /// Begins to listen on the session bus.
    ///
    /// # Errors
    /// When there is none.
    pub async fn find(_: &tauri::AppHandle) -> zbus::Result<Self> {
        let connection = session_bus().await?;
        let signals = MessageStream::from(&connection);
        let bus = DBusProxy::new(&connection).await?;
        let of_server = MatchRule::builder().msg_type(Type::Signal).sender(NAME)?.interface(NAME)?.build();
        let owner = MatchRule::builder()
            .msg_type(Type::Signal)
            .sender("org.freedesktop.DBus")?
            .member("NameOwnerChanged")?
            .arg(0, NAME)?
            .build();
        bus.add_match_rule(of_server).await?;
        bus.add_match_rule(owner).await?;
        Ok(Self { connection, signals, abilities: None, shown: HashMap::new(), complained: false })
    }

    /// Shows a notification, in place of what the card showed before.
    pub async fn show(&mut self, card: Card, notice: &Notice, buttons: &[Button], sound: bool) {
        match self.notify(card, notice, buttons, sound).await {
            Ok(shown) => {
                self.shown.insert(card, shown);
                self.complained = false;
            }
            Err(error) if !self.complained => {
                self.complained = true;
                tracing::warn!(%error, "no program of this desktop shows notifications; the tray and the window go on");
            }
            Err(error) => tracing::debug!(%error, "a notification was not shown"),
        }
    }

    /// Takes a notification away.
    pub async fn close(&mut self, card: Card) {
        let Some(Shown { id, .. }) = self.shown.remove(&card) else { return };
        if let Err(error) = self.call("CloseNotification", &(id,)).await {
            tracing::debug!(%error, "a notification could not be taken away");
        }
    }

    /// Whether it stands on the screen.
    pub fn has(&self, card: Card) -> bool {
        self.shown.contains_key(&card)
    }

    /// Sets the number on the launcher's icon; desktops that have none do not listen.
    pub async fn count(&self, count: u32) {
        let properties = HashMap::from([
            ("count", Value::from(i64::from(count))),
            ("count-visible", Value::from(count > 0)),
        ]);
        let body = (format!("application://{ENTRY}.desktop"), properties);
        let path = "/org/watchbill/desktop";
        let interface = "com.canonical.Unity.LauncherEntry";
        if let Err(error) =
            self.connection.emit_signal(None::<BusName<'_>>, path, interface, "Update", &body).await
        {
            tracing::debug!(%error, "the launcher was not told the count");
        }
    }

    /// Waits for the person to do something with what stands. `None` when the bus has gone.
    pub async fn next(&mut self) -> Option<Heard> {
        loop {
            let message = self.signals.next().await?.ok()?;
            let header = message.header();
            let body = message.body();
            let heard = match header.member().map(|member| member.as_str()) {
                Some("ActionInvoked") => {
                    let (id, action) = body.deserialize::<(u32, &str)>().unwrap_or_default();
                    self.card(id).map(|card| Heard::Chosen(card, action.to_owned()))
                }
                Some("NotificationClosed") => {
                    let (id, _reason) = body.deserialize::<(u32, u32)>().unwrap_or_default();
                    let card = self.card(id);
                    if let Some(card) = card {
                        self.shown.remove(&card);
                    }
                    card.map(Heard::Gone)
                }
                Some("NameOwnerChanged") => {
                    let (_, old, new) = body.deserialize::<(&str, &str, &str)>().unwrap_or_default();
                    self.abilities = None;
                    self.complained = false;
                    // Our own call may have started the one that comes, and it has been shown something already.
                    self.shown.retain(|_, shown| shown.by != old);
                    (!new.is_empty()).then_some(Heard::Came)
                }
                _ => None,
            };
            if heard.is_some() {
                return heard;
            }
        }
    }

    async fn notify(
        &mut self,
        card: Card,
        notice: &Notice,
        buttons: &[Button],
        sound: bool,
    ) -> zbus::Result<Shown> {
        let can = match self.abilities {
            Some(can) => can,
            None => *self.abilities.insert(abilities(&self.connection).await?),
        };
        let mut actions = Vec::new();
        if can.actions {
            actions.extend([OPEN, "Open"]);
            actions.extend(buttons.iter().flat_map(|button| [button.action, button.label]));
        }
        let body = if can.body { body(&notice.body, can.markup) } else { String::new() };
        let mut hints = HashMap::from([
            ("urgency", Value::from(if notice.urgent { 2_u8 } else { 1_u8 })),
            ("category", Value::from("x-watchbill.session")),
            ("desktop-entry", Value::from(ENTRY)),
        ]);
        if sound && !notice.quiet {
            hints.insert("sound-name", Value::from("message-new-instant"));
        } else {
            hints.insert("suppress-sound", Value::from(true));
        }
        let replaced = self.shown.get(&card).map_or(0, |shown| shown.id);
        // The server's own time: what is urgent stays, the rest goes.
        let expires = -1_i32;
        let arguments = ("Watchbill", replaced, ICON, &notice.summary, body, actions, hints, expires);
        let reply = self.call("Notify", &arguments).await?;
        let by = reply.header().sender().map(ToString::to_string).unwrap_or_default();
        Ok(Shown { id: reply.body().deserialize()?, by })
    }

    fn card(&self, id: u32) -> Option<Card> {
        self.shown.iter().find(|(_, shown)| shown.id == id).map(|(card, _)| *card)
    }

    async fn call<B>(&self, method: &str, arguments: &B) -> zbus::Result<zbus::Message>
    where
        B: serde::Serialize + zbus::zvariant::DynamicType,
    {
        self.connection.call_method(Some(NAME), PATH, Some(NAME), method, arguments).await
    }
}

/// Whether notifications could be shown now, and by whom. Nothing is started for that.
pub async fn health(tray: bool) -> DesktopHealth {
    let unable = |problem: &str| DesktopHealth {
        tray,
        notifications: false,
        notification_server: None,
        notification_problem: Some(problem.to_owned()),
    };
    let Ok(connection) = session_bus().await else { return unable("there is no session bus") };
    let Ok(bus) = DBusProxy::new(&connection).await else { return unable("the session bus does not answer") };
    let Ok(name) = BusName::try_from(NAME) else { return unable("the session bus does not answer") };
    if !bus.name_has_owner(name).await.unwrap_or(false) {
        let startable = bus.list_activatable_names().await.unwrap_or_default();
        if startable.iter().any(|name| name.as_str() == NAME) {
            let server = Some("started when it is needed".to_owned());
            return DesktopHealth {
                tray,
                notifications: true,
                notification_server: server,
                notification_problem: None,
            };
        }
        return unable("no program of this desktop shows them; a notification daemon such as dunst would");
    }
    let asked = connection.call_method(Some(NAME), PATH, Some(NAME), "GetServerInformation", &()).await;
    let Ok(reply) = asked else { return unable("the program that shows them does not answer") };
    let told = reply.body().deserialize::<(String, String, String, String)>().ok();
    DesktopHealth {
        tray,
        notifications: true,
        notification_server: told.map(|(name, _vendor, version, _specification)| format!("{name} {version}")),
        notification_problem: None,
    }
}

/// The person's bus. A server that hangs must not keep the next alert, and the end of this one, waiting for ever.
async fn session_bus() -> zbus::Result<Connection> {
    zbus::connection::Builder::session()?.method_timeout(PATIENCE).build().await
}

async fn abilities(connection: &Connection) -> zbus::Result<Abilities> {
    let reply = connection.call_method(Some(NAME), PATH, Some(NAME), "GetCapabilities", &()).await?;
    let told: Vec<String> = reply.body().deserialize()?;
    let has = |ability: &str| told.iter().any(|told| told == ability);
    Ok(Abilities { actions: has("actions"), body: has("body"), markup: has("body-markup") })
}

/// A server that knows markup would take a command's `<` and `&` for some, or for an image to be fetched.
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
    fn the_entry_is_the_one_that_packages_install() {
        let metadata = include_str!("../../../dist/linux/org.watchbill.desktop.metainfo.xml");
        assert!(metadata.contains(&format!(r#"<launchable type="desktop-id">{ENTRY}.desktop</launchable>"#)));
        assert!(metadata.contains(&format!(r#"<icon type="stock">{ICON}</icon>"#)));
        let config: serde_json::Value =
            serde_json::from_str(include_str!("../../../tauri.conf.json")).expect("JSON");
        assert_eq!(config["productName"], ENTRY, "the bundler calls the entry after the product");
    }

    #[test]
    fn what_others_wrote_is_never_markup() {
        let lines = ["wants to run `a && b < c`".to_owned(), "<img src=x>".to_owned()];
        assert_eq!(body(&lines, true), "wants to run `a &amp;&amp; b &lt; c`\n&lt;img src=x&gt;");
        assert_eq!(body(&lines, false), "wants to run `a && b < c`\n<img src=x>");
    }
}
