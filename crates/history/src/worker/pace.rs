//! The size of a slice: as many bytes as hold the store for a few milliseconds, on this machine at this moment.

use std::time::Duration;

/// Bytes of transcripts in one slice, at most.
const MAX_SLICE_BYTES: u64 = 1 << 20;
/// Bytes of one slice, at least, however slow the machine is.
const LEAST: u64 = 64 << 10;
/// Intended time for which one slice holds the store.
const HOLD: Duration = Duration::from_millis(8);

/// Bytes of the next slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace(u64);

impl Default for Pace {
    fn default() -> Self {
        Self(MAX_SLICE_BYTES)
    }
}

impl Pace {
    /// Bytes of the next slice.
    pub fn bytes(self) -> u64 {
        self.0
    }

    /// Notes how long a slice took. Only after a `full` slice may the next one be longer.
    pub fn took(&mut self, span: Duration, full: bool) {
        if span > HOLD {
            self.0 = (self.0 / 2).max(LEAST);
        } else if full && span < HOLD / 2 {
            self.0 = (self.0 * 2).min(MAX_SLICE_BYTES);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_shrink_where_they_take_long_and_grow_again() {
        let (slow, quick) = (Duration::from_millis(30), Duration::from_millis(1));
        let mut pace = Pace::default();
        pace.took(slow, true);
        assert_eq!(pace.bytes(), MAX_SLICE_BYTES / 2);
        for _ in 0..10 {
            pace.took(slow, false);
        }
        assert_eq!(pace.bytes(), LEAST);
        // A short slice that found little to read changes nothing.
        pace.took(quick, false);
        assert_eq!(pace.bytes(), LEAST);
        for _ in 0..10 {
            pace.took(quick, true);
        }
        assert_eq!(pace.bytes(), MAX_SLICE_BYTES);
    }
}
