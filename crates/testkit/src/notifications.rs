//! A simulated notification server: it records the shown notifications and clicks them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result};
use tokio::runtime::Handle;
use tokio::sync::watch;
use zbus::message::Header;
use zbus::object_server::{ResponseDispatchNotifier, SignalEmitter};
use zbus::zvariant::OwnedValue;
use zbus::{Connection, connection, interface};

use crate::stranger::Stranger;
use crate::{Desktop, until};

const PATH: &str = "/org/freedesktop/Notifications";
const NAME: &str = "org.freedesktop.Notifications";

/// The capabilities of a server that can show everything.
const ABILITIES: &[&str] = &["actions", "body", "body-markup", "persistence"];

/// A notification as the program sent it.
#[derive(Debug, Clone, PartialEq)]
pub struct Notification {
    /// The number that the server gave it.
    pub id: u32,
    /// The first line.
    pub summary: String,
    /// The text below.
    pub body: String,
    /// The actions, with name and label of each.
    pub actions: Vec<(String, String)>,
    /// 0 low, 1 normal, 2 critical.
    pub urgency: Option<u8>,
    /// Whether it must make no sound.
    pub silent: bool,
    /// The name of its sound in the desktop's theme.
    pub sound: Option<String>,
}

#[derive(Default)]
struct Screen {
    newest: u32,
    standing: Vec<Notification>,
    /// The number of notifications so far, replacements included.
    shown: usize,
    /// Ids that are still on their way to the program: it could not assign a click yet.
    answering: Vec<u32>,
    /// Whether it takes calls and answers none.
    hangs: bool,
    /// The unique name of the program that showed the newest.
    program: Option<String>,
}

type Shared = Arc<Mutex<Screen>>;

struct Server {
    screen: Shared,
    held: watch::Receiver<bool>,
    abilities: &'static [&'static str],
    /// The bus calls from a thread of its own.
    runtime: Handle,
}

#[interface(name = "org.freedesktop.Notifications")]
impl Server {
    #[allow(clippy::too_many_arguments, reason = "the specification's own list")]
    async fn notify(
        &self,
        _program: String,
        replaces: u32,
        _icon: String,
        summary: String,
        body: String,
        actions: Vec<String>,
        hints: HashMap<String, OwnedValue>,
        _expires: i32,
        #[zbus(header)] header: Header<'_>,
    ) -> ResponseDispatchNotifier<u32> {
        let hangs = {
            let mut screen = lock(&self.screen);
            screen.program = header.sender().map(ToString::to_string);
            screen.hangs
        };
        if hangs {
            std::future::pending::<()>().await;
        }
        // When the server is dropped, the wait ends.
        let _ = self.held.clone().wait_for(|held| !held).await;
        let mut screen = lock(&self.screen);
        screen.shown += 1;
        let stands = screen.standing.iter().position(|standing| standing.id == replaces);
        if stands.is_none() {
            screen.newest += 1;
        }
        let notification = Notification {
            id: stands.map_or(screen.newest, |_| replaces),
            summary,
            body,
            actions: actions.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect(),
            urgency: hints.get("urgency").and_then(|value| u8::try_from(value).ok()),
            silent: hints.get("suppress-sound").and_then(|value| bool::try_from(value).ok()).unwrap_or(false),
            sound: hints.get("sound-name").and_then(|value| <&str>::try_from(value).ok()).map(str::to_owned),
        };
        let id = notification.id;
        match stands {
            Some(place) => screen.standing[place] = notification,
            None => screen.standing.push(notification),
        }
        screen.answering.push(id);
        let (answer, sent) = ResponseDispatchNotifier::new(id);
        let screen = Arc::clone(&self.screen);
        self.runtime.spawn(async move {
            sent.await;
            let answering = &mut lock(&screen).answering;
            if let Some(place) = answering.iter().position(|other| *other == id) {
                answering.swap_remove(place);
            }
        });
        answer
    }

    async fn close_notification(&self, id: u32, #[zbus(signal_emitter)] emitter: SignalEmitter<'_>) {
        lock(&self.screen).standing.retain(|standing| standing.id != id);
        // 3: closed by a call. A program that has ended does not get the signal.
        let _ = Self::notification_closed(&emitter, id, 3).await;
    }

    async fn get_capabilities(&self) -> Vec<String> {
        self.abilities.iter().map(ToString::to_string).collect()
    }

    async fn get_server_information(&self) -> (String, String, String, String) {
        ("testkit".into(), "Watchbill".into(), "1.0".into(), "1.2".into())
    }

