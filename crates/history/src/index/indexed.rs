//! The outcome of reading one file into the store.

use watchbill_store::StoreError;
use watchbill_watch::tail::TailError;

/// What one look at a file gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IndexedFile {
    /// Bytes read.
    pub bytes: u64,
    /// Records read.
    pub records: u64,
    /// Texts stored.
    pub texts: u64,
    /// Lines that could not be read.
    pub problems: u64,
    /// More is there than the budget allowed.
    pub more: bool,
    /// Nothing of it is to be stored: the person has said so, or nobody knows yet whose it is.
    pub skipped: bool,
}

/// Why a file is not up to date.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The transcript cannot be read.
    #[error(transparent)]
    File(#[from] TailError),
    /// The store cannot be read or written: the step must not be committed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
