//! The rows of sessions: which are to be made, those that are made in both views, and the revision of these.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use rustc_hash::FxHashSet;
use watchbill_core::ids::SessionId;
use watchbill_core::roster::delta::Roster;
use watchbill_core::roster::row::Row;
use watchbill_core::roster::visible::Filter;
use watchbill_core::session::state::{State, StateKind};
use watchbill_core::time::{Millis, Timestamp};

use crate::model::resting::Resting;
use crate::publish::Published;

/// Rows that are made to be kept alone are made so many at a time, and are in memory until they are stored.
const ROWS_AT_ONCE: usize = 1_024;

/// See the module.
pub(crate) struct Rows {
    /// Sessions whose rows are to be made.
    due: BTreeSet<SessionId>,
    resting: Resting,
    /// The default roster, and all rows.
    views: [View; 2],
    states: HashMap<SessionId, (State, Option<StateKind>)>,
    revision: u64,
}

/// One selection of rows, in order, as it is published.
struct View {
    filter: Filter,
    roster: Roster,
    published: Vec<Published>,
}

/// What is to be put into the views, and what is to be taken out.
#[derive(Default)]
pub(crate) struct Made {
    shown: [Vec<Row>; 2],
    hidden: [Vec<SessionId>; 2],
}

impl Rows {
    /// No rows yet; the default roster shows sessions that were active for as long as `recent`.
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

    /// The row of a session is to be made.
    pub fn mark(&mut self, id: SessionId) {
        self.due.insert(id);
    }

    /// The rows of these sessions are to be made.
    pub fn mark_all(&mut self, ids: impl IntoIterator<Item = SessionId>) {
        self.due.extend(ids);
    }

    /// Something is different for these sessions, which those at rest will see when they wake.
    pub fn touch(&mut self, ids: impl IntoIterator<Item = SessionId>) {
        let resting = &self.resting;
        self.due.extend(ids.into_iter().filter(|id| !resting.contains(id)));
    }

    /// The sessions whose rows are to be made.
    pub fn due(&self) -> &BTreeSet<SessionId> {
        &self.due
    }

    /// Takes the sessions whose rows are to be made now; `alone`: to be kept, and not shown.
    pub fn take_due(&mut self, alone: bool) -> BTreeSet<SessionId> {
        let first_of_rest = self.due.iter().nth(ROWS_AT_ONCE).filter(|_| alone).cloned();
        let rest = first_of_rest.map(|id| self.due.split_off(&id)).unwrap_or_default();
        std::mem::replace(&mut self.due, rest)
    }

    /// Puts these sessions in place of those whose rows are to be made, and gives those.
    pub fn replace_due(&mut self, due: BTreeSet<SessionId>) -> BTreeSet<SessionId> {
        std::mem::replace(&mut self.due, due)
    }

    /// Sessions at rest.
    pub fn resting(&self) -> &Resting {
        &self.resting
    }

    /// The same, to be changed.
    pub fn resting_mut(&mut self) -> &mut Resting {
        &mut self.resting
    }

    /// So many sessions that wake up: those whose rows wait for their chains, and then those at rest.
    pub fn take_waking(&mut self, most: usize) -> (BTreeSet<SessionId>, BTreeSet<SessionId>) {
        self.resting.take_waking(most, &self.due)
    }

    /// Whether the session has a row, or is about to get one; others stay at rest for good, and nobody asks for their chains.
    pub fn may_be_made(&self, id: &SessionId) -> bool {
        !self.resting.for_good() || !self.resting.contains(id) || self.due.contains(id)
    }

    /// Whether a session ends its rest whose chain nobody has asked for.
    pub fn wakes_unchained(&self) -> bool {
        self.resting.for_good() && self.due.iter().any(|id| self.resting.contains(id))
    }

    /// The chain of a session is another one than before. `reading`: while everything is read for the first time that is so
    /// of thousands at once, and one that is not shown gets its row when there is time.
    pub fn chain_differs(&mut self, id: &SessionId, reading: bool) {
        let is_made = self.resting.contains(id) || self.made(id).is_some();
        let waits = reading && !self.resting.for_good() && is_made;
        if waits && self.shown(id).is_none() && !self.due.contains(id) {
            self.resting.set_late(id);
        } else {
            self.due.insert(id.clone());
        }
    }

    /// The row of a session as it was made last.
    pub fn made(&self, id: &SessionId) -> Option<&Row> {
        self.views[1].roster.get(id).map(|row| &**row)
    }

    /// The same in the default roster.
    pub fn shown(&self, id: &SessionId) -> Option<&Row> {
        self.views[0].roster.get(id).map(|row| &**row)
    }

    /// The view as it is published.
    pub fn published(&self, all: bool) -> &[Published] {
        &self.views[usize::from(all)].published
    }

    /// How many rows there are in all, made or at rest.
    pub fn count(&self) -> usize {
        self.views[1].published.len() + self.resting.len()
    }

    /// The revision of rows and problems.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Rows or problems have changed.
    pub fn revise(&mut self) {
        self.revision += 1;
    }

    /// The default roster shows sessions that were active for as long.
    pub fn set_recent(&mut self, recent: Millis) {
        for view in &mut self.views {
            view.filter.since = recent;
        }
    }

    /// Whether the default roster shows a row.
    pub fn shows(&self, row: &Row, now: Timestamp) -> bool {
        self.views[0].filter.shows(row, now)
    }

    /// When it shows it no longer.
    pub fn hides_at(&self, row: &Row, now: Timestamp) -> Option<Timestamp> {
        self.views[0].filter.hides_at(row, now)
    }

    /// Notes the state of a session. Says whether it was another one before, or none.
    pub fn note_state(&mut self, id: &SessionId, state: (State, Option<StateKind>)) -> bool {
        self.states.insert(id.clone(), state) != Some(state)
    }

    /// A session has no row. Says whether it had a state.
    pub fn forget_state(&mut self, id: &SessionId) -> bool {
        self.states.remove(id).is_some()
    }

    /// Sorts a row into the views, unless nobody looks. Says whether the default roster shows it.
    pub fn sort(&self, row: &Row, now: Timestamp, made: &mut Made, alone: bool) -> bool {
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

    /// Puts what was made into the views. Says whether that changes anything.
    pub fn apply(&mut self, made: Made) -> bool {
        let mut changed = false;
        let revision = self.revision + 1;
        for (view, (shown, hidden)) in self.views.iter_mut().zip(made.shown.into_iter().zip(made.hidden)) {
            changed |= view.apply(shown, hidden, revision);
        }
        changed
    }
}

impl Made {
    /// There is no row of this session.
    pub fn hide(&mut self, id: &SessionId) {
        self.hidden.iter_mut().for_each(|list| list.push(id.clone()));
    }
}

impl View {
    fn apply(&mut self, shown: Vec<Row>, hidden: Vec<SessionId>, revision: u64) -> bool {
        let Some(delta) = self.roster.apply(shown, hidden) else { return false };
        // Where nothing is in place of anything, none of thousands need be looked at.
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
