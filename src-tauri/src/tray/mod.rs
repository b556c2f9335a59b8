//! The tray: an icon, a menu of who needs the person and who works, redrawn only when that changes.

mod badge;
pub mod face;
mod icon;
#[cfg(target_os = "linux")]
mod panel;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use tauri::AppHandle;
use tokio::sync::Notify;
use watchbill_engine::publish::Sink;
use watchbill_settings::TrayColours;

use crate::roster_copy::RosterCopy;
use crate::window;
use face::Face;

/// What the tray knows of the roster.
#[derive(Default)]
pub struct Tray {
    roster: Mutex<Roster>,
    changed: Notify,
    unreachable: AtomicBool,
    shown: AtomicBool,
}

#[derive(Default)]
struct Roster {
    era: u64,
    copy: RosterCopy,
    colours: TrayColours,
    /// When the newest message came, so that ages go on while the engine has nothing to say.
    heard: Option<Instant>,
    /// Another subscription is needed: none yet, another engine, or a delta that did not fit.
    astray: bool,
    /// The engine has ended, and with it everything that it said.
    ended: bool,
}

impl Tray {
    /// A tray that follows nobody yet.
    pub fn new() -> Self {
        Self { roster: Mutex::new(Roster { astray: true, ..Roster::default() }), ..Self::default() }
    }

    /// The engine has been exchanged; another subscription begins at once.
    pub fn engine_changed(&self) {
        {
            let mut roster = self.lock();
            (roster.astray, roster.ended) = (true, false);
        }
        self.changed.notify_one();
    }

    /// The engine has ended: what it said is not so any more, and nobody says what is.
    pub fn engine_ended(&self) {
        self.lock().ended = true;
        self.changed.notify_one();
    }

    /// The icon has these colours from now on.
    pub fn colour(&self, colours: TrayColours) {
        self.lock().colours = colours;
        self.changed.notify_one();
    }

    /// Whether a panel shows the icon, as far as we know.
    pub fn is_shown(&self) -> bool {
        self.shown.load(Ordering::Relaxed)
    }

    /// No tray will ever be shown, and no second start could reach us either: without its window
    /// the program would run on where nobody could find it.
    pub fn is_unreachable(&self) -> bool {
        self.unreachable.load(Ordering::Relaxed)
    }

    /// What the engine shall send to, when a new subscription is needed.
    fn new_sink(self: &Arc<Self>) -> Option<Sink> {
        let era = {
            let mut roster = self.lock();
            if !std::mem::take(&mut roster.astray) {
                return None;
            }
            roster.era += 1;
            roster.era
        };
        Some(self.sink(era))
    }

    fn sink(self: &Arc<Self>, era: u64) -> Sink {
        let tray = Arc::clone(self);
        Box::new(move |message| {
            let mut roster = tray.lock();
            if roster.era != era {
                return false;
            }
            let fits = roster.copy.apply(message).is_ok();
            roster.heard = Some(Instant::now());
            roster.astray |= !fits;
            tray.changed.notify_one();
            fits
        })
    }

    /// The face now, and how long it stays so if nothing is heard.
    fn face(&self) -> (Face, Option<Duration>) {
        let roster = self.lock();
        if roster.ended {
            return (Face { colours: roster.colours, ..Face::blind() }, None);
        }
        let (Some(said), Some(heard)) = (roster.copy.generated_at, roster.heard) else {
            let face = Face::of(&[], None, &TimeZone::UTC, jiff::Timestamp::UNIX_EPOCH);
            return (Face { colours: roster.colours, ..face }, None);
        };
        // The demo has a clock of its own, so ages are reckoned from the engine's word, not from ours.
        let now = said.saturating_add(jiff::SignedDuration::try_from(heard.elapsed()).unwrap_or_default());
        let now = now.unwrap_or(said);
        let rows = &roster.copy.rows;
        let stays = Face::changes_at(rows, now).map(|at| {
            Duration::try_from(at.duration_since(now)).unwrap_or_default() + Duration::from_millis(10)
        });
        let face = Face::of(rows, roster.copy.muted_until, &TimeZone::system(), now);
        (Face { colours: roster.colours, ..face }, stays)
    }

