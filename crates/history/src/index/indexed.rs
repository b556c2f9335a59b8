//! The outcome of reading one file into the store.

use watchbill_store::StoreError;
use watchbill_watch::tail::TailError;

/// Counts of one read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FileReadCounts {
    /// Bytes read.
    pub bytes: u64,
    /// Records read.
    pub records: u64,
    /// Texts stored.
    pub texts: u64,
    /// Unreadable lines.
    pub problems: u64,
    /// Records of unknown types.
    pub unknown: u64,
    /// The file has more than the budget allowed.
    pub more: bool,
    /// Nothing of the file is stored: the user excluded or forgot it, or its session is not known yet.
    pub skipped: bool,
}

/// Why a file is not up to date.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The transcript cannot be read.
    #[error(transparent)]
    File(#[from] TailError),
    /// The store cannot be read or written. The caller must not commit the step.
    #[error(transparent)]
    Store(#[from] StoreError),
}
