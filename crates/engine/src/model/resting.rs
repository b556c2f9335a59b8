//! Sessions at rest: the store knows them, and they were idle for longer than the default roster shows. A start makes
//! their rows after the first look at everything, a few at a time, or when a caller asks for all rows.
//!
//! The engine knows everything else of them as of any other session: their lineage (for the chains), files and folders.
//! A change to a session ends its rest. Callers notice only that rows come later.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashSet;
use watchbill_core::ids::SessionId;
use watchbill_core::session::lazy::LazyFold;
use watchbill_core::time::Timestamp;

use crate::model::sessions::Sessions;

/// Sessions whose rows no caller has asked for yet.
#[derive(Default)]
pub(crate) struct Resting {
    sessions: FxHashSet<SessionId>,
    /// Their working folders that were not looked at yet.
    cwds_due: BTreeSet<Arc<str>>,
    /// No caller will ever ask for all rows.
    for_good: bool,
    /// The first look is over. These sessions get their rows, from the end of the list.
    waking: Vec<SessionId>,
    /// Sessions with a changed chain, hidden in the default roster. Their rows are made later.
    chain_changed: BTreeSet<SessionId>,
}

/// Whether the session has begun, and was last active before `oldest`. The default roster shows its row only if a
/// process runs it. For a session that has not begun, only making the row can tell.
pub(crate) fn is_over(fold: &LazyFold, oldest: Timestamp) -> bool {
    fold.created_at().is_some() && fold.last_activity_at().is_some_and(|at| at < oldest)
}

impl Resting {
    /// No caller will ever ask for all rows.
    pub fn never_make_rows(&mut self) {
        self.for_good = true;
    }

    /// Whether no caller will ever ask for all rows.
    pub fn rows_never_made(&self) -> bool {
        self.for_good
    }

    /// A caller asks for all rows after all. Says whether that is new.
    pub fn take_for_good(&mut self) -> bool {
        std::mem::take(&mut self.for_good)
    }

    /// Puts exactly the sessions of these folds to rest.
    pub fn set_resting(&mut self, old: &[&LazyFold]) {
        self.sessions = old.iter().map(|fold| fold.lineage().session.clone()).collect();
        let cwds = old.iter().flat_map(|fold| &fold.lineage().cwds);
        self.cwds_due = cwds.collect::<FxHashSet<_>>().into_iter().cloned().collect();
    }

    /// Adds working folders of sessions that the engine does not hold.
    pub fn add_cwds<'a>(&mut self, cwds: impl Iterator<Item = &'a Arc<str>>) {
        self.cwds_due.extend(cwds.cloned());
    }

    /// Takes the folders that were not looked at yet.
    pub fn take_cwds_due(&mut self) -> BTreeSet<Arc<str>> {
        std::mem::take(&mut self.cwds_due)
    }

    /// Whether a session is at rest.
    pub fn contains(&self, id: &SessionId) -> bool {
        self.sessions.contains(id)
    }

    /// The number of sessions at rest.
    pub fn len(&self) -> usize {
        self.sessions.len()
    }

    /// The session gets its row. Says whether it was at rest.
    pub fn end(&mut self, id: &SessionId) -> bool {
        self.chain_changed.remove(id);
        self.sessions.remove(id)
    }

    /// The session's row must show another chain, and may be made later.
    pub fn set_late(&mut self, id: &SessionId) {
        self.chain_changed.insert(id.clone());
    }

    /// Whether rows wait to show other chains.
    pub fn any_late(&self) -> bool {
        !self.chain_changed.is_empty()
    }

    /// Whether sessions will get their rows when there is time.
    pub fn is_waking(&self) -> bool {
        !(self.waking.is_empty() && self.chain_changed.is_empty())
    }

    /// From now on there is time for sessions at rest, unless no caller will ever ask.
    pub fn begin_waking(&mut self, sessions: &Sessions) {
        if self.for_good || !self.waking.is_empty() {
            return;
        }
        // About in the roster's order, so that most rows are inserted behind the existing ones.
        let active = |id: &SessionId| sessions.fold(id).and_then(|fold| fold.last_activity_at());
        let mut waking: Vec<_> = self.sessions.iter().map(|id| (active(id), id.clone())).collect();
        waking.sort_unstable();
        self.waking = waking.into_iter().map(|(_, id)| id).collect();
    }

    /// Takes at most so many sessions to wake: first those whose rows wait for their chains, then those at rest. Skips
    /// sessions that no longer rest or are `due`.
    pub fn take_waking(
        &mut self,
        most: usize,
        due: &BTreeSet<SessionId>,
    ) -> (BTreeSet<SessionId>, BTreeSet<SessionId>) {
        let late: BTreeSet<SessionId> = self.chain_changed.iter().take(most).cloned().collect();
        let from = self.waking.len().saturating_sub(most - late.len());
        let mut woken: BTreeSet<SessionId> = self.waking.drain(from..).collect();
        let ends = |id: &SessionId| due.contains(id) || self.chain_changed.contains(id);
        woken.retain(|id| self.sessions.contains(id) && !ends(id));
        (late, woken)
    }
}
