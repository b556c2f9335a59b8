//! What the history's thread is made of, and what it is told.

use std::path::PathBuf;
use std::sync::Arc;

use watchbill_core::history::{ArchiveSettings, HistorySettings, RecoverySettings};
use watchbill_core::hook::HookMessage;
use watchbill_protocol::error::ApiError;
use watchbill_settings::Settings;
use watchbill_watch::clock::Clock;
use watchbill_watch::fs::Fs;

use crate::live_state::LiveState;
use crate::reach::Reach;
use crate::removal::request::{Outcome, Removal};
use crate::shelf::Shelf;

/// What the thread is made of.
pub struct HistorianParts {
    /// Where transcripts are read from.
    pub fs: Arc<dyn Fs>,
    /// Where rows go.
    pub shelf: Arc<Shelf>,
    /// Canonical.
    pub roots: Vec<PathBuf>,
    /// What is kept of texts.
    pub settings: HistorySettings,
    /// When a turn got stuck.
    pub recovery: RecoverySettings,
    /// Whether and how transcripts are archived.
    pub archive: ArchiveSettings,
    /// Where the archive lies.
    pub data_dir: PathBuf,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Where it is said how far the history goes.
    pub reach: Arc<Reach>,
    /// What the engine keeps in the store beside it.
    pub live: Arc<dyn LiveState>,
    /// Is called when [`Shelf::trouble`] has changed.
    pub on_trouble: Box<dyn Fn() + Send>,
}

impl HistorianParts {
    /// Says why the history is not kept, or that it is: once, however often the store refuses.
    pub(super) fn note_trouble(&self, trouble: Option<&str>) {
        if self.shelf.note_trouble(trouble) {
            if let Some(error) = trouble {
                tracing::warn!(error, "the history waits for the store");
            }
            (self.on_trouble)();
        }
    }
}

/// Takes the outcome of a removal.
pub type OnRemoved = Box<dyn FnOnce(Outcome) + Send>;

/// Is told when everything is stored, or why it cannot be.
pub type Settled = Box<dyn FnOnce(Result<(), ApiError>) + Send>;

/// What the thread is told.
pub(super) enum Task {
    /// The first look is over: now the history is brought up to date.
    Begin,
    /// Something was stored by others.
    Stored,
    /// Files have grown, and none were waiting to be taken.
    Grown,
    Heard(Vec<HookMessage>),
    /// Somebody wants something forgotten, or stored again, and waits for what comes of it.
    Remove(Removal, OnRemoved),
    /// A client waits until nothing is left to do.
    Settle(Settled),
    /// Somebody has met damage in the index.
    Damaged,
    /// Other settings count from here on.
    Settings(Box<Settings>),
}
