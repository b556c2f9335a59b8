//! Changes of memories, and what a hook process tells the agent. Both use the store at once and do not wait for the loop.

use std::sync::Arc;

use watchbill_history::SharedStore;
use watchbill_history::errors::store_api_error;
use watchbill_history::memory::{change, context};
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::memory::{ContextCall, ContextText, MemoryChange, MemoryChanged};
use watchbill_store::{Access, Store, StoreError};

use super::Handle;
use crate::clock::{Clock, SystemClock};
use crate::socket::access::CommandId;

impl Handle {
    /// Sets the store of the engine, once. The demo has none.
    pub(crate) fn set_store(&self, store: &Arc<SharedStore>) {
        let _ = self.store.set(Arc::downgrade(store));
    }

    /// Carries out a change of memories.
    ///
    /// # Errors
    /// When another program holds the store or it is busy, no memory fits the id, or the text cannot be kept.
    pub fn change_memory(&self, wanted: &MemoryChange) -> Result<MemoryChanged, ApiError> {
        let settings = self.settings();
        let done = self.with_writer("memory", |store| {
            change::change(store, &*self.fs, &settings, wanted, SystemClock.now())
        });
        done.unwrap_or_else(|| {
            let message = "this Watchbill does not write the store now; try again in a moment";
            Err(ApiError::new(ErrorCode::NotReady, message))
        })
    }

    /// What a hook process is to print; `None`: nothing.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub(crate) fn context(&self, call: &ContextCall) -> Result<Option<ContextText>, ApiError> {
        let settings = self.settings();
        let answer = CommandId::new().to_string();
        let now = SystemClock.now();
        let asked = self.with_writer("context", |store| {
            context::context(store, &*self.fs, &settings, &call.payload, &answer, now)
        });
        asked.unwrap_or(Ok(None)).map_err(|error: StoreError| store_api_error(&error))
    }

    /// A hook process has printed a text.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub(crate) fn context_printed(&self, answer: &str) -> Result<(), ApiError> {
        let noted = self.with_writer("printed", |store| context::printed(store, answer));
        noted.unwrap_or(Ok(())).map_err(|error: StoreError| store_api_error(&error))
    }

    /// Calls `act` with the store; `None` if this engine does not write it, or a removal does just now.
    fn with_writer<T>(&self, what: &'static str, act: impl FnOnce(&mut Store) -> T) -> Option<T> {
        let shared = self.store.get()?.upgrade()?;
        if shared.is_written_apart() {
            return None;
        }
        let mut held = shared.lock_urgent(what);
        let store = held.as_mut().filter(|store| store.access() == Access::Writer)?;
        Some(act(store))
    }
}
