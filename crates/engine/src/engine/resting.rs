//! Sessions at rest: known from the store, idle for too long to be in the default roster. A start puts their rows
//! together when the first look at everything is over, a few at a time, or when somebody asks for all rows: nobody waits
//! for them, and they keep nobody waiting.
//!
//! Everything else is known of them as of any other: their lineage, which the chains are made of, their files, their
//! folders. What happens to one of them ends its rest. So nobody can tell, but by the time that it takes.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use rustc_hash::FxHashSet;
use watchbill_core::ids::SessionId;
use watchbill_core::session::resting::RestingFold;

use super::Engine;
use super::distant::is_over;
use crate::input::Output;

/// The sessions whose rows nobody has asked for yet.
#[derive(Default)]
pub(super) struct Resting {
    pub sessions: FxHashSet<SessionId>,
    /// Their folders, which have not been looked at.
    pub cwds_due: BTreeSet<Arc<str>>,
    /// Nobody will ever ask.
    pub for_good: bool,
    /// The first look is over: in this order, from the end, they get their rows.
    waking: Vec<SessionId>,
    /// Their chains are others than before, which the default roster does not show.
    pub late: BTreeSet<SessionId>,
}

impl Engine {
    /// Only the default roster will be asked for: sessions at rest stay there.
    pub fn show_recent_alone(&mut self) {
        self.resting.for_good = true;
    }

    /// All sessions were taken up from the store. Those that the default roster shows get rows at once.
    pub(super) fn lay_to_rest(&mut self) {
        let oldest = self.now - self.settings.recent;
        // Who keeps what is known and shows it to nobody will have no time later.
        let for_good = self.resting.for_good;
        let lacks_row = |fold: &RestingFold| self.keeping.lacks_row(&fold.lineage().session);
        let rests = |fold: &&RestingFold| is_over(fold, oldest) && !(for_good && lacks_row(fold));
        let old: Vec<&RestingFold> = self.folds().into_iter().filter(rests).collect();
        let sessions: HashSet<_, _> = old.iter().map(|fold| fold.lineage().session.clone()).collect();
        let cwds = old.iter().flat_map(|fold| &fold.lineage().cwds);
        let cwds = cwds.collect::<FxHashSet<_>>().into_iter().cloned().collect();
        self.dirty.extend(self.sessions.keys().filter(|id| !sessions.contains(*id)).cloned());
        (self.resting.sessions, self.resting.cwds_due) = (sessions, cwds);
    }

    /// Puts the rows of sessions at rest together, so that [`Engine::current`] gives all of them, and ties what the first
    /// scan has read so far.
    pub fn wake_all(&mut self) -> Vec<Output> {
        let mut out = Vec::new();
        // What is asked or said may be about a chain.
        if std::mem::take(&mut self.resting.for_good) | self.startup.take_chains_pending() {
            self.fetch_all();
            self.chains_dirty = true;
            self.settle(false, &mut out);
        }
        self.begin_waking();
        self.wake(usize::MAX, &mut out);
        // Of what turned out to be unreadable the transcript is asked for at once.
        self.settle(false, &mut out);
        out
    }

    /// There is time for sessions at rest from now on, unless nobody will ever ask.
    pub(super) fn begin_waking(&mut self) {
        if self.resting.for_good || !self.resting.waking.is_empty() {
            return;
        }
        // In the roster's order, more or less, so that most rows come behind those that are there.
        let active = |id: &SessionId| self.fold(id).and_then(|fold| fold.last_activity_at());
        let mut waking: Vec<_> = self.resting.sessions.iter().map(|id| (active(id), id.clone())).collect();
        waking.sort_unstable();
        self.resting.waking = waking.into_iter().map(|(_, id)| id).collect();
    }

    /// Whether sessions are to get their rows by [`Input::Wake`](crate::input::Input::Wake), when there is time.
    pub fn is_waking(&self) -> bool {
        !(self.resting.waking.is_empty() && self.resting.late.is_empty())
    }

    /// Puts the rows of so many sessions at rest together, or of such whose rows wait for their chains to be shown.
    pub(super) fn wake(&mut self, most: usize, out: &mut Vec<Output>) {
        let late: BTreeSet<SessionId> = self.resting.late.iter().take(most).cloned().collect();
        let from = self.resting.waking.len().saturating_sub(most - late.len());
        let mut woken: BTreeSet<SessionId> = self.resting.waking.drain(from..).collect();
        // Of some, something has ended the rest meanwhile, or does so now, which is to be kept.
        let ends = |id: &SessionId| self.dirty.contains(id) || self.resting.late.contains(id);
        woken.retain(|id| self.resting.sessions.contains(id) && !ends(id));
        self.make_rows(late, out);
        if !woken.is_empty() {
            // What has changed by itself is kept; what only wakes up was kept by an earlier run.
            self.keeping.rows_were_kept();
            self.make_rows(woken, out);
        }
    }

    /// Puts these rows together and no others.
    fn make_rows(&mut self, sessions: BTreeSet<SessionId>, out: &mut Vec<Output>) {
        let others = std::mem::replace(&mut self.dirty, sessions);
        if self.rebuild_rows(out) {
            self.revision += 1;
        }
        self.dirty = others;
    }

    /// The chain of a session is another one than before. While everything is read for the first time that is so of
    /// thousands at once: who is not shown gets the row when there is time.
    pub(super) fn chain_differs(&mut self, id: &SessionId) {
        let is_made = self.resting.sessions.contains(id) || self.views[1].roster.get(id).is_some();
        let waits =
            self.startup.is_reading() && !self.resting.for_good && !self.keeping.is_alone() && is_made;
        if waits && self.views[0].roster.get(id).is_none() && !self.dirty.contains(id) {
            self.resting.late.insert(id.clone());
        } else {
            self.dirty.insert(id.clone());
        }
    }

    /// Whether the session has a row, or is about to get one; others stay at rest for good, and nobody asks for their chains.
    pub(super) fn may_have_row(&self, id: &SessionId) -> bool {
        !self.resting.for_good || !self.resting.sessions.contains(id) || self.dirty.contains(id)
    }

    /// Whether there is no session that may have a row.
    pub(super) fn all_rest_for_good(&self) -> bool {
        let resting = &self.resting;
        let all = resting.for_good && self.dirty.is_empty() && self.sessions.len() == resting.sessions.len();
        all && self.live_sessions().iter().all(|id| resting.sessions.contains(id))
    }

    /// Whether a session ends its rest whose chain nobody has asked for.
    pub(super) fn wakes_unchained(&self) -> bool {
        let resting = &self.resting;
        resting.for_good && self.dirty.iter().any(|id| resting.sessions.contains(id))
    }

    /// How many rows there are in all, put together or not.
    pub fn count_all(&self) -> usize {
        self.views[1].published.len() + self.resting.sessions.len() + self.count_distant()
    }

    /// Whether rows are missing from the view of all.
    pub fn has_resting(&self) -> bool {
        !self.resting.sessions.is_empty() || self.count_distant() > 0
    }

    /// Notes that something is different for these sessions, which those at rest will see when they wake.
    pub(super) fn touch(&mut self, ids: Vec<SessionId>) {
        let resting = &self.resting.sessions;
        self.dirty.extend(ids.into_iter().filter(|id| !resting.contains(id)));
    }
}
