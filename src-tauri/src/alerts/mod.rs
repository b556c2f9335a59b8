//! Alerts: what the attention policy tells becomes notifications that lead to the session and go when they are stale.
//!
//! Nothing is decided here but which episodes share a notification ([`board`]) and its words ([`notice`]). The platform
//! shows them: `linux` on the session bus, `other` through Tauri's plugin.

mod board;
#[cfg(target_os = "linux")]
mod linux;
mod notice;
#[cfg(not(target_os = "linux"))]
mod other;

#[cfg(target_os = "linux")]
use linux as platform;
#[cfg(not(target_os = "linux"))]
use other as platform;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tauri::{AppHandle, Manager, async_runtime};
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use watchbill_engine::publish::AlertSink;
use watchbill_engine::{Millis, SessionId, Timestamp, Word};
use watchbill_protocol::alert::{Alert, Episode};
use watchbill_protocol::focus::FocusOutcome;
use watchbill_protocol::shell::ShellMessage;

use crate::desk::Desk;
use crate::notes::Notes;
use crate::window;
use board::{Act, Board, Card};
use notice::Notice;
use platform::Screen;
pub use platform::health;

/// What a desktop calls a click on the notification itself.
const OPEN: &str = "default";
const FOCUS: &str = "focus-terminal";
const SNOOZE: &str = "snooze";
/// How long a session that was snoozed here needs nobody.
const SNOOZE_SPAN: Millis = Millis::from_secs(15 * 60);
/// A terminal that does not say whether it is in front by then counts as not in front: an alert too many is a nuisance, one
/// too few a betrayal.
const TERMINAL_PATIENCE: Duration = Duration::from_secs(3);

/// A button of a notification of one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Button {
    action: &'static str,
    label: &'static str,
}

/// Offered for a single session, where the desktop has buttons.
const BUTTONS: &[Button] =
    &[Button { action: FOCUS, label: "Focus terminal" }, Button { action: SNOOZE, label: "Snooze 15 min" }];

/// What the person, or the desktop, did with what stands on the screen.
enum Heard {
    /// The notification, or a button of it, was clicked.
    Chosen(Card, String),
    /// It was taken away.
    Gone(Card),
    /// Somebody shows notifications from now on, who has none of those that stood before.
    Came,
}

/// What the desk tells the task that shows alerts.
#[derive(Default)]
pub struct Alerts {
    /// Another engine is to be listened to.
    astray: AtomicBool,
    changed: Notify,
}

impl Alerts {
    /// Alerts that listen to nobody yet.
    pub fn new() -> Self {
        Self { astray: AtomicBool::new(true), ..Self::default() }
    }

    /// The engine has been exchanged: what stands is of the one before.
    pub fn engine_changed(&self) {
        self.astray.store(true, Ordering::Relaxed);
        self.changed.notify_one();
    }
}

/// Shows alerts for as long as the program runs. `listen` goes to whichever engine there is by then.
pub async fn keep(app: AppHandle, alerts: Arc<Alerts>, listen: impl Fn(AlertSink) + Send) {
    let mut screen = match Screen::find(&app).await {
        Ok(screen) => screen,
        Err(error) => {
            tracing::warn!(%error, "alerts cannot be shown; the tray and the window go on");
            return;
        }
    };
    let mut showing = Showing { app, board: Board::default(), leads_to: HashMap::new() };
    let mut inbox: Option<UnboundedReceiver<Alert>> = None;
    loop {
        let mut acts = Vec::new();
        if alerts.astray.swap(false, Ordering::Relaxed) {
            acts = showing.board.clear();
            let (sender, receiver) = unbounded_channel();
            listen(Box::new(move |alert| sender.send(alert).is_ok()));
            inbox = Some(receiver);
            screen.count(0).await;
        }
        showing.act(&mut screen, acts).await;
        let due = showing.board.due();
        tokio::select! {
            () = alerts.changed.notified() => {}
            alert = next(&mut inbox) => match alert {
                Some(alert) => {
                    if let Alert::Counted { needs } = &alert {
                        screen.count(needs.values().sum()).await;
                    }
                    let alert = showing.unseen(alert).await;
                    let acts = showing.board.hear(alert, Instant::now());
                    showing.act(&mut screen, acts).await;
                }
                None => inbox = None,
            },
            heard = screen.next() => match heard {
                Some(Heard::Came) => {
                    let acts = showing.board.bring_back(|card| screen.has(card), Instant::now());
                    showing.act(&mut screen, acts).await;
                }
                Some(Heard::Chosen(card, action)) => showing.choose(card, &action),
                Some(Heard::Gone(card)) => showing.gone(card),
                None => {
                    tracing::warn!("the session bus has gone, and alerts with it");
                    return;
                }
            },
            () = sleep_until(due) => {
                let acts = showing.board.advance(Instant::now());
                showing.act(&mut screen, acts).await;
            }
        }
    }
}

