//! Folds a file during another reading of it. That reading passes its records on, so the file is read and parsed once.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use watchbill_agents::layout::ClientPath;
use watchbill_core::session::effect::Effect;
use watchbill_core::session::state::Timeouts;
use watchbill_core::transcript::record::Record;
use watchbill_core::transcript::report::LineReport;
use watchbill_history::index::RecordObserver;
use watchbill_history::reader::Reader;
use watchbill_watch::fs::Fs;

use super::{FileReading, Loaded, ReadCount, TrackedFile};
use crate::problems::Problems;

/// A file during its reading, which begins with the first byte of the transcript.
pub struct FoldedBeside {
    path: PathBuf,
    name: Arc<str>,
    file: TrackedFile,
    problems: Problems,
    effects: Vec<Effect>,
    count: ReadCount,
}

impl FoldedBeside {
    /// A file without records. It notes the memory of each record, to store it.
    pub fn new(fs: &dyn Fs, path: &Path, place: ClientPath, timeouts: Timeouts) -> Self {
        let mut file = TrackedFile::new(place, timeouts, None);
        file.collect_records();
        file.read_meta(fs, path);
        Self {
            path: path.to_path_buf(),
            name: path.to_string_lossy().into(),
            file,
            problems: Problems::default(),
            effects: Vec::new(),
            count: ReadCount::default(),
        }
    }

    fn reading(&mut self) -> FileReading<'_> {
        let Self { name, file, problems, effects, count, .. } = self;
        FileReading { file, name, problems, effects, count }
    }

    /// The file, as if [`load`](super::load) had read it; `None` if none of it was read.
    pub fn finish(self) -> Option<Loaded> {
        let Self { path, file, problems, count, .. } = self;
        (!file.is_unread()).then_some(Loaded { path, file: Some(file), problems, count })
    }
}

impl RecordObserver for FoldedBeside {
    fn restarted(&mut self) {
        self.reading().begin_anew();
    }

    fn record(&mut self, record: &Record<'_>) {
        self.reading().record(record);
        self.effects.clear();
    }

    fn line(&mut self, report: &LineReport) {
        self.reading().line(report);
    }

    fn huge_line(&mut self) {
        self.reading().huge_line();
    }

    fn carried(&mut self, bytes: u64) {
        self.reading().carried(bytes);
    }

    fn stands(&mut self, at: &Reader) {
        let Some(cursor) = at.cursor() else { return };
        self.file.reader = Reader::resume(*cursor, at.line_start());
        self.count.bytes = cursor.offset;
    }
}
