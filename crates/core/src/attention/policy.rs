//! The policy over time: a need must dwell, an episode is reported once, and old needs raise nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::attention::episode::{AttentionEvent, Episode, Sighting, Silence};
use crate::attention::limits::LimitReports;
use crate::attention::need::{COUNT_DWELL, Counts, Need};
use crate::attention::settings::AttentionSettings;
use crate::ids::{Agent, SessionId};
use crate::limits::KnownLimit;
use crate::time::{Millis, Timestamp};

/// Two witnesses of one event give times that differ by no more than this.
const SAME_EVENT: Millis = Millis::from_secs(2);

/// Follows the sessions. Reports when a session begins to need the user, and when that need ends.
///
/// Until [`Attention::begin`] every need counts as old and raises nothing. So reading the past, at start-up or in a
/// replay, is silent. The caller calls [`Attention::advance`] after each batch of sightings, and at
/// [`Attention::deadline`].
#[derive(Debug, Clone, Default)]
pub struct Attention {
    settings: AttentionSettings,
    began: Option<Timestamp>,
    sessions: BTreeMap<SessionId, Watched>,
    /// Sessions that had no need when last seen. If one of them begins to need the user, that is a new need, even if its
    /// state has an old time.
    at_ease: BTreeSet<SessionId>,
    in_front: BTreeSet<SessionId>,
    /// Sessions whose turn has ended since watching began, and that the user has not looked at since.
    unseen: BTreeSet<SessionId>,
    muted_until: Option<Timestamp>,
    last_counts: Counts,
    pending_outcomes: Vec<AttentionEvent>,
    limits: LimitReports,
}

/// A session that needs the user, has just finished, or was refused a call.
#[derive(Debug, Clone)]
struct Watched {
    seen: Sighting,
    need: Need,
    /// Since when, by the first sighting. Later witnesses of the same event do not move it.
    since: Timestamp,
    /// The need is from before watching began, or was already reported.
    is_reported: bool,
    /// It was raised, so its end must be reported.
    raised: bool,
    /// A mute or quiet hours kept it silent, so it is reported when they end.
    deferred: bool,
}

