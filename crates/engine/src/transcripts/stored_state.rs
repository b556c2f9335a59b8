//! Saves a tracked file in the store, and restores it.

use std::path::Path;

use watchbill_agents::layout::ClientPath;
use watchbill_core::history::Exclude;
use watchbill_core::session::lazy::LazyFold;
use watchbill_core::session::snapshot::SnapshotError;
use watchbill_core::session::state::Timeouts;
use watchbill_core::session::subagent::SubagentFold;
use watchbill_core::time::Timestamp;
use watchbill_history::reader::Reader;
use watchbill_watch::fs::FileStat;

use super::{Fold, Limit, TrackedFile};
use crate::persist::stored_transcript::{MetaStamp, StoredTranscript, TokenSharing};
use crate::world::problems::Problems;

impl TrackedFile {
    /// Restores the file from its stored state. The record memory stays in the store.
    ///
    /// # Errors
    /// When the stored fold is of another version, damaged, or of another file.
    pub fn restore(
        place: ClientPath,
        kept: &StoredTranscript<'_>,
        timeouts: Timeouts,
    ) -> Result<Self, SnapshotError> {
        let fold = match &place {
            ClientPath::Subagent { agent, .. } | ClientPath::FlatSubagent { agent, .. } => {
                Fold::Agent(Box::new(SubagentFold::restore(&kept.fold, agent)?))
            }
            ClientPath::Transcript { session, .. } => {
                Fold::Main(LazyFold::restore(&kept.fold, session, timeouts)?)
            }
            _ => return Err(SnapshotError::Damaged),
        };
        Ok(Self {
            place,
            counted_with: None,
            reader: Reader::resume(kept.cursor(), kept.line_start),
            endless: kept.endless,
            fold,
            limit: Limit { until: None, beyond: false },
            timeouts,
            exclude: Exclude::default(),
            noting: false,
            fresh: false,
            meta: kept.meta,
        })
    }

    /// The state to store; `None` before the first read.
    pub fn to_stored(
        &self,
        path: &Path,
        problems: &Problems,
        counted: TokenSharing,
    ) -> Option<StoredTranscript<'static>> {
        let fold = match &self.fold {
            Fold::Main(fold) => fold.snapshot(),
            Fold::Agent(fold) => fold.snapshot(),
        };
        let mut kept = StoredTranscript::new(self.reader.cursor()?, problems, path, fold, counted);
        kept.line_start = self.reader.line_start();
        (kept.endless, kept.meta) = (self.endless, self.meta);
        Some(kept)
    }

    /// From now on, [`TrackedFile::take_new_records`] gives the memory of new records.
    pub fn collect_records(&mut self) {
        self.noting = true;
        match &mut self.fold {
            Fold::Main(fold) => fold.note_new(),
            Fold::Agent(fold) => fold.note_new(),
        }
    }

    /// From now on, [`TrackedFile::take_new_records`] gives the memory of all records, for another store.
    pub fn collect_all_records(&mut self) {
        (self.noting, self.fresh) = (true, true);
        match &mut self.fold {
            Fold::Main(fold) => fold.note_all(),
            Fold::Agent(fold) => fold.note_all(),
        }
    }

    /// Takes the memory of the records since the last call. Says whether all earlier pieces are void.
    pub fn take_new_records(&mut self) -> (Option<Vec<u8>>, bool) {
        let new = match &mut self.fold {
            Fold::Main(fold) => fold.take_new(),
            Fold::Agent(fold) => fold.take_new(),
        };
        (new, std::mem::take(&mut self.fresh))
    }

    /// Evicts the record memory, which the store holds too.
    pub fn evict_records(&mut self) {
        match &mut self.fold {
            Fold::Main(fold) => fold.put_aside(),
            Fold::Agent(fold) => fold.put_aside(),
        }
    }

    /// Whether the record memory must be restored before a read.
    pub fn is_evicted(&self) -> bool {
        match &self.fold {
            Fold::Main(fold) => fold.is_aside(),
            Fold::Agent(fold) => fold.is_aside(),
        }
    }

    /// Restores the record memory.
    ///
    /// # Errors
    /// When the pieces are not those of this fold. Then the file must be read from its beginning.
    pub fn restore_records(&mut self, pieces: &[u8]) -> Result<(), SnapshotError> {
        match &mut self.fold {
            Fold::Main(fold) => fold.take_up(pieces),
            Fold::Agent(fold) => fold.take_up(pieces),
        }
    }

    /// [`Reader::matches_stat`].
    pub fn is_as(&mut self, stat: &FileStat) -> bool {
        self.reader.matches_stat(stat)
    }

    /// Whether the file has not been read.
    pub fn is_unread(&self) -> bool {
        self.reader.cursor().is_none()
    }

    /// Whether the last write was before `then`.
    pub fn written_before(&self, then: Timestamp) -> bool {
        self.reader.cursor().is_some_and(|cursor| cursor.mtime < then)
    }

    /// The companion's stamp at its last read.
    pub fn meta(&self) -> Option<MetaStamp> {
        self.meta
    }
}
