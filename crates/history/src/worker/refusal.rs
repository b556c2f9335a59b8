//! Why the history's thread could not use the store.

use watchbill_store::{Access, Store, StoreError};

/// Why a slice failed.
pub(super) enum SliceError {
    /// Another process writes, or there is no store.
    NotOurs,
    Store(StoreError),
}

impl From<StoreError> for SliceError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotWriter { .. } => Self::NotOurs,
            other => Self::Store(other),
        }
    }
}

/// The store, if this process writes it.
pub(super) fn require_writer(shared_store: &mut Option<Store>) -> Result<&mut Store, SliceError> {
    match shared_store {
        Some(store) if store.access() == Access::Writer => Ok(store),
        _ => Err(SliceError::NotOurs),
    }
}
