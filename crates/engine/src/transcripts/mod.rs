//! One tracked file: its read position and its fold.
pub mod beside;
mod exclude;
pub mod first_scan;
mod stored_state;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use watchbill_agents::files::parser_of;
use watchbill_agents::layout::{ClientPath, META_LIMIT};
use watchbill_agents::traits::Parser;
use watchbill_core::history::Exclude;
use watchbill_core::ids::SessionId;
use watchbill_core::problem::ProblemKind;
use watchbill_core::session::effect::Effect;
use watchbill_core::session::fold::SessionFold;
use watchbill_core::session::lazy::LazyFold;
use watchbill_core::session::state::Timeouts;
use watchbill_core::session::subagent::SubagentFold;
use watchbill_core::time::Timestamp;
use watchbill_core::transcript::line_splitter::{LINE_CAP, Line};
use watchbill_core::transcript::record::Record;
use watchbill_core::transcript::report::LineReport;
use watchbill_history::reader::{LineReceiver, Reader, add_folder, folder_beside};
use watchbill_watch::fs::Fs;
use watchbill_watch::tail::TailError;

use crate::persist::stored_transcript::MetaStamp;
use crate::world::problems::Problems;

/// Bytes read from one file in one step. The rest waits for its turn, so that a huge append to one session does not
/// delay another.
pub const STEP_BUDGET: u64 = 4 << 20;

/// A transcript of a session or of a subagent.
pub struct TrackedFile {
    /// The kind of file, by its path.
    pub place: ClientPath,
    /// The session that a subagent's tokens count in.
    pub(crate) counted_with: Option<SessionId>,
    reader: Reader,
    /// The unfinished line is too long already, and its problem was counted.
    endless: bool,
    fold: Fold,
    limit: Limit,
    timeouts: Timeouts,
    /// Excluded folders: calls on paths in them lose their targets.
    exclude: Exclude,
    /// The record memory is also given out, to be stored.
    noting: bool,
    /// The file was read from its beginning, so stored pieces are void.
    fresh: bool,
    /// The companion's stamp at its last read.
    meta: Option<MetaStamp>,
}

/// The fold of a file.
pub enum Fold {
    /// A session's own transcript.
    Main(LazyFold),
    /// A subagent's transcript.
    Agent(Box<SubagentFold>),
}

/// Counts of one read. Tests compare counts, because times are not testable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReadCount {
    /// Bytes read.
    pub bytes: u64,
    /// Records applied.
    pub records: u64,
    /// More bytes are there than the budget allowed.
    pub more: bool,
    /// The file was replaced or truncated, and was read from its beginning.
    pub restarted: bool,
}

/// Uses only records up to a time, for a look at the past.
#[derive(Debug, Clone, Copy)]
struct Limit {
    until: Option<Timestamp>,
    /// The last record with a time was after the limit. Records without a time that follow it are after the limit too.
    beyond: bool,
}

impl Limit {
    fn admits(&mut self, record: &Record<'_>) -> bool {
        let Some(until) = self.until else { return true };
        if let Some(at) = record.envelope.at {
            self.beyond = at > until;
        }
        !self.beyond
    }
}

impl TrackedFile {
    /// A file that has not been read.
    pub fn new(place: ClientPath, timeouts: Timeouts, until: Option<Timestamp>) -> Self {
        let fold = Self::fold_for(&place, timeouts);
        let limit = Limit { until, beyond: false };
        Self {
            place,
            counted_with: None,
            reader: Reader::default(),
            endless: false,
            fold,
            limit,
            timeouts,
            exclude: Exclude::default(),
            noting: false,
            fresh: true,
            meta: None,
        }
    }

    /// Sets other timeouts.
    pub(crate) fn set_timeouts(&mut self, timeouts: Timeouts) {
        self.timeouts = timeouts;
        if let Fold::Main(fold) = &mut self.fold {
            fold.set_timeouts(timeouts);
        }
    }

    fn fold_for(place: &ClientPath, timeouts: Timeouts) -> Fold {
        match place {
            ClientPath::Subagent { agent, .. } | ClientPath::FlatSubagent { agent, .. } => {
                Fold::Agent(Box::new(SubagentFold::new(agent)))
            }
            ClientPath::Transcript { session, .. } => {
                Fold::Main(SessionFold::new(session.clone(), timeouts).into())
            }
            // Other places hold no records. An empty session makes the match complete.
            _ => Fold::Main(SessionFold::new(SessionId::new(""), timeouts).into()),
        }
    }

