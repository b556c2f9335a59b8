//! The rows of sessions: the due ones, the made ones in both views, and their revision.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use rustc_hash::FxHashSet;
use watchbill_core::ids::SessionId;
use watchbill_core::roster::delta::Roster;
use watchbill_core::roster::row::Row;
use watchbill_core::roster::shown_rows::Filter;
use watchbill_core::session::state::{State, StateKind};
use watchbill_core::time::{Millis, Timestamp};

use crate::model::publish::Published;
use crate::model::resting::Resting;

/// Batch size for rows that are only stored. They stay in memory until they are stored.
const ROWS_AT_ONCE: usize = 1_024;

/// See the module.
pub(crate) struct Rows {
    /// Sessions whose rows must be made.
    due: BTreeSet<SessionId>,
    resting: Resting,
    /// The default roster, and all rows.
    views: [View; 2],
    states: HashMap<SessionId, (State, Option<StateKind>)>,
    revision: u64,
}

/// One selection of rows in published order.
struct View {
    filter: Filter,
    roster: Roster,
    published: Vec<Published>,
}

/// Changes to the views: rows to put in, sessions to take out.
#[derive(Default)]
pub(crate) struct RowChanges {
    shown: [Vec<Row>; 2],
    hidden: [Vec<SessionId>; 2],
}

impl Rows {
    /// No rows yet. The default roster shows sessions that were active within `recent`.
    pub fn new(recent: Millis) -> Self {
        let view = |all| View {
            filter: Filter { all, since: recent },
            roster: Roster::new(),
            published: Vec::new(),
        };
        Self {
            due: BTreeSet::new(),
            resting: Resting::default(),
            views: [view(false), view(true)],
            states: HashMap::new(),
            revision: 0,
        }
    }

    /// The session's row must be made.
    pub fn mark(&mut self, id: SessionId) {
        self.due.insert(id);
    }

    /// The rows of these sessions must be made.
    pub fn mark_all(&mut self, ids: impl IntoIterator<Item = SessionId>) {
        self.due.extend(ids);
    }

    /// These sessions changed. Sessions at rest get the change when they wake.
    pub fn touch(&mut self, ids: impl IntoIterator<Item = SessionId>) {
        let resting = &self.resting;
        self.due.extend(ids.into_iter().filter(|id| !resting.contains(id)));
    }

    /// The sessions whose rows must be made.
    pub fn due(&self) -> &BTreeSet<SessionId> {
        &self.due
    }

    /// Takes the sessions whose rows the caller makes now. `alone`: rows are only stored, so take one batch.
    pub fn take_due(&mut self, alone: bool) -> BTreeSet<SessionId> {
        let first_of_rest = self.due.iter().nth(ROWS_AT_ONCE).filter(|_| alone).cloned();
        let rest = first_of_rest.map(|id| self.due.split_off(&id)).unwrap_or_default();
        std::mem::replace(&mut self.due, rest)
    }

    /// Replaces the due sessions, and gives the old ones.
    pub fn replace_due(&mut self, due: BTreeSet<SessionId>) -> BTreeSet<SessionId> {
        std::mem::replace(&mut self.due, due)
    }

    /// Sessions at rest.
    pub fn resting(&self) -> &Resting {
        &self.resting
    }

    /// Sessions at rest, mutable.
    pub fn resting_mut(&mut self) -> &mut Resting {
        &mut self.resting
    }

    /// Takes at most so many sessions to wake: first those whose rows wait for their chains, then those at rest.
    pub fn take_waking(&mut self, most: usize) -> (BTreeSet<SessionId>, BTreeSet<SessionId>) {
        self.resting.take_waking(most, &self.due)
    }

    /// Whether the session has a row or is about to get one. Others rest for good, and no caller asks for their chains.
    pub fn may_be_made(&self, id: &SessionId) -> bool {
        !self.resting.rows_never_made() || !self.resting.contains(id) || self.due.contains(id)
    }

    /// Whether a session that rested for good wakes now. Its chain was never resolved.
    pub fn wakes_without_chain(&self) -> bool {
        self.resting.rows_never_made() && self.due.iter().any(|id| self.resting.contains(id))
    }

