//! Copies the store's write-ahead log into the database, on a thread whose work is not urgent.

use watchbill_store::{LogCopier, Store};

use crate::shared_store::SharedStore;

/// The copier, once this process writes the store.
#[derive(Default)]
pub struct WalCopy(Option<LogCopier>);

impl WalCopy {
    /// Copies the log if that is due, without holding the store.
    pub fn copy(&mut self, shared_store: &SharedStore) {
        if self.0.is_none() {
            let opened = shared_store.in_turn("history: log").as_ref().map(Store::log_copier);
            self.0 = opened.and_then(Result::ok).flatten();
        }
        let Some(copier) = &mut self.0 else { return };
        if !copier.is_due() {
            return;
        }
        match copier.copy() {
            Ok((log, copied)) => tracing::trace!(log, copied, "the store's log was copied"),
            // Commits copy it when it becomes too long.
            Err(error) => tracing::warn!(%error, "the store's log is not copied"),
        }
    }
}