    /// The fold.
    pub fn fold(&self) -> &Fold {
        &self.fold
    }

    /// The session whose subagent writes the file. The folder names it since client 2.1.2; before, only the records do.
    /// A subagent that is a session of its own names it too.
    pub fn parent(&self) -> Option<SessionId> {
        match (&self.place, &self.fold) {
            (ClientPath::Subagent { session, .. }, _) => Some(session.clone()),
            (_, Fold::Agent(fold)) => fold.parent().cloned(),
            (_, Fold::Main(fold)) => fold.lineage().subagent_of.clone(),
        }
    }

    /// The session's fold, if the file is a session's own transcript.
    pub fn main(&self) -> Option<&LazyFold> {
        match &self.fold {
            Fold::Main(fold) => Some(fold),
            Fold::Agent(_) => None,
        }
    }

    /// The subagent's fold, if the file is a subagent's.
    pub fn agent(&self) -> Option<&SubagentFold> {
        match &self.fold {
            Fold::Main(_) => None,
            Fold::Agent(fold) => Some(fold),
        }
    }

    /// Fires the fold's deadlines.
    pub fn advance(&mut self, now: Timestamp, effects: &mut Vec<Effect>) {
        if let Fold::Main(fold) = &mut self.fold {
            fold.advance(now, effects);
        }
    }

    /// No caller needs the unfolded copy for a while. See [`LazyFold::rest`].
    pub(crate) fn rest(&mut self) {
        if let Fold::Main(fold) = &mut self.fold {
            fold.rest();
        }
    }

    /// The clock was set back to `now`.
    pub fn turn_back(&mut self, now: Timestamp) {
        if let Fold::Main(fold) = &mut self.fold {
            fold.turn_back(now);
        }
    }

    /// A subagent of this session wrote a record at `at`.
    pub fn subagent_active(&mut self, at: Timestamp) {
        if let Fold::Main(fold) = &mut self.fold {
            fold.subagent_active(at, &mut Vec::new());
        }
    }

    /// Reads the companion of a subagent's transcript at `path`, which tells whether the subagent has finished. The
    /// companion may be written before or after the transcript, so a change of either calls this.
    pub fn read_meta(&mut self, fs: &dyn Fs, path: &Path) {
        if let (Fold::Agent(fold), ClientPath::Subagent { .. }) = (&mut self.fold, &self.place) {
            let path = path.with_extension("meta.json");
            self.meta = fs.stat(&path).ok().map(|stat| MetaStamp { mtime: stat.mtime, len: stat.len });
            let meta = fs.read_small(&path, META_LIMIT);
            fold.set_finished(meta.is_ok_and(|bytes| says_finished(&bytes)));
        }
    }

    /// Number of bytes read.
    pub fn bytes_read(&self) -> u64 {
        self.reader.cursor().map_or(0, |cursor| cursor.offset)
    }

    /// Reads new bytes, at most `budget`.
    ///
    /// # Errors
    /// When the file cannot be opened or read. The fold stays as it was.
    pub fn read(
        &mut self,
        fs: &dyn Fs,
        path: &Path,
        budget: u64,
        scratch: &mut Vec<u8>,
        problems: &mut Problems,
        effects: &mut Vec<Effect>,
    ) -> Result<ReadCount, TailError> {
        let mut count = ReadCount::default();
        let name: Arc<str> = Arc::from(path.to_string_lossy());
        let (exclude, parse, folder) = (self.exclude.clone(), parser_of(path), folder_beside(fs, path));
        let mut reader = std::mem::take(&mut self.reader);
        let reading = FileReading { file: self, name: &name, problems, effects, count: &mut count };
        let mut receiver = FromFile { reading, exclude, parse, folder };
        let outcome = reader.read(fs, path, scratch, budget, &mut receiver);
        self.reader = reader;
        let outcome = outcome?;
        count.bytes = outcome.bytes_read;
        count.more = outcome.more;
        Ok(count)
    }
}

/// A reading that parses its own lines.
struct FromFile<'r> {
    reading: FileReading<'r>,
    exclude: Exclude,
    parse: Parser,
    folder: Option<String>,
}

