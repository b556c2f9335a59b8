//! What slices and engine have written goes from the store's log into the database: here, where nobody waits for it.

use watchbill_store::{LogCopier, Store};

use crate::shelf::Shelf;

/// The copier, once the store is ours.
#[derive(Default)]
pub struct Log(Option<LogCopier>);

impl Log {
    /// Copies the log if that is due; the store is not held meanwhile.
    pub fn copy(&mut self, shelf: &Shelf) {
        if self.0.is_none() {
            let opened = shelf.in_turn("history: log").as_ref().map(Store::log_copier);
            self.0 = opened.and_then(Result::ok).flatten();
        }
        let Some(copier) = &mut self.0 else { return };
        if !copier.is_due() {
            return;
        }
        match copier.copy() {
            Ok((log, copied)) => tracing::trace!(log, copied, "the store's log was copied"),
            // The commits do it, when the log is too long.
            Err(error) => tracing::warn!(%error, "the store's log is not copied"),
        }
    }
}