    #[zbus(signal)]
    async fn action_invoked(emitter: &SignalEmitter<'_>, id: u32, action: &str) -> zbus::Result<()>;

    #[zbus(signal)]
    async fn notification_closed(emitter: &SignalEmitter<'_>, id: u32, reason: u32) -> zbus::Result<()>;
}

/// A notification server. It leaves the bus when it is dropped.
pub struct NotificationServer {
    connection: Connection,
    screen: Shared,
    hold: watch::Sender<bool>,
}

impl NotificationServer {
    /// Puts a server that can show everything on the desktop's bus.
    ///
    /// # Errors
    /// When the desktop has no bus, or has a server already.
    pub async fn start(desktop: &Desktop) -> Result<Self> {
        Self::on_bus(desktop.bus()?).await
    }

    /// Puts a server that can show everything on the bus of this address.
    ///
    /// # Errors
    /// When there is no such bus, or it has a server already.
    pub async fn on_bus(address: &str) -> Result<Self> {
        Self::with_abilities(address, ABILITIES).await
    }

    /// Puts a server on the desktop's bus that shows only plain texts.
    ///
    /// # Errors
    /// When the desktop has no bus, or has a server already.
    pub async fn start_plain(desktop: &Desktop) -> Result<Self> {
        Self::with_abilities(desktop.bus()?, &["body"]).await
    }

    async fn with_abilities(address: &str, abilities: &'static [&'static str]) -> Result<Self> {
        let screen = Shared::default();
        let (hold, held) = watch::channel(false);
        let server = Server { screen: Arc::clone(&screen), held, abilities, runtime: Handle::current() };
        let connection =
            connection::Builder::address(address)?.serve_at(PATH, server)?.name(NAME)?.build().await?;
        Ok(Self { connection, screen, hold })
    }

    /// Makes the server answer no more calls that show a notification, or answer them again.
    pub fn hang(&self, on: bool) {
        lock(&self.screen).hangs = on;
    }

    /// Makes the server show and answer nothing, or go on with the calls that came meanwhile.
    pub fn hold(&self, on: bool) {
        self.hold.send_replace(on);
    }

    /// The notifications on the screen, the oldest first.
    pub fn standing(&self) -> Vec<Notification> {
        lock(&self.screen).standing.clone()
    }

    /// The number of notifications so far, replacements included.
    pub fn shown(&self) -> usize {
        lock(&self.screen).shown
    }

    /// Another program than this server sends the signals of a press and of the closing, to the program alone. On return the bus
    /// has passed them on.
    ///
    /// # Errors
    /// When the bus has ended, or nothing was shown yet.
    pub async fn press_as_stranger(&self, desktop: &Desktop, id: u32, action: &str) -> Result<()> {
        let program = lock(&self.screen).program.clone().context("nothing was shown")?;
        let stranger = Stranger::to(desktop, &program).await?;
        stranger.signal(PATH, NAME, "ActionInvoked", &(id, action)).await?;
        stranger.signal(PATH, NAME, "NotificationClosed", &(id, 2_u32)).await
    }

    /// The unique name of the program that showed the newest notification.
    ///
    /// # Errors
    /// When nothing was shown yet.
    pub fn program(&self) -> Result<String> {
        lock(&self.screen).program.clone().context("nothing was shown")
    }

    /// Presses a button of a notification that stays on the screen after it, or that has gone by now.
    ///
    /// # Errors
    /// When the bus has ended.
    pub async fn press(&self, id: u32, action: &str) -> Result<()> {
        // A user is never so quick: the program must know the notification's number first.
        until("the program to be answered", 60, async || {
            (!lock(&self.screen).answering.contains(&id)).then_some(())
        })
        .await?;
        let emitter = SignalEmitter::new(&self.connection, PATH)?;
        Ok(Server::action_invoked(&emitter, id, action).await?)
    }

    /// Clicks a notification (`default`) or one of its buttons; the click closes it, as on most desktops.
    ///
    /// # Errors
    /// When the bus has ended.
    pub async fn choose(&self, id: u32, action: &str) -> Result<()> {
        self.press(id, action).await?;
        let emitter = SignalEmitter::new(&self.connection, PATH)?;
        lock(&self.screen).standing.retain(|standing| standing.id != id);
        // 2: by the user.
        Ok(Server::notification_closed(&emitter, id, 2).await?)
    }
}

fn lock(screen: &Shared) -> MutexGuard<'_, Screen> {
    screen.lock().unwrap_or_else(PoisonError::into_inner)
}
