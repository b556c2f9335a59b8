//! How up to date this process's history is, for readers on other threads.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};

/// What this process knows about transcripts that are not stored, or not stored to their ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum HistoryState {
    /// Unknown here: another process keeps the history, the store refuses, or the first scan has not begun.
    #[default]
    Unknown,
    /// Some transcripts are still to be read.
    Behind,
    /// All transcripts were read. New lines follow within a moment.
    Current,
}

/// Amounts read into the history since the program started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Read {
    /// Bytes of transcripts.
    pub bytes: u64,
    /// Records.
    pub records: u64,
    /// Texts made searchable.
    pub texts: u64,
}

impl Read {
    /// The amounts read after `before`.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            bytes: self.bytes - before.bytes,
            records: self.records - before.records,
            texts: self.texts - before.texts,
        }
    }
}

/// The shared progress of the history. A thread that queries the store reads it first: all that was stored before the
/// progress was set is then in the store.
#[derive(Debug, Default)]
pub struct HistoryProgress {
    history: AtomicU8,
    paths_pending: AtomicBool,
    hook_events_waiting: AtomicUsize,
    hook_events_lag: AtomicBool,
    bytes: AtomicU64,
    records: AtomicU64,
    texts: AtomicU64,
    unkept: AtomicU64,
}

impl HistoryProgress {
    /// How often a file of other programs' events could not be written or read.
    pub fn unkept(&self) -> u64 {
        self.unkept.load(Ordering::Relaxed)
    }

    pub(crate) fn add_unkept(&self, count: u64) {
        self.unkept.fetch_add(count, Ordering::Relaxed);
    }

    /// Sets how up to date the history is.
    pub fn set(&self, reached: HistoryState) {
        self.history.store(reached as u8, Ordering::Release);
    }

    /// Sets whether the engine still owes the history the paths of grown files, because the store could not be
    /// written.
    pub fn set_paths_pending(&self, paths_pending: bool) {
        self.paths_pending.store(paths_pending, Ordering::Release);
    }

    /// Sets how many hook events wait for the history, and whether more should wait elsewhere.
    pub fn set_hook_events_waiting(&self, count: usize, lag: bool) {
        self.hook_events_waiting.store(count, Ordering::Relaxed);
        self.hook_events_lag.store(lag, Ordering::Relaxed);
    }

    /// Whether the history lags behind the hook events, so that more should wait elsewhere.
    pub fn hook_events_lag(&self) -> bool {
        self.hook_events_lag.load(Ordering::Relaxed)
    }

    /// How many hook events wait for the history.
    pub fn hook_events_waiting(&self) -> usize {
        self.hook_events_waiting.load(Ordering::Relaxed)
    }

    /// The amounts read into the history so far.
    pub fn read(&self) -> Read {
        let [bytes, records, texts] =
            [&self.bytes, &self.records, &self.texts].map(|count| count.load(Ordering::Relaxed));
        Read { bytes, records, texts }
    }

    /// Adds to the amounts.
    pub fn add(&self, read: Read) {
        self.bytes.fetch_add(read.bytes, Ordering::Relaxed);
        self.records.fetch_add(read.records, Ordering::Relaxed);
        self.texts.fetch_add(read.texts, Ordering::Relaxed);
    }

    /// How up to date the history is; `Unknown` while the engine owes it paths.
    pub fn get(&self) -> HistoryState {
        match self.history.load(Ordering::Acquire) {
            _ if self.paths_pending.load(Ordering::Acquire) => HistoryState::Unknown,
            at if at == HistoryState::Behind as u8 => HistoryState::Behind,
            at if at == HistoryState::Current as u8 => HistoryState::Current,
            _ => HistoryState::Unknown,
        }
    }
}