    fn lock(&self) -> MutexGuard<'_, Roster> {
        // Nothing in here panics half-way through a change, so a poisoned roster is still whole.
        self.roster.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Shows the tray as soon as there is a place for it, and keeps it true for as long as the program runs.
///
/// `subscribe` goes to whichever engine there is by then.
pub async fn keep(app: AppHandle, tray: Arc<Tray>, subscribe: impl Fn(Sink) + Send) {
    if !appear(&app).await {
        tray.unreachable.store(true, Ordering::Relaxed);
        // The window may have been closed, or never opened, before this was known.
        return window::end_without(&app);
    }
    tray.shown.store(true, Ordering::Relaxed);
    let mut shown = Face::default();
    loop {
        if let Some(sink) = tray.new_sink() {
            subscribe(sink);
        }
        let (face, stays) = tray.face();
        if face != shown {
            let (app_, next, before) = (app.clone(), face.clone(), shown);
            if let Err(error) = app.run_on_main_thread(move || icon::redraw(&app_, &before, &next)) {
                tracing::debug!(%error, "the event loop has ended, and the tray with it");
                return;
            }
            shown = face;
        }
        match stays {
            Some(span) => {
                // Either way the face is looked at again.
                let _ = tokio::time::timeout(span, tray.changed.notified()).await;
            }
            None => tray.changed.notified().await,
        }
    }
}

/// Builds the icon; where nothing shows icons yet, waits for it. `false`: there never will be one.
#[cfg(target_os = "linux")]
async fn appear(app: &AppHandle) -> bool {
    let Err(reason) = build(app).await else { return true };
    tracing::info!(%reason, "no panel shows tray icons yet; waiting for one");
    let mut panels = match panel::Panels::watch().await {
        Ok(panels) => panels,
        Err(error) => {
            tracing::warn!(%error, "no session bus, so there is no tray and a second start cannot raise the window");
            return false;
        }
    };
    loop {
        // One may have come between the last look and the watch.
        if build(app).await.is_ok() {
            return true;
        }
        if !panels.next().await {
            return false;
        }
    }
}

/// The system itself shows the icons here.
#[cfg(not(target_os = "linux"))]
async fn appear(app: &AppHandle) -> bool {
    match build(app).await {
        Ok(()) => true,
        Err(reason) => {
            tracing::warn!(%reason, "no tray icon");
            false
        }
    }
}

async fn build(app: &AppHandle) -> Result<(), String> {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let app_ = app.clone();
    app.run_on_main_thread(move || {
        // Nobody waits any more only when the program is ending.
        let _ = sender.send(icon::build(&app_).map_err(|error| error.to_string()));
    })
    .map_err(|error| error.to_string())?;
    receiver.await.map_err(|error| error.to_string())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use watchbill_protocol::roster::{Group, RosterDelta, RosterMessage, RosterSnapshot};

    fn snapshot(group: Group) -> RosterMessage {
        RosterMessage::Snapshot(RosterSnapshot {
            revision: 1,
            generated_at: "2026-11-20T12:05:30.000Z".into(),
            sessions: vec![face::tests::row("a", group)],
            problems: Vec::new(),
            reading: false,
            muted_until: None,
            rest: None,
        })
    }

    fn followed() -> (Arc<Tray>, Sink) {
        let tray = Arc::new(Tray::new());
        let sink = tray.new_sink().expect("a new tray follows nobody");
        (tray, sink)
    }

    #[test]
    fn ages_follow_the_engines_clock_and_only_while_something_is_listed() {
        let (tray, mut sink) = followed();
        assert_eq!(tray.face().1, None, "before the first word there is nothing to wait for");
        assert!(sink(snapshot(Group::Working)));
        let (shown, stays) = tray.face();
        assert_eq!(shown.entries[0].label, "● a · 5 min");
        let stays = stays.expect("an age is shown");
        assert!(stays > Duration::from_secs(25) && stays < Duration::from_secs(31), "{stays:?}");
        assert!(sink(snapshot(Group::Idle)));
        assert_eq!(tray.face().1, None);
    }

    #[test]
    fn a_delta_that_does_not_fit_ends_the_subscription_and_asks_for_another() {
        let (tray, mut sink) = followed();
        assert!(sink(snapshot(Group::Working)));
        let delta = RosterDelta {
            base: 9,
            revision: 10,
            generated_at: "2026-11-20T12:05:31.000Z".into(),
            upserts: Vec::new(),
            removals: Vec::new(),
            problems: None,
            reading: false,
            muted_until: None,
        };
        assert!(tray.new_sink().is_none());
        assert!(!sink(RosterMessage::Delta(delta)));
        assert!(tray.new_sink().is_some());
    }

    #[test]
    fn while_nothing_is_watched_it_says_so_and_lists_nobody() {
        let (tray, mut sink) = followed();
        assert!(sink(snapshot(Group::NeedsYou)));
        tray.engine_ended();
        let (shown, stays) = tray.face();
        assert_eq!((shown.badge, shown.entries.len(), stays), (0, 0, None));
        assert_eq!(shown.counts, "Watching has stopped; it begins again soon");
        tray.engine_changed();
        let mut newer = tray.new_sink().expect("another engine");
        assert!(newer(snapshot(Group::NeedsYou)));
        assert_eq!(tray.face().0.counts, "1 needs you");
    }

    #[test]
    fn an_earlier_engine_is_not_listened_to() {
        let (tray, mut sink) = followed();
        tray.engine_changed();
        let mut newer = tray.new_sink().expect("another engine");
        assert!(!sink(snapshot(Group::Working)));
        assert!(tray.face().0.entries.is_empty());
        assert!(newer(snapshot(Group::Working)));
        assert_eq!(tray.face().0.entries.len(), 1);
    }
}
