//! Alerts: turns the alerts of the attention policy into notifications. A click leads to the session; a stale one is
//! closed.
//!
//! This module decides only which episodes share a notification ([`board`]) and its texts ([`notice`]). The platform
//! shows them: `linux` on the session bus, `other` through Tauri's plugin.

mod actions;
mod board;
#[cfg(target_os = "linux")]
mod linux;
mod notice;
#[cfg(not(target_os = "linux"))]
mod other;
mod requests;
mod signals;
mod terminals;

#[cfg(target_os = "linux")]
use linux as platform;
#[cfg(not(target_os = "linux"))]
use other as platform;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use tauri::{AppHandle, Manager, async_runtime};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use watchbill_engine::handle::Handle;
use watchbill_engine::model::publish::{AlertSink, RosterSink};
use watchbill_engine::{Millis, SessionCommand, SessionId, Timestamp};
use watchbill_protocol::alert::{Alert, Episode};
use watchbill_protocol::focus::FocusOutcome;
use watchbill_protocol::request::{AnswerCall, RequestDecision};
use watchbill_protocol::shell::ShellMessage;

use crate::app_state::AppState;
use crate::short_request::{STANDS, whole};
use crate::window_messages::WindowMessages;
use crate::{answer, window};
use actions::{FOCUS, NotificationEvent, OPEN, RequestNames, SNOOZE, buttons};
use board::{Act, Board, Card};
use notice::{Notice, is_limit};
use platform::Screen;
pub use platform::health;
pub use signals::Alerts;
use terminals::Terminals;

/// The need of a turn that has ended. Its mark in the roster goes when the user looks at the terminal, also where no alert is wanted.
const FINISHED: &str = "finished";

/// Why a notification on a locked screen takes no answer.
const LOCKED: &str =
    "Nothing was answered: Watchbill takes no answers from notifications while the screen is locked.";

/// Why a button that has just come, or that is not there any more, takes no answer.
const CHANGED: &str = "Nothing was answered: the notification had just changed. Look at the request again.";

/// How long "Snooze" on a notification snoozes the session.
const SNOOZE_SPAN: Millis = Millis::from_secs(15 * 60);

/// Shows alerts until the program quits. `listen` subscribes to the engine in force at that time, for alerts and for rows.
/// It returns that engine if it is to be started again when it ends.
pub async fn keep(
    app: AppHandle,
    alerts: Arc<Alerts>,
    listen: impl Fn(AlertSink, RosterSink) -> Option<Handle> + Send,
) {
    let mut screen = match Screen::find(&app).await {
        Ok(screen) => screen,
        Err(error) => {
            tracing::warn!(%error, "alerts cannot be shown; the tray and the window go on");
            return;
        }
    };
    *alerts.at_work() = true;
    tokio::select! {
        () = show(app, &alerts, listen, &mut screen) => {}
        () = alerts.quitting.notified() => screen.clear().await,
    }
    *alerts.at_work() = false;
    alerts.left_work.notify_all();
}

/// Shows alerts until the session bus is gone.
async fn show(
    app: AppHandle,
    alerts: &Alerts,
    listen: impl Fn(AlertSink, RosterSink) -> Option<Handle>,
    screen: &mut Screen,
) {
    let mut showing =
        Showing { app, board: Board::default(), leads_to: HashMap::new(), terminals: Terminals::default() };
    let mut inbox: Option<UnboundedReceiver<Alert>> = None;
    let mut asked: Option<UnboundedReceiver<()>> = None;
    let mut engine = None;
    loop {
        if alerts.needs_subscription.swap(false, Ordering::Relaxed) {
            let acts = showing.board.clear();
            let (sender, receiver) = unbounded_channel();
            let (changes, changed) = unbounded_channel();
            engine = listen(Box::new(move |alert| sender.send(alert).is_ok()), requests::changes(changes));
            (inbox, asked) = (Some(receiver), Some(changed));
            screen.count(0).await;
            showing.act(screen, acts).await;
        }
        let due = showing.board.due();
        tokio::select! {
            // Biased: a notification that the user closed must be known before it is changed.
            biased;
            news = screen.next() => match news {
                Some(news) => {
                    if let Some(event) = screen.hear(news).await {
                        showing.take(screen, event).await;
                    }
                }
                None => {
                    tracing::warn!("the session bus has gone, and alerts with it");
                    return;
                }
            },
            () = alerts.changed.notified() => {}
            alert = next(&mut inbox) => match alert {
                Some(alert) => showing.hear(screen, alert).await,
                None => {
                    inbox = None;
                    if let Some(engine) = engine.take() {
                        showing.engine_ended(screen, engine).await;
                    }
                }
            },
            change = next(&mut asked) => match change {
                Some(()) => showing.show_again(screen).await,
                None => asked = None,
            },
            () = sleep_until(due) => {
                let now = Instant::now();
                let mut acts = showing.board.advance(now);
                acts.extend(showing.board.make_up(|card| screen.has(card), now));
                showing.act(screen, acts).await;
            }
        }
    }
}

