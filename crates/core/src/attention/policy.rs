//! The policy over time: dwell, once per episode, nothing for what was already so.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::attention::episode::{Episode, Outcome, Sighting, Silence};
use crate::attention::need::{COUNT_DWELL, Counts, Need};
use crate::attention::settings::AttentionSettings;
use crate::ids::SessionId;
use crate::time::{Millis, Timestamp};

/// Two witnesses of one event name times that differ by less.
const SAME_EVENT: Millis = Millis::from_secs(2);

/// Follows the sessions and says when one of them has come to need the person, and when no longer.
///
/// Until [`Attention::begin`] everything that is seen was already so and raises nothing: reading the past, at start-up or in
/// a replay, is silent. Whoever drives it calls [`Attention::advance`] after each batch of sightings, and at
/// [`Attention::deadline`].
#[derive(Debug, Clone, Default)]
pub struct Attention {
    settings: AttentionSettings,
    began: Option<Timestamp>,
    sessions: BTreeMap<SessionId, Watched>,
    /// Those that were seen to need nobody: when one of them comes to need the person, that is news whatever its time.
    at_ease: BTreeSet<SessionId>,
    in_front: BTreeSet<SessionId>,
    muted_until: Option<Timestamp>,
    told: Counts,
    unsaid: Vec<Outcome>,
}

/// A session that needs the person, or has just finished.
#[derive(Debug, Clone)]
struct Watched {
    seen: Sighting,
    need: Need,
    /// Since when, as first said: later witnesses of the same event don't move it.
    since: Timestamp,
    /// It was so before watching began, or has been told.
    old: bool,
    /// It was raised, so that its end has to be told.
    raised: bool,
    /// It was kept silent for a while only, so that it is told when that while is over.
    owed: bool,
}

