//! The parts of the history's thread, and its tasks.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use watchbill_agents::Root;
use watchbill_core::history::{ArchiveSettings, HistorySettings, RecoverySettings};
use watchbill_core::hook::HookMessage;
use watchbill_core::ids::SessionId;
use watchbill_core::memory::MemorySettings;
use watchbill_core::time::Timestamp;
use watchbill_protocol::error::ApiError;
use watchbill_settings::Settings;
use watchbill_watch::clock::Clock;
use watchbill_watch::fs::Fs;

use crate::history_progress::HistoryProgress;
use crate::live_state::LiveState;
use crate::removal::request::{Removal, RemovalResult};
use crate::shared_store::SharedStore;

/// Everything that the thread needs.
pub struct HistoryParts {
    /// The file system with the transcripts.
    pub fs: Arc<dyn Fs>,
    /// The store for the rows.
    pub shared_store: Arc<SharedStore>,
    /// Canonical paths of the roots.
    pub roots: Vec<Root>,
    /// What to store of texts.
    pub settings: HistorySettings,
    /// When a turn counts as stuck.
    pub recovery: RecoverySettings,
    /// Whether and how transcripts are archived.
    pub archive: ArchiveSettings,
    /// Whether the rules of memories run.
    pub memory: MemorySettings,
    /// The data folder, which holds the archive.
    pub data_dir: PathBuf,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Where the thread publishes how up to date the history is.
    pub reach: Arc<HistoryProgress>,
    /// The engine's own state in the same store.
    pub live: Arc<dyn LiveState>,
    /// The sessions that a process is known to run: silence does not end these.
    pub living: Arc<Mutex<BTreeSet<SessionId>>>,
    /// Reads the latest hook events from their journal. Those that are stored already change nothing.
    pub journal: Box<dyn Fn(Timestamp) -> Vec<HookMessage> + Send>,
    /// Wakes the engine: [`SharedStore::trouble`] has changed, or what it reads again from the store.
    pub wake_engine: Arc<dyn Fn() + Send + Sync>,
}

impl HistoryParts {
    /// Counts files that other programs' events should be in, and that cannot be written or read.
    pub(super) fn note_unkept(&self, count: u64) {
        if count > 0 {
            self.reach.add_unkept(count);
            (self.wake_engine)();
        }
    }

    /// Notes why the history cannot be stored, or `None` if it can. Logs it once, however often the store refuses.
    pub(super) fn note_trouble(&self, trouble: Option<&str>) {
        if self.shared_store.note_trouble(trouble) {
            if let Some(error) = trouble {
                tracing::warn!(error, "the history waits for the store");
            }
            (self.wake_engine)();
        }
    }
}

/// Receives the outcome of a removal.
pub type OnRemoved = Box<dyn FnOnce(RemovalResult) + Send>;

/// Called when everything is stored, or with the reason why it cannot be.
pub type OnSettled = Box<dyn FnOnce(Result<(), ApiError>) + Send>;

/// A task for the thread.
pub(super) enum Task {
    /// The engine's first look is over: brings the history up to date.
    Begin,
    /// Another thread has stored something.
    Stored,
    /// Files have grown, and none were waiting.
    FilesGrew,
    /// Hook events wait, and none did.
    HookEvents,
    /// A removal. A caller waits for its outcome.
    Remove(Removal, OnRemoved),
    /// A socket client waits until no work is left.
    WaitUntilStored(OnSettled),
    /// A search has met damage in the index.
    Damaged,
    /// New settings apply from here on.
    Settings(Box<Settings>),
}
