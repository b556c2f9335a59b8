//! Sessions at rest: known from the store, idle for too long to be in the default roster. A start puts their rows
//! together when the first look at everything is over, or when somebody asks for all rows: nobody waits for them.
//!
//! Everything else is known of them as of any other: their lineage, which the chains are made of, their files, their
//! folders. What happens to one of them ends its rest. So nobody can tell, but by the time that it takes.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use watchbill_core::ids::SessionId;
use watchbill_core::session::resting::RestingFold;

use super::Engine;
use crate::files::ByWords;
use crate::input::Output;

/// The sessions whose rows nobody has asked for yet.
#[derive(Default)]
pub(super) struct Resting {
    pub sessions: HashSet<SessionId, ByWords>,
    /// Their folders, which have not been looked at.
    pub cwds_due: BTreeSet<Arc<str>>,
    /// Nobody will ever ask.
    for_good: bool,
}

impl Engine {
    /// Only the default roster will be asked for: sessions at rest stay there.
    pub fn show_recent_alone(&mut self) {
        self.resting.for_good = true;
    }

    /// All sessions were taken up from the store. Those that the default roster shows get rows at once.
    pub(super) fn lay_to_rest(&mut self) {
        let oldest = self.now - self.settings.recent;
        // A session that has begun has a row in any case; of another one only making the row tells.
        let is_old = |fold: &RestingFold| {
            fold.created_at().is_some() && fold.last_activity_at().is_some_and(|at| at < oldest)
        };
        let rests = |fold: &&RestingFold| is_old(fold) && !self.keeping.lacks_row(&fold.lineage().session);
        let old: Vec<&RestingFold> = self.folds().into_iter().filter(rests).collect();
        let sessions: HashSet<_, _> = old.iter().map(|fold| fold.lineage().session.clone()).collect();
        let cwds = old.iter().flat_map(|fold| &fold.lineage().cwds);
        let cwds = cwds.collect::<HashSet<_, ByWords>>().into_iter().cloned().collect();
        self.dirty.extend(self.sessions.keys().filter(|id| !sessions.contains(*id)).cloned());
        (self.resting.sessions, self.resting.cwds_due) = (sessions, cwds);
    }

    /// Puts the rows of sessions at rest together, so that [`Engine::current`] gives all of them, and ties what the first
    /// scan has read so far.
    pub fn wake_all(&mut self) -> Vec<Output> {
        let mut out = Vec::new();
        if std::mem::take(&mut self.resting.for_good) {
            self.resolve_chains();
        }
        self.wake(&mut out);
        // What is asked or said may be about a chain.
        if std::mem::take(&mut self.chains_behind) {
            self.chains_dirty = true;
            self.settle(&mut out);
        }
        out
    }

    /// The same, unless nobody will ever ask.
    pub(super) fn wake(&mut self, out: &mut Vec<Output>) {
        if self.resting.sessions.is_empty() || self.resting.for_good {
            return;
        }
        // What has changed by itself is kept; what only wakes up was kept by an earlier run.
        let resting = std::mem::take(&mut self.resting.sessions).into_iter().collect();
        let changed_since = std::mem::replace(&mut self.dirty, resting);
        self.keeping.rows_were_kept();
        if self.rebuild_rows(out) {
            self.revision += 1;
            out.push(Output::Changed);
        }
        self.dirty = changed_since;
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
        self.views[1].published.len() + self.resting.sessions.len()
    }

    /// Whether rows are missing from the view of all.
    pub fn has_resting(&self) -> bool {
        !self.resting.sessions.is_empty()
    }

    /// Notes that something is different for these sessions, which those at rest will see when they wake.
    pub(super) fn touch(&mut self, ids: Vec<SessionId>) {
        let resting = &self.resting.sessions;
        self.dirty.extend(ids.into_iter().filter(|id| !resting.contains(id)));
    }
}