impl Attention {
    /// A policy that has not begun to watch.
    pub fn new(settings: AttentionSettings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// Applies new settings. An episode that was reported is not reported again.
    pub fn set_settings(&mut self, settings: AttentionSettings) {
        self.settings = settings;
    }

    /// Sets the sessions whose window or terminal the user is looking at. Returns those whose end of a turn was not looked at before.
    pub fn set_in_front(&mut self, sessions: BTreeSet<SessionId>) -> Vec<SessionId> {
        self.in_front = sessions;
        let in_front = self.in_front.clone();
        in_front.into_iter().filter(|session| self.look_at(session)).collect()
    }

    /// The user looks at a session for a moment. Returns whether it had an end of a turn that was not looked at.
    pub fn look_at(&mut self, session: &SessionId) -> bool {
        self.unseen.remove(session)
    }

    /// Whether its turn has ended since watching began, and the user has not looked at it since.
    pub fn is_unseen(&self, session: &SessionId) -> bool {
        self.unseen.contains(session)
    }

    /// Mutes all alerts until then ("mute for an hour"); `None` ends the mute.
    pub fn set_muted_until(&mut self, until: Option<Timestamp>) {
        self.muted_until = until;
    }

    /// Until when all alerts are muted.
    pub fn muted_until(&self) -> Option<Timestamp> {
        self.muted_until
    }

    /// The past has been read: from now on, new needs are reported.
    pub fn begin(&mut self, now: Timestamp) {
        // Only the first call counts. A need is news even if other input was read between its time and its sighting.
        if self.began.is_some() {
            return;
        }
        self.began = Some(now);
        for watched in self.sessions.values_mut() {
            watched.is_reported = true;
        }
        let already_so = self.standing_needs(now);
        self.pending_outcomes.extend(already_so);
    }

    /// Reports needs from before now to a listener that joins only now. Their ends are reported like those of any
    /// other episode.
    pub fn standing_needs(&mut self, now: Timestamp) -> Option<AttentionEvent> {
        let mut episodes = Vec::new();
        for watched in self.sessions.values_mut() {
            let was_raised = watched.is_reported && watched.need.counts();
            let observed = self.settings.inferred || !watched.seen.inferred;
            if !(was_raised && observed) {
                continue;
            }
            match silence(&self.settings, &self.in_front, self.muted_until, watched, now) {
                None => {
                    watched.raised = true;
                    episodes.push(watched.episode(now));
                }
                // The listeners of that time know an episode that was raised, so it is not owed.
                Some(silence) => watched.deferred |= silence.is_temporary() && !watched.raised,
            }
        }
        summary(episodes)
    }

    /// Episodes that a mute or quiet hours kept silent, if that time is over and the session still waits.
    fn deferred_summary(&mut self, now: Timestamp) -> Option<AttentionEvent> {
        let mut episodes = Vec::new();
        if self.is_silenced(now) {
            return None;
        }
        for watched in self.sessions.values_mut().filter(|watched| watched.deferred) {
            watched.deferred = false;
            if silence(&self.settings, &self.in_front, self.muted_until, watched, now).is_none() {
                watched.raised = true;
                episodes.push(watched.episode(now));
            }
        }
        summary(episodes)
    }

    /// Whether a mute or quiet hours forbid all alerts now.
    fn is_silenced(&self, now: Timestamp) -> bool {
        self.muted_until.is_some_and(|until| now < until) || self.settings.is_quiet(now)
    }

    /// When alerts are allowed again; `None` when the whole day is quiet.
    fn alerts_allowed_at(&self, now: Timestamp) -> Option<Timestamp> {
        self.settings.quiet_until(self.muted_until.map_or(now, |until| until.max(now)))
    }

    /// Applies a sighting of a session.
    pub fn apply_sighting(&mut self, now: Timestamp, seen: Sighting) {
        let session = seen.session.clone();
        let need = seen.need.filter(|_| !seen.superseded);
        // After some time a finished session is idle. It is as unseen as before.
        if need != Some(Need::Finished) && !seen.rests {
            self.unseen.remove(&session);
        }
        let Some(need) = need else {
            self.end(now, &session);
            self.at_ease.insert(session);
            return;
        };
        let was_at_ease = self.at_ease.remove(&session);
        let since = seen.since.min(now);
        // The clock was ahead and has been set back: a time in its future counts as now.
        self.began = self.began.map(|began| began.min(now));
        if let Some(watched) = self.sessions.get_mut(&session) {
            watched.since = watched.since.min(now);
            let moved = since.since(watched.since) > SAME_EVENT && seen.wants != watched.seen.wants;
            // Two ends of turns have the same `wants`. Only their times tell them apart if the turn between was not
            // seen.
            let next_end = need == Need::Finished && since.since(watched.since) > SAME_EVENT;
            if watched.need == need && !moved && !next_end {
                watched.seen = seen;
                return;
            }
            self.end(now, &session);
        }
        // A need that is seen for the first time may be old, and then it is no news. But witnesses of one event give
        // different times, and an event just before watching began may be seen only afterwards. One alert too many is
        // better than one too few.
        let began = self.began.filter(|began| was_at_ease || since + SAME_EVENT >= *began);
        if need == Need::Finished && began.is_some() && !self.in_front.contains(&session) {
            self.unseen.insert(session.clone());
        }
        self.sessions.insert(
            session,
            Watched { seen, need, since, is_reported: began.is_none(), raised: false, deferred: false },
        );
    }

    /// Applies the limits whose spans run. One of which enough is used is reported once in its span, with the first word that no
    /// mute or quiet hours silence. The report is over when the span is.
    pub fn apply_limits(
        &mut self,
        now: Timestamp,
        name: impl Fn(Agent) -> &'static str,
        running: &[KnownLimit],
    ) {
        let over = self.limits.end_others(running);
        self.pending_outcomes.extend(over.iter().map(|episode| cleared(episode, now)));
        let mark = self.settings.limit.saturating_mul(100);
        let is_silent = self.is_silenced(now);
        for known in running {
            let is_over = mark > 0 && known.limit.used >= mark;
            let news = self.limits.news(now, name(known.agent), known, is_over, self.began, is_silent);
            self.pending_outcomes
                .extend(news.map(|episode| AttentionEvent::Raised { episode, silence: None }));
        }
    }

    /// Removes a session that no longer exists.
    pub fn remove_session(&mut self, now: Timestamp, session: &SessionId) {
        self.at_ease.remove(session);
        self.unseen.remove(session);
        self.end(now, session);
    }

    fn end(&mut self, now: Timestamp, session: &SessionId) {
        let Some(watched) = self.sessions.remove(session) else { return };
        if watched.raised {
            self.pending_outcomes.push(cleared(&watched.episode(now), now));
        }
    }

    /// Applies the dwell of every need, and returns all new outcomes.
    pub fn advance(&mut self, now: Timestamp) -> Vec<AttentionEvent> {
        let mut out = std::mem::take(&mut self.pending_outcomes);
        out.extend(self.deferred_summary(now));
        for watched in self.sessions.values_mut() {
            if !watched.may_report(&self.settings) || watched.since + self.settings.dwell > now {
                continue;
            }
            watched.is_reported = true;
            watched.raised = true;
            let silence = silence(&self.settings, &self.in_front, self.muted_until, watched, now);
            watched.deferred = watched.need.counts() && silence.is_some_and(Silence::is_temporary);
            out.push(AttentionEvent::Raised { episode: watched.episode(now), silence });
        }
        let counts = self.counts(now);
        if counts != self.last_counts {
            self.last_counts = counts;
            out.push(AttentionEvent::Counted(counts));
        }
        out
    }

    /// What a session needs the user for, and the time from which it counts in [`Attention::counts`].
    pub fn need_of(&self, session: &SessionId) -> Option<(Need, Timestamp)> {
        let watched = self.sessions.get(session).filter(|watched| watched.need.counts())?;
        Some((watched.need, watched.since + COUNT_DWELL))
    }

    /// How many sessions need the user at this time.
    pub fn counts(&self, now: Timestamp) -> Counts {
        let mut counts = Counts::default();
        for watched in self.sessions.values().filter(|watched| watched.since + COUNT_DWELL <= now) {
            counts.add(watched.need);
        }
        counts
    }

    /// When [`Attention::advance`] will next return something, if there is no new sighting.
    pub fn deadline(&self, now: Timestamp) -> Option<Timestamp> {
        // A dwell that has passed since the last call is due now.
        if !self.pending_outcomes.is_empty() || self.last_counts != self.counts(now) {
            return Some(now);
        }
        let due = |watched: &Watched| {
            let counts = Some(watched.since + COUNT_DWELL).filter(|at| watched.need.counts() && *at > now);
            let tells = watched.may_report(&self.settings).then_some(watched.since + self.settings.dwell);
            [counts, tells].into_iter().flatten().min()
        };
        let has_deferred = self.sessions.values().any(|watched| watched.deferred);
        let loud = has_deferred.then(|| self.alerts_allowed_at(now)).flatten();
        self.sessions.values().filter_map(due).chain(loud).min().map(|at| at.max(now))
    }
}

impl Watched {
    /// Not reported yet, and allowed by the settings. An inferred need waits for a witness unless they include it.
    fn may_report(&self, settings: &AttentionSettings) -> bool {
        !self.is_reported && (settings.inferred || !self.seen.inferred)
    }

