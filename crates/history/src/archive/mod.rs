//! Archived transcripts, read as if their files still existed, and kept up to date. [`offer()`] estimates what
//! archiving would cost.

mod archive_candidates;
pub(crate) mod archive_facts;
pub(crate) mod archive_work;
mod archived_fs;
pub(crate) mod offer;

pub use archive_candidates::owner;
pub use archive_facts::ArchiveFacts;
pub use archive_work::{ArchiveWork, StoreWork, due};
pub use archived_fs::{ArchivedFs, over};
pub use offer::{Offer, offer, offer_at};
