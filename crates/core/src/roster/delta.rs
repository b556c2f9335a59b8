//! The roster as an ordered list, and its changes: upserts with an index, and removals.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::ids::SessionId;
use crate::roster::order::OrderKey;
use crate::roster::row::Row;

/// The visible rows in order.
#[derive(Debug, Clone, Default)]
pub struct Roster {
    rows: Vec<Arc<Row>>,
    keys: HashMap<SessionId, OrderKey>,
}

/// The difference between two revisions.
///
/// To apply it to a copy of the list: drop `removals` and the sessions of `upserts`, then insert each upsert at its
/// index, in the order given. The indices rise and are places in the new list.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Delta {
    /// Rows that are new, changed or moved, with their place in the new order.
    pub upserts: Vec<(usize, Arc<Row>)>,
    /// Rows that are gone.
    pub removals: Vec<SessionId>,
}

impl Roster {
    /// An empty roster.
    pub fn new() -> Self {
        Self::default()
    }

    /// The rows in order.
    pub fn rows(&self) -> &[Arc<Row>] {
        &self.rows
    }

    /// The row of a session.
    pub fn get(&self, session: &SessionId) -> Option<&Arc<Row>> {
        self.keys.get(session).and_then(|key| self.place(key).ok()).map(|place| &self.rows[place])
    }

    /// Replaces the whole roster; `None` when nothing changed.
    pub fn update(&mut self, rows: Vec<Row>) -> Option<Delta> {
        let gone = {
            let stay: HashSet<&SessionId> = rows.iter().map(|row| &row.session_id).collect();
            let gone = self.rows.iter().map(|row| &row.session_id).filter(|id| !stay.contains(id));
            gone.cloned().collect()
        };
        self.apply(rows, gone)
    }

    /// Applies rows that may have changed, and removes sessions that are gone. `None` if nothing changed. A session
    /// in both lists stays; of several rows of one session the last one counts.
    ///
    /// Unchanged rows keep their order among themselves, so each change costs two binary searches and two moves of
    /// pointers.
    pub fn apply(&mut self, changed: Vec<Row>, removed: Vec<SessionId>) -> Option<Delta> {
        let mut last: HashMap<SessionId, usize> = HashMap::with_capacity(changed.len());
        for (n, row) in changed.iter().enumerate() {
            last.insert(row.session_id.clone(), n);
        }
        let removals: Vec<SessionId> =
            removed.into_iter().filter(|id| !last.contains_key(id) && self.take(id)).collect();
        let mut fresh = Vec::new();
        for (n, row) in changed.into_iter().enumerate() {
            let said_again_later = last.get(&row.session_id) != Some(&n);
            if said_again_later || self.get(&row.session_id).is_some_and(|old| **old == row) {
                continue;
            }
            self.take(&row.session_id);
            fresh.push((OrderKey::of(&row), Arc::new(row)));
        }
        if fresh.is_empty() && removals.is_empty() {
            return None;
        }
        fresh.sort_by(|(a, _), (b, _)| a.cmp(b));
        let rows: Vec<Arc<Row>> = fresh.iter().map(|(_, row)| Arc::clone(row)).collect();
        let indices = self.insert(fresh);
        Some(Delta { upserts: indices.into_iter().zip(rows).collect(), removals })
    }

    /// Inserts sorted rows that are not in the list; returns their places in the new list.
    fn insert(&mut self, fresh: Vec<(OrderKey, Arc<Row>)>) -> Vec<usize> {
        let mut indices = Vec::with_capacity(fresh.len());
        for (key, row) in fresh {
            // The rows come in rising order, so a later insertion never moves an earlier one. At a start each row
            // goes to the end.
            let last = self.rows.last().map(|row| OrderKey::of(row));
            let place = match last.is_none_or(|last| last < key) {
                true => self.rows.len(),
                false => self.place(&key).unwrap_or_else(|place| place),
            };
            self.rows.insert(place, row);
            self.keys.insert(key.session.clone(), key);
            indices.push(place);
        }
        indices
    }

    fn take(&mut self, session: &SessionId) -> bool {
        let Some(key) = self.keys.remove(session) else { return false };
        if let Ok(place) = self.place(&key) {
            self.rows.remove(place);
        }
        true
    }

    fn place(&self, key: &OrderKey) -> Result<usize, usize> {
        self.rows.binary_search_by(|row| {
            let (group, age_rank) = OrderKey::group_and_age(row);
            (group, age_rank, &row.session_id).cmp(&(key.group, key.age_rank, &key.session))
        })
    }
}