async fn next<T>(inbox: &mut Option<UnboundedReceiver<T>>) -> Option<T> {
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
    /// Where each card leads, for clicks.
    leads_to: HashMap<Card, Lead>,
    terminals: Terminals,
}

/// Where a card leads.
struct Lead {
    notice: Notice,
    /// The request that the card shows whole, and since when.
    request: Option<(RequestNames, Instant)>,
    /// The request that was answered here last. A second press on it does nothing.
    answered: Option<RequestNames>,
}

/// The tool and the text of a request that a notification shows whole.
type Whole = (String, String);

impl Showing {
    async fn hear(&mut self, screen: &mut Screen, alert: Alert) {
        if let Alert::Counted { needs } = &alert {
            screen.count(needs.values().sum()).await;
        }
        if let Alert::Raised { episode, .. } = &alert
            && episode.need == FINISHED
        {
            self.note_look(episode.session_id.clone());
        }
        let alert = self.unseen(alert).await;
        let acts = self.board.hear(alert, Instant::now());
        self.act(screen, acts).await;
    }

    async fn take(&mut self, screen: &mut Screen, event: NotificationEvent) {
        match event {
            NotificationEvent::Came => {
                let acts = self.board.bring_back(|card| screen.has(card), Instant::now());
                self.act(screen, acts).await;
            }
            NotificationEvent::Chosen(card, action) => self.choose(card, &action, screen.is_locked()),
            NotificationEvent::Gone(card) => self.gone(card),
            NotificationEvent::Locked => self.show_again(screen).await,
        }
    }

    /// Without an engine no message would say when a notification is over, so all are closed.
    async fn engine_ended(&mut self, screen: &mut Screen, engine: Handle) {
        let app = self.app.clone();
        async_runtime::spawn(async move { app.state::<AppState>().engine_ended(engine).await });
        let acts = self.board.clear();
        self.act(screen, acts).await;
        screen.count(0).await;
    }

