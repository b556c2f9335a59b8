//! What came of a slice: refusals of the store, and answers to clients that wait until everything is stored.

use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_store::StoreError;

use super::{Refusal, Worker};
use crate::history::apart::Damage;
use crate::history::log::Log;

impl Worker {
    /// Tells clients that wait for it that nothing is left to do, or why nothing can be done.
    pub(super) fn settle(&mut self) {
        if self.settling.is_empty() {
            return;
        }
        let settled = match self.parts.shelf.trouble() {
            Some(trouble) if self.retry.until().is_some() => {
                Err(ApiError::new(ErrorCode::Unreadable, trouble.to_string()))
            }
            _ if self.at_rest || self.has_work() => return,
            _ => Ok(()),
        };
        self.settling.drain(..).for_each(|told| told(settled.clone()));
    }

    /// The slice was refused: what is to be tried again, and what is given up.
    pub(super) fn refused(&mut self, refusal: Refusal) {
        if let Some(index) = &mut self.index {
            index.void();
        }
        match refusal {
            Refusal::NotOurs => {
                // Whoever writes looks at everything; should it become ours, so do we.
                (self.everything, self.untidy, self.index) = (false, false, None);
                self.at_rest = true;
                let lost = ApiError::new(ErrorCode::NotReady, "another process holds the store now");
                self.settling.drain(..).for_each(|told| told(Err(lost.clone())));
                self.log = Log::default();
                (self.grown, self.behind, self.heard) = Default::default();
                self.waiting.clear();
                self.takes.take_all();
                self.damage = None;
                self.note_trouble(None);
            }
            Refusal::Store(error) => {
                // What is locked, or may not be written, is refused before the work.
                let at_once = matches!(error, StoreError::Locked { .. } | StoreError::ReadOnly { .. });
                let dear = self.damage.is_some() && !at_once;
                self.retry.refused(self.parts.clock.now(), dear);
                if let StoreError::IndexDamaged { .. } = error {
                    self.damage = Some(Damage::Met);
                }
                self.note_trouble(Some(&error.to_string()));
                self.everything = true;
            }
        }
    }
}