async fn next(inbox: &mut Option<UnboundedReceiver<Alert>>) -> Option<Alert> {
    match inbox {
        Some(inbox) => inbox.recv().await,
        None => std::future::pending().await,
    }
}

async fn sleep_until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due.into()).await,
        None => std::future::pending().await,
    }
}

struct Showing {
    app: AppHandle,
    board: Board,
    /// Whom a click on each notification is about.
    leads_to: HashMap<Card, Notice>,
}

impl Showing {
    /// What is left of an alert when the person looks at the terminal already. Only the moment counts, so it is asked
    /// now; whatever comes meanwhile waits, so that nothing overtakes.
    async fn unseen(&self, alert: Alert) -> Alert {
        // One patience for all of a summary: thirty terminals that hang must not keep it off the screen for minutes.
        let until = tokio::time::Instant::now() + TERMINAL_PATIENCE;
        match alert {
            Alert::Raised { episode, silence: None } => {
                let seen = self.is_seen(&episode, until).await;
                Alert::Raised { episode, silence: seen.then(|| "in_front".to_owned()) }
            }
            Alert::AlreadySo { episodes } => {
                let mut unseen = Vec::new();
                for episode in episodes {
                    if !self.is_seen(&episode, until).await {
                        unseen.push(episode);
                    }
                }
                Alert::AlreadySo { episodes: unseen }
            }
            other => other,
        }
    }

    async fn is_seen(&self, episode: &Episode, until: tokio::time::Instant) -> bool {
        let session = episode.session_id.clone();
        let desk = self.app.state::<Desk>();
        let asked = desk.ask(move |engine| engine.is_terminal_in_front(&session));
        matches!(tokio::time::timeout_at(until, asked).await, Ok(Ok(Some(true))))
    }

    async fn act(&mut self, screen: &mut Screen, acts: Vec<Act>) {
        for act in acts {
            match act {
                Act::Show(card, notice) => {
                    let buttons = if notice.single { BUTTONS } else { &[] };
                    let sound = self.app.state::<Desk>().alerts_sound();
                    screen.show(card, &notice, buttons, sound).await;
                    self.leads_to.insert(card, notice);
                }
                Act::Close(card) => {
                    self.leads_to.remove(&card);
                    screen.close(card).await;
                }
            }
        }
    }

    fn choose(&self, card: Card, action: &str) {
        let Some(notice) = self.leads_to.get(&card) else { return };
        match action {
            OPEN => window::open_on(&self.app, notice.session_id.clone()),
            FOCUS => focus(self.app.clone(), notice.session_id.clone()),
            SNOOZE => snooze(self.app.clone(), notice.session_id.clone()),
            other => tracing::debug!(other, "a desktop sent an action that was not offered"),
        }
    }

    fn gone(&mut self, card: Card) {
        self.leads_to.remove(&card);
        self.board.gone(card);
    }
}

/// Brings the terminal to the front; where that cannot be done, the window says more than nothing would.
fn focus(app: AppHandle, session: String) {
    async_runtime::spawn(async move {
        let asked = session.clone();
        let answer = app.state::<Desk>().ask(move |engine| engine.focus_terminal(&asked)).await;
        if !matches!(answer, Ok(answer) if answer.outcome != FocusOutcome::NotPossible) {
            window::open_on(&app, session);
        }
    });
}

fn snooze(app: AppHandle, session: String) {
    async_runtime::spawn(async move {
        let until = Timestamp::from_millis(jiff::Timestamp::now().as_millisecond()) + SNOOZE_SPAN;
        let word = Word::Snooze { session: SessionId::new(&session), until: Some(until) };
        if let Err(error) = app.state::<Desk>().ask(move |engine| engine.say(word)).await {
            tracing::warn!(%error, "a session could not be snoozed");
            app.state::<Notes>().tell(ShellMessage::Says { text: error.to_string() });
        }
    });
}
