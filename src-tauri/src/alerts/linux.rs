//! Notifications over the session bus (freedesktop specification 1.2), and the count on the launcher.
//!
//! Talks to the bus directly: only so can it set the urgency, replace and close a notification, and learn whether it
//! was shown. Stale and lost alerts depend on that.

mod cards;
mod health;

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use zbus::fdo::DBusProxy;
use zbus::message::{Flags, Type};
use zbus::names::BusName;
use zbus::zvariant::{DynamicType, Value};
use zbus::{Connection, MatchRule, Message, MessageStream};

use super::actions::{Button, NotificationEvent, OPEN};
use super::board::Card;
use super::notice::Notice;
use crate::bus::{OWNER_CHANGED, owner_changes};
use cards::{Call, Cards, NotificationContent};
pub use health::health;

const NAME: &str = "org.freedesktop.Notifications";
const PATH: &str = "/org/freedesktop/Notifications";
/// A server that has not answered by now is slow or hangs: the log says so. The pending request stays.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long the end of the program waits for a server that has not yet answered with the id of a notification to
/// close.
const LAST_PATIENCE: Duration = Duration::from_millis(500);
/// The desktop entry that packages install, without its ending. Desktops find the program's name by it, and the
/// launcher finds the icon for the count.
const ENTRY: &str = "Watchbill";
/// The icon that packages install.
const ICON: &str = "watchbill-desktop";

/// The notification server, as seen over the session bus.
///
/// No call here waits for an answer. Answers and signals come through one stream, in the order in which the server
/// sent them. So a slow server delays no other alert.
pub struct Screen {
    connection: Connection,
    messages: MessageStream,
    cards: Cards,
    /// The server's capabilities. Asked for once, and again when another server has started.
    abilities: Option<Abilities>,
    /// Serial and time of the pending request for the capabilities.
    asks_abilities: Option<(NonZeroU32, Instant)>,
    /// The log already says that notifications are refused or late.
    complained: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct Abilities {
    actions: bool,
    body: bool,
    markup: bool,
}

/// An event for [`Screen::hear`].
pub enum ServerMessage {
    /// A signal of the server or of the bus, or an answer.
    Message(Message),
    /// The server has owed an answer for too long.
    Late,
}

impl Screen {
    /// Connects to the session bus and begins to listen.
    ///
    /// # Errors
    /// When there is no session bus.
    pub async fn find(_: &tauri::AppHandle) -> zbus::Result<Self> {
        let connection = session_bus().await?;
        let messages = MessageStream::from(&connection);
        let bus = DBusProxy::new(&connection).await?;
        let of_server = MatchRule::builder().msg_type(Type::Signal).sender(NAME)?.interface(NAME)?.build();
        bus.add_match_rule(of_server).await?;
        bus.add_match_rule(owner_changes(NAME)?).await?;
        Ok(Self {
            connection,
            messages,
            cards: Cards::default(),
            abilities: None,
            asks_abilities: None,
            complained: false,
        })
    }

    /// Shows a notification; replaces the one that the card had before.
    pub async fn show(&mut self, card: Card, notice: &Notice, buttons: &'static [Button], sound: bool) {
        self.cards.show(card, NotificationContent { notice: notice.clone(), buttons, sound });
        self.go_on(card).await;
    }

    /// Closes a notification.
    pub async fn close(&mut self, card: Card) {
        self.cards.close(card);
        self.go_on(card).await;
    }

    /// Closes all notifications. Waits a short time for the ids that the server still owes.
    pub async fn clear(&mut self) {
        for card in self.cards.close_all() {
            self.go_on(card).await;
        }
        self.count(0).await;
        let rest = async {
            while !self.cards.is_empty()
                && let Some(news) = self.next().await
            {
                self.hear(news).await;
            }
        };
        if tokio::time::timeout(LAST_PATIENCE, rest).await.is_err() {
            tracing::debug!("a notification stays open: the server did not answer in time");
        }
    }

    /// Whether it is on the screen.
    pub fn has(&self, card: Card) -> bool {
        self.cards.has(card)
    }