    /// Removes from an alert the episodes whose terminal the user already looks at. Only the present moment counts, so
    /// it asks now. Further alerts wait meanwhile, which keeps their order.
    async fn unseen(&mut self, alert: Alert) -> Alert {
        // One timeout for the whole summary: thirty hanging terminals must not delay it for minutes.
        let until = self.terminals.patience();
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

    /// Tells the engine if the user looks at a terminal whose turn has just ended. No alert waits for that terminal.
    fn note_look(&self, session: String) {
        let app = self.app.clone();
        async_runtime::spawn(async move {
            let look = move |engine: &Handle| {
                if engine.is_terminal_in_front(&session)? == Some(true) {
                    engine.looked_at(&session);
                }
                Ok(())
            };
            // An unknown session is gone by now, and its mark with it.
            let _ = app.state::<AppState>().ask(look).await;
        });
    }

    async fn is_seen(&mut self, episode: &Episode, until: tokio::time::Instant) -> bool {
        if is_limit(episode) {
            return false;
        }
        let session = episode.session_id.clone();
        let app_state = self.app.state::<AppState>();
        let asked =
            async { app_state.ask(move |engine| engine.is_terminal_in_front(&session)).await.ok().flatten() };
        self.terminals.is_seen(asked, until).await
    }

    async fn act(&mut self, screen: &mut Screen, acts: Vec<Act>) {
        for act in acts {
            match act {
                Act::Show(card, notice) => self.show(screen, card, notice).await,
                Act::Close(card) => {
                    self.leads_to.remove(&card);
                    screen.close(card).await;
                }
            }
        }
    }

    async fn show(&mut self, screen: &mut Screen, card: Card, notice: Notice) {
        let request = self.whole_request(screen, &notice).await;
        self.show_with(screen, card, notice, request).await;
    }

    async fn show_with(
        &mut self,
        screen: &mut Screen,
        card: Card,
        notice: Notice,
        request: Option<(Whole, RequestNames)>,
    ) {
        let sound = self.app.state::<AppState>().alerts_sound();
        let (whole, names) = request.unzip();
        let shown = match whole {
            Some((tool, text)) => notice.clone().with_request(&tool, &text),
            None => notice.clone(),
        };
        let buttons = if notice.single { buttons(names.as_ref()) } else { Vec::new() };
        screen.show(card, &shown, buttons, sound).await;
        let answered = self.leads_to.remove(&card).and_then(|before| before.answered);
        let request = names.map(|names| (names, Instant::now()));
        self.leads_to.insert(card, Lead { notice, request, answered });
    }

    /// Shows notifications again, quietly, whose request is another one now. The lock of the screen hides requests too.
    async fn show_again(&mut self, screen: &mut Screen) {
        let all: Vec<_> = self.leads_to.iter().map(|(card, lead)| (*card, lead.notice.clone())).collect();
        for (card, notice) in all {
            let request = self.whole_request(screen, &notice).await;
            let before =
                self.leads_to.get(&card).and_then(|lead| lead.request.as_ref()).map(|(names, _)| names);
            if before != request.as_ref().map(|(_, names)| names) {
                self.show_with(screen, card, Notice { quiet: true, ..notice }, request).await;
            }
        }
    }

    /// The text of the session's request, and its names, if the notification can show all of it. On a locked screen any passer-by
    /// could press the button.
    async fn whole_request(&self, screen: &Screen, notice: &Notice) -> Option<(Whole, RequestNames)> {
        let app_state = self.app.state::<AppState>();
        if !notice.single || !notice.urgent || screen.is_locked() || app_state.refusal().is_some() {
            return None;
        }
        let session = notice.session_id.clone();
        let request = app_state.ask(move |engine| engine.request(&session)).await.ok().flatten()?;
        let text = whole(&request)?;
        Some(((request.tool, text), (request.id, request.digest)))
    }

    fn choose(&mut self, card: Card, action: &str, locked: bool) {
        let Some(lead) = self.leads_to.get_mut(&card) else { return };
        let session = lead.notice.session_id.clone();
        match action {
            OPEN => window::open_on(&self.app, session),
            FOCUS => focus(self.app.clone(), session),
            SNOOZE => snooze(self.app.clone(), session),
            other => match actions::answer(other) {
                Some(_) if locked => answer::refuse(&self.app, session, LOCKED.to_owned()),
                Some((names, decision)) => self.answer(card, names, decision),
                None => tracing::debug!(other, "a desktop sent an action that was not offered"),
            },
        }
    }

    /// Answers the request whose button was pressed. Only the first press counts. The engine refuses a request that is
    /// over, and the window says so.
    fn answer(&mut self, card: Card, names: RequestNames, decision: RequestDecision) {
        let Some(lead) = self.leads_to.get_mut(&card) else { return };
        if lead.answered.as_ref() == Some(&names) {
            return;
        }
        let session = lead.notice.session_id.clone();
        // Also an action that this notification never had: it would answer what was not shown.
        let stands = |(shown, since): &(RequestNames, Instant)| *shown == names && since.elapsed() >= STANDS;
        if !lead.request.as_ref().is_some_and(stands) {
            return answer::refuse(&self.app, session, CHANGED.to_owned());
        }
        lead.answered = Some(names.clone());
        let (request_id, seen) = names;
        answer::send(&self.app, AnswerCall { session, request_id, seen, decision });
    }

    fn gone(&mut self, card: Card) {
        self.leads_to.remove(&card);
        self.board.gone(card);
    }
}

/// Brings the terminal to the front. If that fails, opens the window on the session instead.
fn focus(app: AppHandle, session: String) {
    async_runtime::spawn(async move {
        let asked = session.clone();
        let answer = app.state::<AppState>().ask(move |engine| engine.focus_terminal(&asked)).await;
        if !matches!(answer, Ok(answer) if answer.outcome != FocusOutcome::NotPossible) {
            window::open_on(&app, session);
        }
    });
}

fn snooze(app: AppHandle, session: String) {
    async_runtime::spawn(async move {
        let until = Timestamp::from_millis(jiff::Timestamp::now().as_millisecond()) + SNOOZE_SPAN;
        let word = SessionCommand::Snooze { session: SessionId::new(&session), until: Some(until) };
        if let Err(error) = app.state::<AppState>().ask(move |engine| engine.carry_out_command(word)).await {
            tracing::warn!(%error, "a session could not be snoozed");
            app.state::<WindowMessages>().tell(ShellMessage::Says { text: error.to_string() });
        }
    });
}
