//! Work done, counted: tests ask for counts, since time cannot be tested.

use crate::transcripts::ReadCount;

/// How much was done so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Work {
    /// Reads of transcripts that were begun.
    pub reads: u64,
    /// Bytes of transcripts.
    pub bytes: u64,
    /// Records parsed.
    pub records: u64,
    /// Rows put together.
    pub rows: u64,
    /// Times the chains were resolved.
    pub chains: u64,
}

impl Work {
    /// A transcript was read.
    pub fn count(&mut self, count: ReadCount) {
        self.bytes += count.bytes;
        self.records += count.records;
    }

    /// What was done elsewhere.
    pub fn add(&mut self, other: Self) {
        self.reads += other.reads;
        self.bytes += other.bytes;
        self.records += other.records;
        self.rows += other.rows;
        self.chains += other.chains;
    }
}
