//! Sessions at rest: known from the store, idle for too long to be in the default roster. A start puts their rows
//! together when the first look at everything is over, a few at a time, or when somebody asks for all rows.
//!
//! Everything else is known of them as of any other: their lineage, which the chains are made of, their files, their
//! folders. What happens to one of them ends its rest. Callers see no difference but in time.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashSet;
use watchbill_core::ids::SessionId;
use watchbill_core::session::resting::RestingFold;
use watchbill_core::time::Timestamp;

use crate::model::sessions::Sessions;

/// The sessions whose rows nobody has asked for yet.
#[derive(Default)]
pub(crate) struct Resting {
    sessions: FxHashSet<SessionId>,
    /// Their folders, which have not been looked at.
    cwds_due: BTreeSet<Arc<str>>,
    /// Nobody will ever ask.
    for_good: bool,
    /// The first look is over: in this order, from the end, they get their rows.
    waking: Vec<SessionId>,
    /// Their chains are others than before, which the default roster does not show.
    late: BTreeSet<SessionId>,
}

/// Whether the session has begun, and was active last before `oldest`: it has a row that only a process brings into the
/// default roster. Of a session that has not begun only making the row tells.
pub(crate) fn is_over(fold: &RestingFold, oldest: Timestamp) -> bool {
    fold.created_at().is_some() && fold.last_activity_at().is_some_and(|at| at < oldest)
}

impl Resting {
    /// Nobody will ever ask.
    pub fn rest_for_good(&mut self) {
        self.for_good = true;
    }

    /// Whether nobody will ever ask.
    pub fn for_good(&self) -> bool {
        self.for_good
    }

    /// Somebody asks after all. Says whether that is new.
    pub fn take_for_good(&mut self) -> bool {
        std::mem::take(&mut self.for_good)
    }

    /// These folds belong to sessions at rest, and no others do.
    pub fn lay_to_rest(&mut self, old: &[&RestingFold]) {
        self.sessions = old.iter().map(|fold| fold.lineage().session.clone()).collect();
        let cwds = old.iter().flat_map(|fold| &fold.lineage().cwds);
        self.cwds_due = cwds.collect::<FxHashSet<_>>().into_iter().cloned().collect();
    }

    /// Folders in which sessions have worked that are not held.
    pub fn add_cwds<'a>(&mut self, cwds: impl Iterator<Item = &'a Arc<str>>) {
        self.cwds_due.extend(cwds.cloned());
    }

    /// The folders that have not been looked at.
    pub fn take_cwds_due(&mut self) -> BTreeSet<Arc<str>> {
        std::mem::take(&mut self.cwds_due)
    }

    /// Whether a session rests.
    pub fn contains(&self, id: &SessionId) -> bool {
        self.sessions.contains(id)
    }

    /// How many rest.
    pub fn len(&self) -> usize {
        self.sessions.len()
    }

    /// The session gets its row. Says whether it rested.
    pub fn end(&mut self, id: &SessionId) -> bool {
        self.late.remove(id);
        self.sessions.remove(id)
    }

    /// The row of a session waits for its chain to be shown.
    pub fn set_late(&mut self, id: &SessionId) {
        self.late.insert(id.clone());
    }

    /// Whether rows wait for their chains to be shown.
    pub fn any_late(&self) -> bool {
        !self.late.is_empty()
    }

    /// Whether sessions are to get their rows when there is time.
    pub fn is_waking(&self) -> bool {
        !(self.waking.is_empty() && self.late.is_empty())
    }

    /// There is time for sessions at rest from now on, unless nobody will ever ask.
    pub fn begin_waking(&mut self, sessions: &Sessions) {
        if self.for_good || !self.waking.is_empty() {
            return;
        }
        // In the roster's order, more or less, so that most rows come behind those that are there.
        let active = |id: &SessionId| sessions.fold(id).and_then(|fold| fold.last_activity_at());
        let mut waking: Vec<_> = self.sessions.iter().map(|id| (active(id), id.clone())).collect();
        waking.sort_unstable();
        self.waking = waking.into_iter().map(|(_, id)| id).collect();
    }

    /// So many sessions that wake up: those whose rows wait for their chains, and then those at rest. Of some something has
    /// ended the rest meanwhile, or does so now: they are `due`.
    pub fn take_waking(
        &mut self,
        most: usize,
        due: &BTreeSet<SessionId>,
    ) -> (BTreeSet<SessionId>, BTreeSet<SessionId>) {
        let late: BTreeSet<SessionId> = self.late.iter().take(most).cloned().collect();
        let from = self.waking.len().saturating_sub(most - late.len());
        let mut woken: BTreeSet<SessionId> = self.waking.drain(from..).collect();
        let ends = |id: &SessionId| due.contains(id) || self.late.contains(id);
        woken.retain(|id| self.sessions.contains(id) && !ends(id));
        (late, woken)
    }
}
