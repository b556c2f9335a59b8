//! The set of applied records: about ten bytes for each, for lines of any length.

use serde::{Deserialize, Serialize};

use crate::ids::{RecordId, stable_hash, stable_hash_from};

/// A set of record ids, kept as 64-bit hashes in one open-addressed table.
///
/// With a million records in one session the chance that any two of them collide is below 1 in 30 million. A
/// collision loses one record.
///
/// A set may be put aside: its ids leave the memory, and it knows only their number until it gets them back.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct IdSet {
    /// Zero marks a free slot; a hash that is zero is stored as one.
    #[serde(skip)]
    slots: Vec<u64>,
    len: usize,
    /// Hashes that were added since the last [`IdSet::take_new`]; `None` if no caller stores them.
    #[serde(skip)]
    new: Option<Vec<u64>>,
}

impl IdSet {
    /// Adds an id; `false` if it was there already.
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

    /// From now on, added ids are noted for [`IdSet::take_new`].
    pub fn note_new(&mut self) {
        self.new.get_or_insert_default();
    }

    /// The same, beginning with all ids in the set.
    pub fn note_all(&mut self) {
        self.new = Some(self.slots.iter().copied().filter(|hash| *hash != 0).collect());
    }

    /// The hashes that were added since the last call.
    pub fn take_new(&mut self) -> Vec<u64> {
        self.new.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Whether [`IdSet::take_new`] would return hashes.
    pub fn has_new(&self) -> bool {
        self.new.as_ref().is_some_and(|new| !new.is_empty())
    }

    /// Frees the memory and keeps only the number of ids.
    pub fn release(&mut self) {
        self.slots = Vec::new();
    }

    /// Whether the set is put aside.
    pub fn is_released(&self) -> bool {
        self.len > 0 && self.slots.is_empty()
    }

    /// Takes back the hashes that were given out; `false` if their number differs.
    pub fn restore_pieces(&mut self, hashes: &[u64]) -> bool {
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

    /// Grows by half, not to the double, because a session stays for as long as the program runs.
    fn grow(&mut self) {
        let mut larger = vec![0; (self.slots.len() + self.slots.len() / 2).max(16)];
        for hash in self.slots.iter().copied().filter(|hash| *hash != 0) {
            put(&mut larger, hash);
        }
        self.slots = larger;
    }
}

/// The halves of a UUID are random enough. One more mixing step spreads ids that are not.
fn hash_of(id: RecordId) -> u64 {
    let folded = (id.0 as u64) ^ ((id.0 >> 64) as u64).rotate_left(32);
    let mixed = (folded ^ (folded >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed ^ (mixed >> 32)).max(1)
}

/// The first slot to try for a hash: its high bits, scaled, so that the table may have any size.
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

/// A stable 64-bit hash of a text, such as an id.
pub(crate) fn text_hash(text: &str) -> u64 {
    stable_hash(text.as_bytes())
}

/// Continues an earlier hash, to hash a pair of texts.
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