impl Attention {
    /// A policy that has not begun to watch.
    pub fn new(settings: AttentionSettings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// Takes on other choices of the person. What was told is not told again.
    pub fn set_settings(&mut self, settings: AttentionSettings) {
        self.settings = settings;
    }

    /// Sessions whose window or terminal the person is looking at.
    pub fn set_in_front(&mut self, sessions: BTreeSet<SessionId>) {
        self.in_front = sessions;
    }

    /// No alerts until then, whoever needs the person ("mute for an hour"); `None` ends it.
    pub fn set_muted_until(&mut self, until: Option<Timestamp>) {
        self.muted_until = until;
    }

    /// Until when nothing is told.
    pub fn muted_until(&self) -> Option<Timestamp> {
        self.muted_until
    }

    /// The past has been read: from now on, what comes to need the person is told.
    pub fn begin(&mut self, now: Timestamp) {
        // Only the first call counts: a need is news also if other things were looked at between its time and its sighting.
        if self.began.is_some() {
            return;
        }
        self.began = Some(now);
        for watched in self.sessions.values_mut() {
            watched.old = true;
        }
        let already_so = self.already_so(now);
        self.unsaid.extend(already_so);
    }

    /// Who needs the person since before, for somebody who begins to listen only now. Its end will be told as that of
    /// any other episode.
    pub fn already_so(&mut self, now: Timestamp) -> Option<Outcome> {
        let mut episodes = Vec::new();
        for watched in self.sessions.values_mut() {
            let told = watched.old && watched.need != Need::Finished;
            let observed = self.settings.inferred || !watched.seen.inferred;
            if !(told && observed) {
                continue;
            }
            match silence(&self.settings, &self.in_front, self.muted_until, watched, now) {
                None => {
                    watched.raised = true;
                    episodes.push(watched.episode(now));
                }
                // What was raised aloud before is known to whoever listened then.
                Some(silence) => watched.owed |= silence.passes() && !watched.raised,
            }
        }
        summary(episodes)
    }

    /// What was kept silent for a while that is over, and still waits.
    fn owed(&mut self, now: Timestamp) -> Option<Outcome> {
        let mut episodes = Vec::new();
        if self.is_silenced(now) {
            return None;
        }
        for watched in self.sessions.values_mut().filter(|watched| watched.owed) {
            watched.owed = false;
            if silence(&self.settings, &self.in_front, self.muted_until, watched, now).is_none() {
                watched.raised = true;
                episodes.push(watched.episode(now));
            }
        }
        summary(episodes)
    }

    /// Nothing at all may be told now.
    fn is_silenced(&self, now: Timestamp) -> bool {
        self.muted_until.is_some_and(|until| now < until) || self.settings.is_quiet(now)
    }

    /// When something may be told again; `None` when the whole day is quiet.
    fn loud_at(&self, now: Timestamp) -> Option<Timestamp> {
        self.settings.quiet_until(self.muted_until.map_or(now, |until| until.max(now)))
    }

    /// Takes in what a session looks like now.
    pub fn see(&mut self, now: Timestamp, seen: Sighting) {
        let session = seen.session.clone();
        let need = seen.need.filter(|_| !seen.superseded);
        let Some(need) = need else {
            self.end(now, &session);
            self.at_ease.insert(session);
            return;
        };
        let was_at_ease = self.at_ease.remove(&session);
        let since = seen.since.min(now);
        // A clock that was ahead has been set right: what it said of the future was of now.
        self.began = self.began.map(|began| began.min(now));
        if let Some(watched) = self.sessions.get_mut(&session) {
            watched.since = watched.since.min(now);
            let moved = since.since(watched.since) > SAME_EVENT && seen.wants != watched.seen.wants;
            // The end of a turn has no words that would tell it from the end of the next one, seen in one glance.
            let next_end = need == Need::Finished && since.since(watched.since) > SAME_EVENT;
            if watched.need == need && !moved && !next_end {
                watched.seen = seen;
                return;
            }
            self.end(now, &session);
        }
        // What is seen for the first time may have waited for long, and is no news. But witnesses of one event differ, and
        // the last moment before watching began may be seen only after it: an alert too many is better than one too few.
        let began = self.began.filter(|began| was_at_ease || since + SAME_EVENT >= *began);
        self.sessions
            .insert(session, Watched { seen, need, since, old: began.is_none(), raised: false, owed: false });
    }

    /// A session is no longer there.
    pub fn lose(&mut self, now: Timestamp, session: &SessionId) {
        self.at_ease.remove(session);
        self.end(now, session);
    }

    fn end(&mut self, now: Timestamp, session: &SessionId) {
        let Some(watched) = self.sessions.remove(session) else { return };
        if watched.raised {
            self.unsaid.push(Outcome::Cleared {
                session: session.clone(),
                need: watched.need,
                since: watched.since,
                at: now,
            });
        }
    }

    /// Lets the dwell of every need pass, and tells what there is to tell.
    pub fn advance(&mut self, now: Timestamp) -> Vec<Outcome> {
        let mut out = std::mem::take(&mut self.unsaid);
        out.extend(self.owed(now));
        for watched in self.sessions.values_mut() {
            if !watched.can_be_told(&self.settings) || watched.since + self.settings.dwell > now {
                continue;
            }
            watched.old = true;
            watched.raised = true;
            let silence = silence(&self.settings, &self.in_front, self.muted_until, watched, now);
            watched.owed = watched.need != Need::Finished && silence.is_some_and(Silence::passes);
            out.push(Outcome::Raised { episode: watched.episode(now), silence });
        }
        let counts = self.counts(now);
        if counts != self.told {
            self.told = counts;
            out.push(Outcome::Counted(counts));
        }
        out
    }

    /// What a session needs the person for, and from when on that counts: a session whose time has come is one of the
    /// [`Attention::counts`].
    pub fn need_of(&self, session: &SessionId) -> Option<(Need, Timestamp)> {
        let watched = self.sessions.get(session).filter(|watched| watched.need != Need::Finished)?;
        Some((watched.need, watched.since + COUNT_DWELL))
    }

    /// How many sessions need the person at this time.
    pub fn counts(&self, now: Timestamp) -> Counts {
        let mut counts = Counts::default();
        for watched in self.sessions.values().filter(|watched| watched.since + COUNT_DWELL <= now) {
            counts.add(watched.need);
        }
        counts
    }

    /// When [`Attention::advance`] will next have something to tell, if nothing new is seen.
    pub fn deadline(&self, now: Timestamp) -> Option<Timestamp> {
        // A dwell that has passed since the last call is due now.
        if !self.unsaid.is_empty() || self.told != self.counts(now) {
            return Some(now);
        }
        let due = |watched: &Watched| {
            let counts =
                Some(watched.since + COUNT_DWELL).filter(|at| watched.need != Need::Finished && *at > now);
            let tells = watched.can_be_told(&self.settings).then_some(watched.since + self.settings.dwell);
            [counts, tells].into_iter().flatten().min()
        };
        let owes = self.sessions.values().any(|watched| watched.owed);
        let loud = owes.then(|| self.loud_at(now)).flatten();
        self.sessions.values().filter_map(due).chain(loud).min().map(|at| at.max(now))
    }
}

impl Watched {
    /// Not told yet, and worth telling: what only silence suggests waits for a witness.
    fn can_be_told(&self, settings: &AttentionSettings) -> bool {
        !self.old && (settings.inferred || !self.seen.inferred)
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

/// One summary, the oldest first.
fn summary(mut episodes: Vec<Episode>) -> Option<Outcome> {
    episodes.sort_by_key(|episode| episode.since);
    (!episodes.is_empty()).then_some(Outcome::AlreadySo(episodes))
}

fn silence(
    settings: &AttentionSettings,
    in_front: &BTreeSet<SessionId>,
    muted_until: Option<Timestamp>,
    watched: &Watched,
    now: Timestamp,
) -> Option<Silence> {
    let seen = &watched.seen;
    let muted_project = seen.projects.iter().flatten().any(|project| settings.mutes(project));
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