    fn episode(&self, now: Timestamp) -> Episode {
        let seen = &self.seen;
        Episode {
            session: seen.session.clone(),
            need: self.need,
            since: self.since,
            at: now,
            name: Arc::clone(&seen.name),
            wants: Arc::clone(&seen.wants),
            title: seen.title.clone(),
        }
    }
}

fn cleared(episode: &Episode, now: Timestamp) -> AttentionEvent {
    AttentionEvent::Cleared {
        session: episode.session.clone(),
        need: episode.need,
        since: episode.since,
        at: now,
    }
}

/// One outcome for all episodes, the oldest first.
fn summary(mut episodes: Vec<Episode>) -> Option<AttentionEvent> {
    episodes.sort_by_key(|episode| episode.since);
    (!episodes.is_empty()).then_some(AttentionEvent::AlreadySo(episodes))
}

fn silence(
    settings: &AttentionSettings,
    in_front: &BTreeSet<SessionId>,
    muted_until: Option<Timestamp>,
    watched: &Watched,
    now: Timestamp,
) -> Option<Silence> {
    let seen = &watched.seen;
    let muted_project = seen.projects.iter().flatten().any(|project| settings.is_muted_project(project));
    if !settings.kinds.contains(&watched.need) {
        Some(Silence::Kind)
    } else if muted_project || settings.muted_sessions.contains(&seen.session) {
        Some(Silence::Muted)
    } else if muted_until.is_some_and(|until| now < until) {
        Some(Silence::MutedForNow)
    } else if settings.is_quiet(now) {
        Some(Silence::QuietHours)
    } else if in_front.contains(&seen.session) {
        Some(Silence::InFront)
    } else {
        None
    }
}
