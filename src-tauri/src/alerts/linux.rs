//! Notifications over the session bus, as the freedesktop specification 1.2 has them, and the count on the launcher.
//!
//! Directly on the bus, because urgency, replacing, closing and "was it shown?" are what a stale or a lost alert hangs on.

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

use super::actions::{Button, Heard, OPEN};
use super::board::Card;
use super::notice::Notice;
use crate::bus::{OWNER_CHANGED, owner_changes};
use cards::{Call, Cards, Letter};
pub use health::health;

const NAME: &str = "org.freedesktop.Notifications";
const PATH: &str = "/org/freedesktop/Notifications";
/// A server that has not answered by now is slow, or hangs: that is said. What it was asked stays asked.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long the end of the program may wait for a server that owes the number of what is to go.
const LAST_PATIENCE: Duration = Duration::from_millis(500);
/// The desktop entry that packages install, without its ending: desktops find our name by it, and the launcher to count on.
const ENTRY: &str = "Watchbill";
/// The icon that packages install.
const ICON: &str = "watchbill-desktop";

/// The screen, as far as the session bus leads to it.
///
/// Nothing here waits for an answer. Answers and signals come through one stream, so that both are heard in the order in
/// which the server sent them, and a server that takes long keeps no other alert waiting.
pub struct Screen {
    connection: Connection,
    messages: MessageStream,
    cards: Cards,
    /// What the server can show; asked for once, and again when another server has come.
    abilities: Option<Abilities>,
    /// The serial of that question while its answer is awaited, and since when it is.
    asks_abilities: Option<(NonZeroU32, Instant)>,
    /// Nobody showed the last one, or is slow to, which has been said.
    complained: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct Abilities {
    actions: bool,
    body: bool,
    markup: bool,
}

/// Something has come over the bus, or has not for too long.
pub enum News {
    /// Of the server's, of the bus's, or an answer.
    Message(Message),
    /// The server owes an answer for longer than can be usual.
    Late,
}

impl Screen {
    /// Begins to listen on the session bus.
    ///
    /// # Errors
    /// When there is none.
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

    /// Shows a notification, in place of what the card showed before.
    pub async fn show(&mut self, card: Card, notice: &Notice, buttons: &'static [Button], sound: bool) {
        self.cards.show(card, Letter { notice: notice.clone(), buttons, sound });
        self.go_on(card).await;
    }

    /// Takes a notification away.
    pub async fn close(&mut self, card: Card) {
        self.cards.close(card);
        self.go_on(card).await;
    }

    /// Takes everything away; what a server has not answered for yet as soon as it does, but not for long.
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
            tracing::debug!("a notification stays that the server has not answered for");
        }
    }

    /// Whether it stands on the screen.
    pub fn has(&self, card: Card) -> bool {
        self.cards.has(card)
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

    /// Waits for something to come. `None` when the bus has gone. Nothing is lost when it is not waited for to the end.
    pub async fn next(&mut self) -> Option<News> {
        let owed = self.cards.asked_at().into_iter().chain(self.asks_abilities.map(|(_, at)| at)).min();
        let next = async { Some(News::Message(self.messages.next().await?.ok()?)) };
        match owed.filter(|_| !self.complained) {
            Some(at) => {
                let late = tokio::time::timeout_at((at + PATIENCE).into(), next).await;
                late.unwrap_or(Some(News::Late))
            }
            None => next.await,
        }
    }

    /// Takes in what has come, and tells what the person did with what stands, if that is what it says.
    pub async fn hear(&mut self, news: News) -> Option<Heard> {
        let News::Message(message) = news else {
            self.complain(
                "the program that shows notifications has not answered for seconds; what it is to show waits",
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
                self.cards.of(id).map(|card| Heard::Chosen(card, action.to_owned()))
            }
            Some("NotificationClosed") => {
                let (id, reason) = body.deserialize::<(u32, u32)>().unwrap_or_default();
                self.cards.closed(id, reason).map(Heard::Gone)
            }
            Some(OWNER_CHANGED) => {
                let (_, old, new) = body.deserialize::<(&str, &str, &str)>().unwrap_or_default();
                self.exchange(old, new).await
            }
            _ => None,
        }
    }

    async fn exchange(&mut self, old: &str, new: &str) -> Option<Heard> {
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
        // Our own call may have started the one that comes; what waits for its answer counts as shown.
        Some(Heard::Came)
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

    /// Once, until something is shown again.
    fn complain(&mut self, words: &str) {
        if !std::mem::replace(&mut self.complained, true) {
            tracing::warn!("{words}");
        }
    }

    /// Sends what a card waits for, if it can be sent now.
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

    /// What cannot be sent is not answered either: the bus has gone, and its stream ends.
    async fn send(&self, message: &Message) {
        if let Err(error) = self.connection.send(message).await {
            tracing::debug!(%error, "the session bus takes nothing any more");
        }
    }
}

impl Abilities {
    fn of(told: &[String]) -> Self {
        let has = |ability: &str| told.iter().any(|told| told == ability);
        Self { actions: has("actions"), body: has("body"), markup: has("body-markup") }
    }
}

fn notify(replaced: u32, letter: &Letter, can: Abilities) -> Option<Message> {
    let Letter { notice, buttons, sound } = letter;
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
    // The server's own time: what is urgent stays, the rest goes.
    let expires = -1_i32;
    let arguments = ("Watchbill", replaced, ICON, &notice.summary, body, actions, hints, expires);
    call("Notify", &arguments, None)
}

/// A call of the server's. What is said here can always be said in the bus's form; nothing is sent if it cannot.
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

/// The person's bus. Whoever waits for an answer does not do so for ever.
async fn session_bus() -> zbus::Result<Connection> {
    zbus::connection::Builder::session()?.method_timeout(PATIENCE).build().await
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