    /// Sets the number on the launcher's icon. Desktops without one ignore it.
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
            tracing::debug!(%error, "the count could not be sent to the launcher");
        }
    }

    /// Waits for the next event; `None` when the bus is gone. Dropping the future loses no event.
    pub async fn next(&mut self) -> Option<ServerMessage> {
        let owed = self.cards.asked_at().into_iter().chain(self.asks_abilities.map(|(_, at)| at)).min();
        let next = async { Some(ServerMessage::Message(self.messages.next().await?.ok()?)) };
        match owed.filter(|_| !self.complained) {
            Some(at) => {
                let late = tokio::time::timeout_at((at + PATIENCE).into(), next).await;
                late.unwrap_or(Some(ServerMessage::Late))
            }
            None => next.await,
        }
    }

    /// Handles an event. Returns the user's action on a notification, if the event is one.
    pub async fn hear(&mut self, news: ServerMessage) -> Option<NotificationEvent> {
        let ServerMessage::Message(message) = news else {
            self.complain(
                "the program that shows notifications has not answered for seconds; further notifications wait",
            );
            return None;
        };
        let header = message.header();
        if let Some(serial) = header.reply_serial() {
            self.take_answer(serial, &message).await;
            return None;
        }
        let body = message.body();
        match header.member().map(|member| member.as_str()) {
            Some("ActionInvoked") => {
                let (id, action) = body.deserialize::<(u32, &str)>().unwrap_or_default();
                self.cards.of(id).map(|card| NotificationEvent::Chosen(card, action.to_owned()))
            }
            Some("NotificationClosed") => {
                let (id, reason) = body.deserialize::<(u32, u32)>().unwrap_or_default();
                self.cards.closed(id, reason).map(NotificationEvent::Gone)
            }
            Some(OWNER_CHANGED) => {
                let (_, old, new) = body.deserialize::<(&str, &str, &str)>().unwrap_or_default();
                self.exchange(old, new).await
            }
            _ => None,
        }
    }

    async fn exchange(&mut self, old: &str, new: &str) -> Option<NotificationEvent> {
        self.abilities = None;
        if !old.is_empty() {
            self.asks_abilities = None;
        }
        self.complained = false;
        self.cards.left(old);
        if new.is_empty() {
            return None;
        }
        for card in self.cards.waiting() {
            self.go_on(card).await;
        }
        // Our own call may have started this server. A notification whose answer is pending counts as shown.
        Some(NotificationEvent::Came)
    }

    async fn take_answer(&mut self, serial: NonZeroU32, message: &Message) {
        let refused = message.message_type() == Type::Error;
        if self.asks_abilities.is_some_and(|(asked, _)| asked == serial) {
            self.asks_abilities = None;
            match message.body().deserialize::<Vec<String>>() {
                Ok(told) if !refused => {
                    self.abilities = Some(Abilities::of(&told));
                    for card in self.cards.waiting() {
                        self.go_on(card).await;
                    }
                }
                _ => {
                    self.nobody_shows(message);
                    self.cards.refuse_waiting();
                }
            }
            return;
        }
        let by = message.header().sender().map(ToString::to_string).unwrap_or_default();
        let shown = message.body().deserialize::<u32>().ok().filter(|_| !refused).map(|id| (id, by));
        let is_shown = shown.is_some();
        let Some(card) = self.cards.answered(serial, shown) else { return };
        if is_shown {
            self.complained = false;
        } else {
            self.nobody_shows(message);
        }
        self.go_on(card).await;
    }

    fn nobody_shows(&mut self, refusal: &Message) {
        let why = refusal.body().deserialize::<&str>().map(str::to_owned).unwrap_or_default();
        tracing::debug!(why, "a notification was not shown");
        self.complain("no program of this desktop shows notifications; the tray and the window go on");
    }

    /// Logs once, until a notification is shown again.
    fn complain(&mut self, words: &str) {
        if !std::mem::replace(&mut self.complained, true) {
            tracing::warn!("{words}");
        }
    }

    /// Sends the next request of a card, if it can be sent now.
    async fn go_on(&mut self, card: Card) {
        let Some(can) = self.abilities else {
            if self.cards.waiting().contains(&card) {
                return self.ask_abilities().await;
            }
            return self.send_next(card, Abilities::default()).await;
        };
        self.send_next(card, can).await;
    }

    async fn ask_abilities(&mut self) {
        if self.asks_abilities.is_some() {
            return;
        }
        let Some(question) = call("GetCapabilities", &(), None) else { return };
        self.asks_abilities = Some((question.primary_header().serial_num(), Instant::now()));
        self.send(&question).await;
    }

    async fn send_next(&mut self, card: Card, can: Abilities) {
        match self.cards.next(card) {
            Some(Call::Show(replaced, letter)) => {
                let Some(question) = notify(replaced, &letter, can) else { return };
                let serial = question.primary_header().serial_num();
                self.cards.asked(card, serial, !letter.notice.quiet, Instant::now());
                self.send(&question).await;
            }
            Some(Call::Close(id)) => {
                if let Some(order) = call("CloseNotification", &(id,), Some(Flags::NoReplyExpected)) {
                    self.send(&order).await;
                }
            }
            None => {}
        }
    }

    /// A message that cannot be sent gets no answer either: the bus is gone, and its stream ends.
    async fn send(&self, message: &Message) {
        if let Err(error) = self.connection.send(message).await {
            tracing::debug!(%error, "a message could not be sent over the session bus");
        }
    }
}

impl Abilities {
    fn of(told: &[String]) -> Self {
        let has = |ability: &str| told.iter().any(|told| told == ability);
        Self { actions: has("actions"), body: has("body"), markup: has("body-markup") }
    }
}

fn notify(replaced: u32, letter: &NotificationContent, can: Abilities) -> Option<Message> {
    let NotificationContent { notice, buttons, sound } = letter;
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
fn call<B>(method: &str, arguments: &B, flag: Option<Flags>) -> Option<Message>
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

/// The user's session bus. Calls that wait for an answer end after a timeout.
async fn session_bus() -> zbus::Result<Connection> {
    zbus::connection::Builder::session()?.method_timeout(PATIENCE).build().await
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
    fn the_entry_is_the_one_that_packages_install() {
        let metadata = include_str!("../../../dist/linux/org.watchbill.desktop.metainfo.xml");
        assert!(metadata.contains(&format!(r#"<launchable type="desktop-id">{ENTRY}.desktop</launchable>"#)));
        assert!(metadata.contains(&format!(r#"<icon type="stock">{ICON}</icon>"#)));
        let config: serde_json::Value =
            serde_json::from_str(include_str!("../../../tauri.conf.json")).expect("JSON");
        assert_eq!(config["productName"], ENTRY, "the bundler calls the entry after the product");
    }

    #[test]
    fn foreign_text_is_never_markup() {
        let lines = ["wants to run `a && b < c`".to_owned(), "<img src=x>".to_owned()];
        assert_eq!(body(&lines, true), "wants to run `a &amp;&amp; b &lt; c`\n&lt;img src=x&gt;");
        assert_eq!(body(&lines, false), "wants to run `a && b < c`\n<img src=x>");
    }
}
