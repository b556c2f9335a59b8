//! The times at which something must be evaluated again. One ordered set holds them for all sessions, so that one
//! sleep is enough.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;

use crate::time::Timestamp;

/// At most one deadline for each key. Keys without a deadline cost nothing.
#[derive(Debug, Clone)]
pub struct Deadlines<K> {
    by_time: BTreeSet<(Timestamp, K)>,
    by_key: HashMap<K, Timestamp>,
}

impl<K> Default for Deadlines<K> {
    fn default() -> Self {
        Self { by_time: BTreeSet::new(), by_key: HashMap::new() }
    }
}

impl<K: Ord + Hash + Clone> Deadlines<K> {
    /// Sets the deadline of `key`, or removes it.
    pub fn set(&mut self, key: K, at: Option<Timestamp>) {
        if let Some(before) = self.by_key.remove(&key) {
            self.by_time.remove(&(before, key.clone()));
        }
        if let Some(at) = at {
            self.by_key.insert(key.clone(), at);
            self.by_time.insert((at, key));
        }
    }

    /// The earliest deadline.
    pub fn next(&self) -> Option<Timestamp> {
        self.by_time.first().map(|(at, _)| *at)
    }

    /// Removes and returns every key whose deadline has come, earliest first; equal times in the order of the keys.
    pub fn pop_due(&mut self, now: Timestamp) -> Vec<K> {
        let mut due = Vec::new();
        while self.next().is_some_and(|at| at <= now) {
            if let Some((_, key)) = self.by_time.pop_first() {
                self.by_key.remove(&key);
                due.push(key);
            }
        }
        due
    }
}