impl LineReceiver for FromFile<'_> {
    fn restarted(&mut self) {
        self.reading.begin_anew();
    }

    fn line(&mut self, line: Line<'_>) {
        let Self { reading, exclude, parse, folder: beside } = self;
        let report = parse(line.bytes, &mut |mut record, full| {
            add_folder(&mut record, beside.as_deref());
            let folder = reading.file.main().and_then(LazyFold::cwd).map(|cwd| &**cwd);
            exclude.clear_excluded_targets(&mut record, full, folder);
            reading.record(&record);
        });
        reading.line(&report);
    }

    fn huge_line(&mut self) {
        self.reading.huge_line();
    }

    fn carried(&mut self, bytes: u64) {
        self.reading.carried(bytes);
    }
}

/// One reading of a file. Another reader may find its lines.
struct FileReading<'r> {
    file: &'r mut TrackedFile,
    name: &'r Arc<str>,
    problems: &'r mut Problems,
    effects: &'r mut Vec<Effect>,
    count: &'r mut ReadCount,
}

impl FileReading<'_> {
    /// Discards the fold.
    fn begin_anew(&mut self) {
        let file = &mut *self.file;
        file.fold = TrackedFile::fold_for(&file.place, file.timeouts);
        (file.fresh, file.endless, file.limit.beyond) = (true, false, false);
        if file.noting {
            file.collect_records();
        }
        self.problems.forget(self.name);
        self.count.restarted = true;
    }

    fn record(&mut self, record: &Record<'_>) {
        self.count.records += 1;
        if self.file.limit.admits(record) {
            match &mut self.file.fold {
                Fold::Main(fold) => fold.apply(record, self.effects),
                Fold::Agent(fold) => fold.apply(record),
            }
        }
    }

    fn line(&mut self, report: &LineReport) {
        self.problems.note_line(self.name, report);
    }

    fn huge_line(&mut self) {
        if !std::mem::take(&mut self.file.endless) {
            self.problems.count(self.name, ProblemKind::HugeLine);
        }
    }

    /// An unfinished line may never end: a file of zeros is one such line.
    fn carried(&mut self, bytes: u64) {
        if !self.file.endless && bytes > LINE_CAP as u64 {
            self.file.endless = true;
            self.problems.count(self.name, ProblemKind::HugeLine);
        }
    }
}

/// A file after its first read by a worker.
pub struct Loaded {
    /// Where it lies.
    pub path: PathBuf,
    /// The file, folded to its end; `None` if it could not be read.
    pub file: Option<TrackedFile>,
    /// The problems of the read.
    pub problems: Problems,
    /// The counts of the read.
    pub count: ReadCount,
}

/// The terms for the first read of files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LoadOptions {
    /// The source document's timeouts.
    pub timeouts: Timeouts,
    /// Use only records up to this time.
    pub until: Option<Timestamp>,
    /// Note the memory of each record, to store it.
    pub keep: bool,
    /// The excluded folders.
    pub exclude: Exclude,
}

fn says_finished(bytes: &[u8]) -> bool {
    serde_json::from_slice::<serde_json::Value>(bytes)
        .is_ok_and(|meta| meta.get("finished").and_then(serde_json::Value::as_bool) == Some(true))
}

/// Bytes that a worker reads before it checks again whether the result is still wanted.
const LOAD_BUDGET: u64 = 64 << 20;

/// Reads a whole file. Workers of the first scan call this. `wanted` returns `false` to end the read.
pub fn load(
    fs: &dyn Fs,
    path: PathBuf,
    place: ClientPath,
    terms: LoadOptions,
    scratch: &mut Vec<u8>,
    wanted: &dyn Fn() -> bool,
) -> Loaded {
    let mut file = TrackedFile::new(place, terms.timeouts, terms.until).with_exclude(&terms.exclude);
    if terms.keep {
        file.collect_records();
    }
    let mut problems = Problems::default();
    let mut effects = Vec::new();
    let mut count = ReadCount::default();
    let mut readable = true;
    if terms.until.is_none() {
        // A look at the past does not use the companion, because that has no times.
        file.read_meta(fs, &path);
    }
    while wanted() {
        match file.read(fs, &path, LOAD_BUDGET, scratch, &mut problems, &mut effects) {
            Ok(more) => {
                effects.clear();
                count.bytes += more.bytes;
                count.records += more.records;
                if !more.more {
                    break;
                }
            }
            Err(error) => {
                // A file that has vanished since the scan is no problem.
                if !matches!(error, TailError::Gone) {
                    problems.note_tail(&path, &error);
                }
                readable = false;
                break;
            }
        }
    }
    Loaded { path, file: readable.then_some(file), problems, count }
}
