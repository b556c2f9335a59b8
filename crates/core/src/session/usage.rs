//! Counts tokens. Each request counts once, no matter how many records, files and forks repeat it.

use rustc_hash::{FxBuildHasher, FxHashMap};
use serde::{Deserialize, Serialize};

use crate::ids::{RecordId, SessionId};
use crate::session::id_set::{text_hash, text_hash_from};
use crate::transcript::record::{Assistant, TokenTotal, Usage};

/// Id of one request: a hash of its message id and request id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestKey(pub u64);

impl RequestKey {
    /// The key of the request after which a session had used so many tokens.
    pub fn of_total(session: &SessionId, tokens: &TokenTotal) -> Self {
        let Usage { input, output, cache_read, cache_write } = tokens.total.unwrap_or_default();
        let numbers = [input, output, cache_read, cache_write].map(|count| format!("/{count}")).concat();
        Self(text_hash_from(text_hash(session.as_str()), &numbers))
    }

    /// The key of the request that an answer belongs to; `None` if the record has no id at all.
    pub fn of(answer: &Assistant<'_>, record: Option<RecordId>) -> Option<Self> {
        match (answer.message_id.as_deref(), answer.request_id.as_deref()) {
            (Some(message), Some(request)) => {
                Some(Self(text_hash_from(text_hash_from(text_hash(message), "/"), request)))
            }
            (Some(one), None) | (None, Some(one)) => Some(Self(text_hash(one))),
            (None, None) => record.map(|id| Self((id.0 as u64) ^ (id.0 >> 64) as u64)),
        }
    }
}

/// The tokens of one request, each number at most [`Usage::MAX_TOKENS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RequestTokens {
    pub(crate) input: u32,
    pub(crate) output: u32,
    pub(crate) cache_read: u32,
    pub(crate) cache_write: u32,
}

impl RequestTokens {
    fn new(usage: Usage) -> Self {
        let fit = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        Self {
            input: fit(usage.input),
            output: fit(usage.output),
            cache_read: fit(usage.cache_read),
            cache_write: fit(usage.cache_write),
        }
    }

    fn add_to(self, total: &mut Usage) {
        total.input = total.input.saturating_add(u64::from(self.input));
        total.output = total.output.saturating_add(u64::from(self.output));
        total.cache_read = total.cache_read.saturating_add(u64::from(self.cache_read));
        total.cache_write = total.cache_write.saturating_add(u64::from(self.cache_write));
    }

    fn take_from(self, total: &mut Usage) {
        total.input = total.input.saturating_sub(u64::from(self.input));
        total.output = total.output.saturating_sub(u64::from(self.output));
        total.cache_read = total.cache_read.saturating_sub(u64::from(self.cache_read));
        total.cache_write = total.cache_write.saturating_sub(u64::from(self.cache_write));
    }
}

/// The requests of one file: 24 bytes for each and a running total.
///
/// A ledger may be put aside: its requests leave the memory, and it knows only their total and number until it gets
/// them back.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct RequestLedger {
    #[serde(skip)]
    entries: FxHashMap<u64, RequestTokens>,
    len: usize,
    total: Usage,
    /// Requests that were noted since the last [`RequestLedger::take_new`]; `None` if no caller stores them.
    #[serde(skip)]
    new: Option<Vec<(u64, RequestTokens)>>,
}

impl RequestLedger {
    /// Notes the tokens of a request. The last record of a request wins: each block of an answer repeats them,
    /// and before 2.1.98 the earlier blocks held placeholders.
    pub fn note(&mut self, key: RequestKey, usage: Usage) {
        let entry = RequestTokens::new(usage);
        let before = self.entries.insert(key.0, entry);
        match before {
            Some(before) => before.take_from(&mut self.total),
            None => self.len += 1,
        }
        entry.add_to(&mut self.total);
        if let Some(new) = self.new.as_mut().filter(|_| before != Some(entry)) {
            match new.last_mut().filter(|(last, _)| *last == key.0) {
                // The blocks of one answer follow each other.
                Some((_, last)) => *last = entry,
                None => new.push((key.0, entry)),
            }
        }
    }

    /// From now on, noted requests are kept for the next piece of a snapshot.
    pub fn note_new(&mut self) {
        self.new.get_or_insert_default();
    }

    /// The same, beginning with all requests.
    pub fn note_all(&mut self) {
        self.new = Some(self.entries.iter().map(|(key, entry)| (*key, *entry)).collect());
    }

    /// The requests noted since the last call. Of two entries with one key, the later counts.
    pub(crate) fn take_new(&mut self) -> Vec<(u64, RequestTokens)> {
        self.new.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Whether noted requests were not taken yet.
    pub fn has_new(&self) -> bool {
        self.new.as_ref().is_some_and(|new| !new.is_empty())
    }

    /// Frees the memory and keeps only the total and the number of requests.
    pub fn put_aside(&mut self) {
        self.entries = FxHashMap::default();
    }

    /// Whether the ledger is put aside.
    pub fn is_aside(&self) -> bool {
        self.len > 0 && self.entries.is_empty()
    }

    /// Takes back the requests that were given out; `false` if their number or their sum differs.
    pub(crate) fn take_up(&mut self, entries: &[(u64, RequestTokens)]) -> bool {
        let room = self.len.min(entries.len());
        self.entries = FxHashMap::with_capacity_and_hasher(room, FxBuildHasher);
        let mut total = Usage::default();
        for (key, entry) in entries {
            if let Some(before) = self.entries.insert(*key, *entry) {
                before.take_from(&mut total);
            }
            entry.add_to(&mut total);
        }
        self.entries.len() == self.len && total == self.total
    }

    /// The tokens of all requests.
    pub fn total(&self) -> Usage {
        self.total
    }

    /// The tokens of the requests that `other` does not have. For a fork: those that it did not inherit.
    pub fn total_without(&self, other: &Self) -> Usage {
        let mut total = Usage::default();
        for (key, entry) in &self.entries {
            if !other.entries.contains_key(key) {
                entry.add_to(&mut total);
            }
        }
        total
    }

    /// How many requests there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(output: u64) -> Usage {
        Usage { input: 1, output, cache_read: 10, cache_write: 100 }
    }

    #[test]
    fn the_last_record_of_a_request_wins() {
        let mut ledger = RequestLedger::default();
        ledger.note(RequestKey(1), usage(1));
        ledger.note(RequestKey(2), usage(5));
        ledger.note(RequestKey(1), usage(30));
        assert_eq!(ledger.len(), 2);
        assert_eq!(ledger.total(), Usage { input: 2, output: 35, cache_read: 20, cache_write: 200 });
    }

    #[test]
    fn absurd_numbers_saturate() {
        let mut ledger = RequestLedger::default();
        ledger.note(RequestKey(1), Usage { input: u64::MAX, ..Usage::default() });
        assert_eq!(ledger.total().input, u64::from(u32::MAX));
        ledger.note(RequestKey(1), Usage::default());
        assert_eq!(ledger.total(), Usage::default());
    }
}
