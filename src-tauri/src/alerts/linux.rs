//! Notifications over the session bus (freedesktop specification 1.2), and the count on the launcher.
//!
//! Talks to the bus directly: only so can it set the urgency, replace and close a notification, and learn whether it
//! was shown. Stale and lost alerts depend on that.

mod cards;
mod health;
mod left_behind;
mod lock;
mod message;

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use zbus::fdo::DBusProxy;
use zbus::message::{Flags, Type};
use zbus::names::BusName;
use zbus::zvariant::Value;
use zbus::{Connection, MatchRule, Message, MessageStream};

use super::actions::{Button, NotificationEvent};
use super::board::Card;
use super::notice::Notice;
use crate::app_state::AppState;
use crate::bus::{BUS, OWNER_CHANGED, owner_changes};
use cards::{Cards, NotificationCall, NotificationContent};
pub use health::health;
use left_behind::LeftBehind;
use lock::Lock;
use message::{Abilities, ENTRY, NAME, call, notify};
use tauri::Manager;

/// A server that has not answered by now is slow or hangs: the log says so. The pending request stays.
const TIMEOUT: Duration = Duration::from_secs(5);
/// How long the end of the program waits for a server that has not yet answered with the id of a notification to
/// close.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(500);

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
    locked: Lock,
    left_behind: LeftBehind,
}

/// An event for [`Screen::hear`].
pub enum ServerMessage {
    /// A signal of the server or of the bus, or an answer.
    Message(Message),
    /// The server has owed an answer for too long.
    Late,
}

impl Screen {
    /// Connects to the session bus and begins to listen. Closes the notifications of an earlier start that was killed.
    ///
    /// # Errors
    /// When there is no session bus.
    pub async fn find(app: &tauri::AppHandle) -> zbus::Result<Self> {
        let connection = session_bus().await?;
        let messages = MessageStream::from(&connection);
        let bus = DBusProxy::new(&connection).await?;
        let of_server = MatchRule::builder().msg_type(Type::Signal).sender(NAME)?.interface(NAME)?.build();
        bus.add_match_rule(of_server).await?;
        bus.add_match_rule(owner_changes(NAME)?).await?;
        bus.add_match_rule(lock::changes()?).await?;
        let locked = Lock::look(&connection).await;
        let data_dir = app.state::<AppState>().data_dir();
        let (left_behind, ids) = LeftBehind::find(data_dir.as_deref(), &connection).await;
        let screen = Self {
            messages,
            cards: Cards::default(),
            abilities: None,
            asks_abilities: None,
            complained: false,
            connection,
            locked,
            left_behind,
        };
        for id in ids {
            screen.close_id(id).await;
        }
        Ok(screen)
    }

    /// Whether the screen is locked.
    pub fn is_locked(&self) -> bool {
        self.locked.is_locked()
    }

    /// Shows a notification; replaces the one that the card had before.
    pub async fn show(&mut self, card: Card, notice: &Notice, buttons: Vec<Button>, sound: bool) {
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
        if tokio::time::timeout(SHUTDOWN_TIMEOUT, rest).await.is_err() {
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
                let late = tokio::time::timeout_at((at + TIMEOUT).into(), next).await;
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
        // A match rule does not stop what is sent to this program alone.
        let by = header.sender().map(|sender| sender.as_str()).unwrap_or_default();
        match header.member().map(|member| member.as_str()) {
            Some("ActionInvoked") => {
                let (id, action) = body.deserialize::<(u32, &str)>().unwrap_or_default();
                self.cards.of(id, by).map(|card| NotificationEvent::Chosen(card, action.to_owned()))
            }
            Some("NotificationClosed") => {
                let (id, reason) = body.deserialize::<(u32, u32)>().unwrap_or_default();
                let gone = self.cards.closed(id, by, reason).map(NotificationEvent::Gone);
                self.left_behind.note(self.cards.standing());
                gone
            }
            Some(lock::CHANGED) => {
                let before = self.locked.is_locked();
                self.locked.hear(&self.connection, &message).await;
                (before != self.locked.is_locked()).then_some(NotificationEvent::Locked)
            }
            Some(OWNER_CHANGED) if by == BUS => {
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
                    self.no_server_shows(message);
                    self.cards.refuse_waiting();
                }
            }
            return;
        }
        let by = message.header().sender().map(ToString::to_string).unwrap_or_default();
        let shown = message.body().deserialize::<u32>().ok().filter(|_| !refused).map(|id| (id, by));
        let is_shown = shown.is_some();
        let Some(card) = self.cards.answered(serial, shown) else { return };
        self.left_behind.note(self.cards.standing());
        if is_shown {
            self.complained = false;
        } else {
            self.no_server_shows(message);
        }
        self.go_on(card).await;
    }

    fn no_server_shows(&mut self, refusal: &Message) {
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

    async fn close_id(&self, id: u32) {
        if let Some(order) = call("CloseNotification", &(id,), Some(Flags::NoReplyExpected)) {
            self.send(&order).await;
        }
    }

    async fn send_next(&mut self, card: Card, can: Abilities) {
        match self.cards.next(card) {
            Some(NotificationCall::Show(replaced, content)) => {
                let Some(question) = notify(replaced, &content, can) else { return };
                let serial = question.primary_header().serial_num();
                self.cards.asked(card, serial, !content.notice.quiet, Instant::now());
                self.send(&question).await;
            }
            Some(NotificationCall::Close(id)) => {
                self.close_id(id).await;
                self.left_behind.note(self.cards.standing());
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

/// The user's session bus. Calls that wait for an answer end after a timeout.
async fn session_bus() -> zbus::Result<Connection> {
    zbus::connection::Builder::session()?.method_timeout(TIMEOUT).build().await
}

#[cfg(test)]
mod tests {
    use super::message::ICON;
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
}
