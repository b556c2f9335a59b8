//! What a server of an agent said of a session.

use std::path::PathBuf;

use watchbill_core::evidence::registry::RegistryStatus;
use watchbill_core::time::Timestamp;

/// The last word of a server on a session.
#[derive(Debug)]
pub(super) struct Said {
    pub server: PathBuf,
    pub status: RegistryStatus,
    pub at: Timestamp,
}