    /// The session's chain changed. `reading`: the first scan runs, and chains of thousands of sessions may change at
    /// once. Then a hidden row is made later, when there is time.
    pub fn chain_differs(&mut self, id: &SessionId, reading: bool) {
        let is_made = self.resting.contains(id) || self.made(id).is_some();
        let waits = reading && !self.resting.rows_never_made() && is_made;
        if waits && self.shown(id).is_none() && !self.due.contains(id) {
            self.resting.set_late(id);
        } else {
            self.due.insert(id.clone());
        }
    }

    /// The last made row of a session.
    pub fn made(&self, id: &SessionId) -> Option<&Row> {
        self.views[1].roster.get(id).map(|row| &**row)
    }

    /// The row of a session in the default roster.
    pub fn shown(&self, id: &SessionId) -> Option<&Row> {
        self.views[0].roster.get(id).map(|row| &**row)
    }

    /// The published rows of a view.
    pub fn published(&self, all: bool) -> &[Published] {
        &self.views[usize::from(all)].published
    }

    /// The number of all rows, made or at rest.
    pub fn count(&self) -> usize {
        self.views[1].published.len() + self.resting.len()
    }

    /// The revision of rows and problems.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Rows or problems changed: raises the revision.
    pub fn revise(&mut self) {
        self.revision += 1;
    }

    /// Sets how long the default roster shows sessions after their last activity.
    pub fn set_recent(&mut self, recent: Millis) {
        for view in &mut self.views {
            view.filter.since = recent;
        }
    }

    /// Whether the default roster shows a row.
    pub fn shows(&self, row: &Row, now: Timestamp) -> bool {
        self.views[0].filter.shows(row, now)
    }

    /// When the default roster hides the row.
    pub fn hides_at(&self, row: &Row, now: Timestamp) -> Option<Timestamp> {
        self.views[0].filter.hidden_at(row, now)
    }

    /// Notes the state of a session. Says whether it is new or changed.
    pub fn note_state(&mut self, id: &SessionId, state: (State, Option<StateKind>)) -> bool {
        self.states.insert(id.clone(), state) != Some(state)
    }

    /// The session has no row. Says whether it had a state.
    pub fn forget_state(&mut self, id: &SessionId) -> bool {
        self.states.remove(id).is_some()
    }

    /// Sorts a row into the views, unless rows are only stored (`alone`). Says whether the default roster shows it.
    pub fn sort(&self, row: &Row, now: Timestamp, made: &mut RowChanges, alone: bool) -> bool {
        let mut is_shown = false;
        for (n, view) in self.views.iter().enumerate() {
            if view.filter.shows(row, now) && !alone {
                made.shown[n].push(row.clone());
                is_shown |= n == 0;
            } else {
                made.hidden[n].push(row.session_id.clone());
            }
        }
        is_shown
    }

    /// Applies the changes to the views. Says whether anything changed.
    pub fn apply(&mut self, made: RowChanges) -> bool {
        let mut changed = false;
        let revision = self.revision + 1;
        for (view, (shown, hidden)) in self.views.iter_mut().zip(made.shown.into_iter().zip(made.hidden)) {
            changed |= view.apply(shown, hidden, revision);
        }
        changed
    }
}

impl RowChanges {
    /// The session has no row.
    pub fn hide(&mut self, id: &SessionId) {
        self.hidden.iter_mut().for_each(|list| list.push(id.clone()));
    }
}

impl View {
    fn apply(&mut self, shown: Vec<Row>, hidden: Vec<SessionId>, revision: u64) -> bool {
        let Some(delta) = self.roster.apply(shown, hidden) else { return false };
        // If all upserts are new rows, there is nothing to remove, so skip the search.
        if self.published.len() + delta.upserts.len() != self.roster.rows().len() {
            let touched: FxHashSet<&SessionId> =
                delta.removals.iter().chain(delta.upserts.iter().map(|(_, row)| &row.session_id)).collect();
            self.published.retain(|published| !touched.contains(&published.id));
        }
        for (index, row) in &delta.upserts {
            let published = Published { id: row.session_id.clone(), version: revision, row: Arc::clone(row) };
            self.published.insert((*index).min(self.published.len()), published);
        }
        true
    }
}
