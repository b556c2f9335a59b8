//! The tray's copy of the roster, and its subscription.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use tokio::sync::Notify;
use watchbill_engine::model::publish::RosterSink;
use watchbill_settings::TrayColours;

use super::face::Face;
use crate::roster_copy::RosterCopy;

/// The handle of the tray for the rest of the program.
#[derive(Default)]
pub struct Tray {
    roster: Mutex<Roster>,
    pub(super) changed: Notify,
    pub(super) unreachable: AtomicBool,
    pub(super) shown: AtomicBool,
}

#[derive(Default)]
struct Roster {
    era: u64,
    copy: RosterCopy,
    colours: TrayColours,
    /// When the newest message came, so that ages advance while the engine sends nothing.
    received_at: Option<Instant>,
    /// Another subscription is needed: there is none yet, the engine was replaced, or a delta did not fit.
    needs_subscription: bool,
    /// The engine has ended, so the copy is no longer true.
    ended: bool,
}

impl Tray {
    /// A tray without a subscription yet.
    pub fn new() -> Self {
        Self {
            roster: Mutex::new(Roster { needs_subscription: true, ..Roster::default() }),
            ..Self::default()
        }
    }

    /// The engine was replaced; another subscription begins at once.
    pub fn engine_changed(&self) {
        {
            let mut roster = self.lock();
            (roster.needs_subscription, roster.ended) = (true, false);
        }
        self.changed.notify_one();
    }

    /// The engine has ended: the copy is no longer true, and no message will correct it.
    pub fn engine_ended(&self) {
        self.lock().ended = true;
        self.changed.notify_one();
    }

    /// Sets the colours of the icon.
    pub fn colour(&self, colours: TrayColours) {
        self.lock().colours = colours;
        self.changed.notify_one();
    }

    /// Whether a panel shows the icon, as far as the shell knows.
    pub fn is_shown(&self) -> bool {
        self.shown.load(Ordering::Relaxed)
    }

    /// There will never be a tray, and no second start can reach the program either. Without its window the user could
    /// not find it.
    pub fn is_unreachable(&self) -> bool {
        self.unreachable.load(Ordering::Relaxed)
    }

    /// The sink for the engine, if a new subscription is needed.
    pub(super) fn new_sink(self: &Arc<Self>) -> Option<RosterSink> {
        let era = {
            let mut roster = self.lock();
            if !std::mem::take(&mut roster.needs_subscription) {
                return None;
            }
            roster.era += 1;
            roster.era
        };
        Some(self.sink(era))
    }

    fn sink(self: &Arc<Self>, era: u64) -> RosterSink {
        let tray = Arc::clone(self);
        Box::new(move |message| {
            let mut roster = tray.lock();
            if roster.era != era {
                return false;
            }
            let fits = roster.copy.apply(message).is_ok();
            roster.received_at = Some(Instant::now());
            roster.needs_subscription |= !fits;
            tray.changed.notify_one();
            fits
        })
    }

    /// The face now, and how long it stays the same if no message comes.
    pub(super) fn face(&self) -> (Face, Option<Duration>) {
        let roster = self.lock();
        if roster.ended {
            return (Face { colours: roster.colours, ..Face::blind() }, None);
        }
        let (Some(generated_at), Some(received_at)) = (roster.copy.generated_at, roster.received_at) else {
            let face = Face::of(&[], None, &TimeZone::UTC, jiff::Timestamp::UNIX_EPOCH);
            return (Face { colours: roster.colours, ..face }, None);
        };
        // Ages follow the engine's clock.
        let now = generated_at
            .saturating_add(jiff::SignedDuration::try_from(received_at.elapsed()).unwrap_or_default());
        let now = now.unwrap_or(generated_at);
        let rows = &roster.copy.rows;
        let stays = Face::changes_at(rows, now).map(|at| {
            Duration::try_from(at.duration_since(now)).unwrap_or_default() + Duration::from_millis(10)
        });
        let face = Face::of(rows, roster.copy.muted_until, &TimeZone::system(), now);
        (Face { colours: roster.colours, ..face }, stays)
    }

    fn lock(&self) -> MutexGuard<'_, Roster> {
        // No code in here panics half-way through a change, so a poisoned roster is still whole.
        self.roster.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use watchbill_protocol::roster::{Group, RosterDelta, RosterMessage, RosterSnapshot};

    fn snapshot(group: Group) -> RosterMessage {
        RosterMessage::Snapshot(RosterSnapshot {
            revision: 1,
            generated_at: "2026-11-20T12:05:30.000Z".into(),
            sessions: vec![super::super::face::tests::row("a", group)],
            problems: Vec::new(),
            reading: false,
            muted_until: None,
            limits: Vec::new(),
            rest: None,
        })
    }

    fn followed() -> (Arc<Tray>, RosterSink) {
        let tray = Arc::new(Tray::new());
        let sink = tray.new_sink().expect("a new tray follows no engine");
        (tray, sink)
    }

    #[test]
    fn ages_follow_the_engines_clock_and_only_while_something_is_listed() {
        let (tray, mut sink) = followed();
        assert_eq!(tray.face().1, None, "before the first message there is nothing to wait for");
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
            limits: None,
        };
        assert!(tray.new_sink().is_none());
        assert!(!sink(RosterMessage::Delta(delta)));
        assert!(tray.new_sink().is_some());
    }

    #[test]
    fn after_the_engine_ends_the_tray_says_so_and_lists_no_session() {
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
    fn messages_of_an_earlier_engine_are_ignored() {
        let (tray, mut sink) = followed();
        tray.engine_changed();
        let mut newer = tray.new_sink().expect("another engine");
        assert!(!sink(snapshot(Group::Working)));
        assert!(tray.face().0.entries.is_empty());
        assert!(newer(snapshot(Group::Working)));
        assert_eq!(tray.face().0.entries.len(), 1);
    }
}
