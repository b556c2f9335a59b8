//! Which records have been applied already: about ten bytes for each, however long its line was.

use serde::{Deserialize, Serialize};

use crate::ids::{RecordId, stable_hash, stable_hash_from};

/// A set of record ids, kept as 64-bit hashes in one open-addressed table.
///
/// With a million records in one session the chance that any two of them collide is below 1 in 30 million,
/// and the price of a collision is one record less.
///
/// A set may be put aside: then it knows only how many ids there are, until they are given back to it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct IdSet {
    /// Zero marks a free slot; a hash that is zero is stored as one.
    #[serde(skip)]
    slots: Vec<u64>,
    len: usize,
    /// Hashes that were added since the last [`IdSet::take_new`], where somebody keeps them elsewhere.
    #[serde(skip)]
    new: Option<Vec<u64>>,
}

impl IdSet {
    /// Adds an id; `false` when it was there already.
    pub fn insert(&mut self, id: RecordId) -> bool {
        // At most 7/8 full, so that a probe ends soon.
        if self.len * 8 >= self.slots.len() * 7 {
            self.grow();
        }
        let hash = hash_of(id);
        let fresh = put(&mut self.slots, hash);
        self.len += usize::from(fresh);
        if let (true, Some(new)) = (fresh, &mut self.new) {
            new.push(hash);
        }
        fresh
    }

    /// From now on what is added is noted for [`IdSet::take_new`].
    pub fn note_new(&mut self) {
        self.new.get_or_insert_default();
    }

    /// The same, beginning with everything that is there.
    pub fn note_all(&mut self) {
        self.new = Some(self.slots.iter().copied().filter(|hash| *hash != 0).collect());
    }

    /// What was added since the last call, as hashes.
    pub fn take_new(&mut self) -> Vec<u64> {
        self.new.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Whether what was added has not been taken yet.
    pub fn has_new(&self) -> bool {
        self.new.as_ref().is_some_and(|new| !new.is_empty())
    }

    /// Gives the memory back and remembers only how many ids there are.
    pub fn put_aside(&mut self) {
        self.slots = Vec::new();
    }

    /// Whether ids are kept elsewhere.
    pub fn is_aside(&self) -> bool {
        self.len > 0 && self.slots.is_empty()
    }

    /// Takes the hashes back that were given out; `false` when they are not as many.
    pub fn take_up(&mut self, hashes: &[u64]) -> bool {
        if hashes.len() != self.len {
            return false;
        }
        self.slots = vec![0; (self.len + self.len / 4).max(16)];
        hashes.iter().all(|hash| put(&mut self.slots, (*hash).max(1)))
    }

    /// Whether the id was added before.
    pub fn contains(&self, id: RecordId) -> bool {
        if self.slots.is_empty() {
            return false;
        }
        let hash = hash_of(id);
        let mut at = home(hash, self.slots.len());
        loop {
            match self.slots[at] {
                0 => return false,
                found if found == hash => return true,
                _ => at = if at + 1 == self.slots.len() { 0 } else { at + 1 },
            }
        }
    }

    /// How many ids there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Grows by half rather than to the double: a session is kept for as long as the program runs.
    fn grow(&mut self) {
        let mut larger = vec![0; (self.slots.len() + self.slots.len() / 2).max(16)];
        for hash in self.slots.iter().copied().filter(|hash| *hash != 0) {
            put(&mut larger, hash);
        }
        self.slots = larger;
    }
}

/// Both halves of a UUID are random enough; mixing once more spreads ids that are not.
fn hash_of(id: RecordId) -> u64 {
    let folded = (id.0 as u64) ^ ((id.0 >> 64) as u64).rotate_left(32);
    let mixed = (folded ^ (folded >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed ^ (mixed >> 32)).max(1)
}

/// The slot where a hash would like to be: the high bits, scaled, so that any table size will do.
fn home(hash: u64, slots: usize) -> usize {
    ((u128::from(hash) * slots as u128) >> 64) as usize
}

fn put(slots: &mut [u64], hash: u64) -> bool {
    let mut at = home(hash, slots.len());
    loop {
        match slots[at] {
            0 => {
                slots[at] = hash;
                return true;
            }
            found if found == hash => return false,
            _ => at = if at + 1 == slots.len() { 0 } else { at + 1 },
        }
    }
}

/// A 64-bit name for a text that is itself an id.
pub(crate) fn text_hash(text: &str) -> u64 {
    stable_hash(text.as_bytes())
}

/// Goes on from an earlier hash, to name a pair of texts.
pub(crate) fn text_hash_from(start: u64, text: &str) -> u64 {
    stable_hash_from(start, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_new_once() {
        let mut set = IdSet::default();
        assert!(!set.contains(RecordId(7)));
        for n in 0..10_000u128 {
            assert!(set.insert(RecordId(n)), "{n} is new");
        }
        for n in 0..10_000u128 {
            assert!(!set.insert(RecordId(n)), "{n} is known");
            assert!(set.contains(RecordId(n)));
        }
        assert_eq!(set.len(), 10_000);
        assert!(!set.contains(RecordId(10_001)));
    }

    #[test]
    fn an_id_costs_little() {
        let mut set = IdSet::default();
        for n in 0..100_000u128 {
            set.insert(RecordId(n.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)));
        }
        assert!(set.slots.len() * 8 <= set.len() * 16, "{} slots for {} ids", set.slots.len(), set.len());
    }
}
