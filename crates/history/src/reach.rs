//! How far the history goes that this process keeps, for whoever looks into it on another thread.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

/// What is known of the transcripts that are not stored, or not to their ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Reached {
    /// Nobody here knows: another process keeps the history, the store refuses, or nothing was looked at yet.
    #[default]
    Unknown,
    /// Some are still to be read.
    Behind,
    /// All were read; what is said from now on follows within a moment.
    Current,
}

/// What was read into the history since the program started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Read {
    /// Bytes of transcripts.
    pub bytes: u64,
    /// Records.
    pub records: u64,
    /// Texts that were made searchable.
    pub texts: u64,
}

impl Read {
    /// What was read after `before`.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            bytes: self.bytes - before.bytes,
            records: self.records - before.records,
            texts: self.texts - before.texts,
        }
    }
}

/// The place where it is said. Whoever asks the store reads it first: what was stored before it was said is there then.
#[derive(Debug, Default)]
pub struct Reach {
    history: AtomicU8,
    owed: AtomicBool,
    bytes: AtomicU64,
    records: AtomicU64,
    texts: AtomicU64,
}

impl Reach {
    /// The history is so far from now on.
    pub fn set(&self, reached: Reached) {
        self.history.store(reached as u8, Ordering::Release);
    }

    /// Whether files have grown of which the history is not told yet, since the store could not be written.
    pub fn set_owed(&self, owed: bool) {
        self.owed.store(owed, Ordering::Release);
    }

    /// What was read into the history so far.
    pub fn read(&self) -> Read {
        let [bytes, records, texts] =
            [&self.bytes, &self.records, &self.texts].map(|count| count.load(Ordering::Relaxed));
        Read { bytes, records, texts }
    }

    /// This was read, too.
    pub fn add(&self, read: Read) {
        self.bytes.fetch_add(read.bytes, Ordering::Relaxed);
        self.records.fetch_add(read.records, Ordering::Relaxed);
        self.texts.fetch_add(read.texts, Ordering::Relaxed);
    }

    /// How it was said to be last.
    pub fn get(&self) -> Reached {
        match self.history.load(Ordering::Acquire) {
            _ if self.owed.load(Ordering::Acquire) => Reached::Unknown,
            at if at == Reached::Behind as u8 => Reached::Behind,
            at if at == Reached::Current as u8 => Reached::Current,
            _ => Reached::Unknown,
        }
    }
}
