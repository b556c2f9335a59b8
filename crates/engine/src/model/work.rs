//! Counts the work of the engine. Tests compare counts, because times differ from run to run.

use crate::transcripts::ReadCount;

/// The work so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WorkCount {
    /// Started reads of transcripts.
    pub reads: u64,
    /// Bytes of transcripts.
    pub bytes: u64,
    /// Records parsed.
    pub records: u64,
    /// Rows made.
    pub rows: u64,
    /// How often chains were resolved.
    pub chains: u64,
}

impl WorkCount {
    /// Adds the bytes and records of one read. The caller counts the read.
    pub fn count(&mut self, count: ReadCount) {
        self.bytes += count.bytes;
        self.records += count.records;
    }

    /// Adds work done elsewhere.
    pub fn add(&mut self, other: Self) {
        self.reads += other.reads;
        self.bytes += other.bytes;
        self.records += other.records;
        self.rows += other.rows;
        self.chains += other.chains;
    }
}
