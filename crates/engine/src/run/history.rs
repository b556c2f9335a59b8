//! Starts the history's thread when the roster is complete, and lets it look again after each look at everything.

use std::sync::Arc;

use watchbill_core::time::Timestamp;

use super::Loop;
use crate::live_state::StoredLiveState;
use crate::run::hook_listener;
use watchbill_history::worker::{Historian, HistorianParts};

impl Loop {
    /// Starts the thread if this engine holds the store. The thread does nothing before the roster is complete.
    pub(super) fn begin_history(&mut self) {
        let writes = self.persist.as_ref().filter(|persist| persist.writes());
        if let (Some(persist), None) = (writes, &self.historian) {
            self.own.set_store(&persist.shelf());
            let woken = Arc::clone(&self.woken);
            self.historian = Some(Historian::start(HistorianParts {
                fs: self.engine.shared_fs(),
                shelf: persist.shelf(),
                roots: self.engine.roots().iter().map(|root| root.to_path_buf()).collect(),
                settings: self.engine.settings().history.clone(),
                recovery: self.engine.settings().recovery,
                archive: self.engine.settings().archive,
                memory: self.engine.settings().memory.clone(),
                data_dir: self.engine.settings().data_dir.clone().unwrap_or_default(),
                clock: Arc::clone(&self.clock),
                reach: Arc::clone(&self.reach),
                live: Arc::new(StoredLiveState),
                on_trouble: Box::new(move || woken.notify_one()),
            }));
        }
        if let Some(historian) = self.historian.as_ref().filter(|_| !self.engine.is_reading()) {
            historian.begin();
        }
    }

    /// This engine holds the store from now on. The previous holder may not have received or stored the latest hook
    /// events, so pass them to the history again.
    pub(super) fn hear_again(&self, now: Timestamp) {
        if let (Some(historian), Some(data_dir)) = (&self.historian, &self.engine.settings().data_dir) {
            historian.heard(hook_listener::recent(data_dir, now));
        }
    }
}
