//! A tracked file over a restart: what is given out to be kept, and how it is taken up again.

use std::path::Path;

use watchbill_core::history::Exclude;
use watchbill_core::session::resting::RestingFold;
use watchbill_core::session::snapshot::SnapshotError;
use watchbill_core::session::state::Timeouts;
use watchbill_core::session::subagent::SubagentFold;
use watchbill_core::time::Timestamp;
use watchbill_history::reader::Reader;
use watchbill_watch::fs::FileStat;
use watchbill_watch::layout::Place;

use super::{Fold, Limit, TrackedFile};
use crate::persist::kept::{Counted, KeptFile, MetaStamp};
use crate::problems::Problems;

impl TrackedFile {
    /// From what was kept over a restart. What is remembered of each record is aside.
    ///
    /// # Errors
    /// When the fold is of another version, damaged, or of another file.
    pub fn restore(place: Place, kept: &KeptFile<'_>, timeouts: Timeouts) -> Result<Self, SnapshotError> {
        let fold = match &place {
            Place::Subagent { agent, .. } | Place::FlatSubagent { agent, .. } => {
                Fold::Agent(Box::new(SubagentFold::restore(&kept.fold, agent)?))
            }
            Place::Transcript { session, .. } => {
                Fold::Main(RestingFold::restore(&kept.fold, session, timeouts)?)
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

    /// What is to be kept of it over a restart; `None` before it was read.
    pub fn kept(&self, path: &Path, problems: &Problems, counted: Counted) -> Option<KeptFile<'static>> {
        let fold = match &self.fold {
            Fold::Main(fold) => fold.snapshot(),
            Fold::Agent(fold) => fold.snapshot(),
        };
        let mut kept = KeptFile::new(self.reader.cursor()?, problems, path, fold, counted);
        kept.line_start = self.reader.line_start();
        (kept.endless, kept.meta) = (self.endless, self.meta);
        Some(kept)
    }

    /// From now on what is remembered of each record is given out by [`TrackedFile::take_new`].
    pub fn note_new(&mut self) {
        self.noting = true;
        match &mut self.fold {
            Fold::Main(fold) => fold.note_new(),
            Fold::Agent(fold) => fold.note_new(),
        }
    }

    /// The same, beginning with all records: somebody else keeps them from now on.
    pub fn give_out_anew(&mut self) {
        (self.noting, self.fresh) = (true, true);
        match &mut self.fold {
            Fold::Main(fold) => fold.note_all(),
            Fold::Agent(fold) => fold.note_all(),
        }
    }

    /// What is remembered of the records since the last call, and whether everything before is void.
    pub fn take_new(&mut self) -> (Option<Vec<u8>>, bool) {
        let new = match &mut self.fold {
            Fold::Main(fold) => fold.take_new(),
            Fold::Agent(fold) => fold.take_new(),
        };
        (new, std::mem::take(&mut self.fresh))
    }

    /// Gives the memory back for what is kept elsewhere.
    pub fn put_aside(&mut self) {
        match &mut self.fold {
            Fold::Main(fold) => fold.put_aside(),
            Fold::Agent(fold) => fold.put_aside(),
        }
    }

    /// Whether what is remembered of each record must be taken up before anything is read.
    pub fn is_aside(&self) -> bool {
        match &self.fold {
            Fold::Main(fold) => fold.is_aside(),
            Fold::Agent(fold) => fold.is_aside(),
        }
    }

    /// Takes up what is remembered of each record.
    ///
    /// # Errors
    /// When the pieces are not what was given out: then the file must be read from its beginning.
    pub fn take_up(&mut self, pieces: &[u8]) -> Result<(), SnapshotError> {
        match &mut self.fold {
            Fold::Main(fold) => fold.take_up(pieces),
            Fold::Agent(fold) => fold.take_up(pieces),
        }
    }

    /// [`Reader::is_as`].
    pub fn is_as(&mut self, stat: &FileStat) -> bool {
        self.reader.is_as(stat)
    }

    /// Whether nothing of it has been read.
    pub fn is_unread(&self) -> bool {
        self.reader.cursor().is_none()
    }

    /// Whether it was last written before `then`.
    pub fn written_before(&self, then: Timestamp) -> bool {
        self.reader.cursor().is_some_and(|cursor| cursor.mtime < then)
    }

    /// How the companion stood when it was read.
    pub fn meta(&self) -> Option<MetaStamp> {
        self.meta
    }
}
