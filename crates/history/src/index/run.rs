//! Brings the store up to date with the transcripts, in one go and as fast as possible: `watchbill index`.

use std::collections::HashMap;
use std::time::Instant;

use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::socket::IndexProgress;
use watchbill_protocol::store::IndexReport;
use watchbill_store::tables::files::FileCursor;
use watchbill_store::{Access, FileKey, OpenMode, Store, StoreError};
use watchbill_watch::scan::{Found, scan};

use watchbill_settings::Settings;
use watchbill_watch::clock::{Clock, SystemClock};
use watchbill_watch::fs::Fs;

use super::archive_after_run;
use super::files::{CUT_META, HistoryIndex, MAX_READY};
use super::index_observer::IndexObserver;
use super::indexed::{FileReadCounts, IndexError};
use crate::errors::{data_dir, store_api_error};
use crate::live_state::LiveState;
use crate::query::owner::ForgottenSessions;
use crate::removal::exclude_later;

/// A transaction ends after this many bytes of transcripts, or this many files. This limits what an unclean exit
/// costs, and how long a reader of the store waits during a first index. With four times as many files, a busy
/// machine refuses readers.
const STEP_BYTES: u64 = 64 << 20;
const STEP_FILES: usize = 48;
const _: () = assert!(STEP_FILES <= MAX_READY, "the files of one step are taken up before it begins");
/// From this many bytes on, the full-text index is built in large pieces.
const BULK_BYTES: u64 = 8 << 20;
/// Options of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Reads all files anew, even if they are stored.
    pub full: bool,
    /// Stored bytes of each tool's input and output; `None` keeps the previous limit.
    pub cut: Option<usize>,
}

/// The outcome of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Indexed {
    /// This process has done it.
    Here(IndexReport),
    /// Another process writes the store, and keeps it up to date.
    ByAnother {
        /// Its process id, if known.
        pid: Option<u32>,
    },
}

/// Stores the new part of all transcripts. `progress` is called after each read and ends the run by returning
/// `false`; everything read until then stays. The `companion` receives the files that the store did not know, from
/// the same reading.
///
/// # Errors
/// When the store cannot be opened or written.
pub fn run<C: IndexObserver>(
    settings: &Settings,
    fs: &dyn Fs,
    options: Options,
    live: &dyn LiveState,
    companion: &mut C,
    progress: &mut dyn FnMut(&IndexProgress) -> bool,
) -> Result<Indexed, ApiError> {
    let begun = Instant::now();
    if let Some(doubt) = &settings.doubt {
        return Err(ApiError::new(ErrorCode::Invalid, &**doubt));
    }
    let data_dir = data_dir(settings)?;
    let mut store = match Store::open(data_dir, OpenMode::WriteOrRead) {
        Ok(store) => store,
        // Only a reader gets these errors: another process creates the store at this moment.
        Err(StoreError::BeingFilled { .. } | StoreError::Absent { .. }) => {
            return Ok(Indexed::ByAnother { pid: watchbill_store::last_writer(data_dir) });
        }
        Err(error) => return Err(store_api_error(&error)),
    };
    if let Access::Reader { held_by } = store.access() {
        return Ok(Indexed::ByAnother { pid: held_by });
    }
    let updated = update(&mut store, settings, fs, options, live, companion, progress);
    let mut report = updated.map_err(|error| store_api_error(&error))?;
    if !report.interrupted {
        let so_far = IndexProgress { bytes: report.bytes, total_bytes: report.bytes };
        let mut go_on = || progress(&so_far);
        archive_after_run::archive(&mut store, settings, fs, &mut report, &mut go_on)
            .map_err(|error| store_api_error(&error))?;
    }
    let behind = store.sessions_without_rows().map_err(|error| store_api_error(&error))?.is_some();
    if behind && !report.interrupted {
        companion.note_rows_behind();
    }
    report.seconds = begun.elapsed().as_secs_f64();
    Ok(Indexed::Here(report))
}

fn update<C: IndexObserver>(
    store: &mut Store,
    settings: &Settings,
    fs: &dyn Fs,
    options: Options,
    live: &dyn LiveState,
    companion: &mut C,
    progress: &mut dyn FnMut(&IndexProgress) -> bool,
) -> Result<IndexReport, StoreError> {
    let roots = settings.stored_roots();
    let now = SystemClock.now();
    let unread = exclude_later::remove_excluded(store, fs, live, &settings.history, &roots, now)?;
    store.finish_wiping()?;
    let before: Option<usize> = store.meta(CUT_META)?.and_then(|cut| cut.parse().ok());
    let cut = options.cut.or(before).unwrap_or(settings.history.cut);
    // Another limit changes the texts of every file.
    let full = options.full || before.is_some_and(|before| before != cut);
    let cut_before = store.totals()?.cut_bytes;
    let scan = scan(fs, &roots);
    let problems = scan.problems.iter().filter(|problem| problem.kind.loses_something()).count();
    let mut report = IndexReport { problems: problems as u64 + unread, ..IndexReport::default() };
    let forgotten = ForgottenSessions::of(store)?;
    let is_left_out = |found: &Found| settings.history.exclude.excludes(&found.path.to_string_lossy());
    let is_wanted =
        |found: &Found| found.kind.is_transcript() && !forgotten.has(found) && !is_left_out(found);
    let mut files: Vec<Found> = scan.found.into_iter().filter(is_wanted).collect();
    report.files = files.len() as u64;
    let known = known(store)?;
    files.retain(|found| full || !is_stored(found, &known));
    begin(store, cut, full, &known, !files.is_empty())?;
    report.skipped = report.files - files.len() as u64;
    // Stores the newest texts last, because a search finds the last texts first.
    files.reverse();
    let stored =
        |found: &Found| known.get(&*found.path.to_string_lossy()).map_or(0, |(_, cursor)| cursor.offset);
    let left =
        |found: &Found| if full { found.stat.len } else { found.stat.len.saturating_sub(stored(found)) };
    let total_bytes = files.iter().map(left).sum();
    let mut index = HistoryIndex::new(settings.history.clone(), store)?;
    companion.expect(&files, &mut known.keys().map(String::as_str));
    let mut run =
        IndexRun { fs, companion, known, full, total_bytes, report, progress, unreadable_known: Vec::new() };
    if total_bytes > BULK_BYTES {
        store.begin_bulk_insert()?;
    }
    let written = run.all(store, &mut index, &files);
    if total_bytes > BULK_BYTES {
        store.end_bulk_insert()?;
    }
    written?;
    let mut report = run.report;
    report.cut_bytes = store.totals()?.cut_bytes.saturating_sub(cut_before);
    Ok(report)
}

/// The key and the cursor of each stored file.
type StoredFiles = HashMap<String, (FileKey, FileCursor)>;

fn known(store: &Store) -> Result<StoredFiles, StoreError> {
    let mut known = HashMap::new();
    store.files(&mut |key, file| {
        known.insert(file.path, (key, file.cursor));
    })?;
    Ok(known)
}

/// Notes the limit and, if there are `new` files, that session rows will be behind. A full run also marks every file
/// as behind, so that the next run goes on if this one is ended.
fn begin(
    store: &mut Store,
    cut: usize,
    full: bool,
    known: &StoredFiles,
    new: bool,
) -> Result<(), StoreError> {
    let mut step = store.step()?;
    step.set_meta(CUT_META, &cut.to_string())?;
    if new {
        step.mark_rows_behind()?;
    }
    for (file, _) in known.values().filter(|_| full) {
        step.set_cursor(*file, &FileCursor::default())?;
    }
    step.commit()
}

/// Whether the file is unchanged since it was stored.
fn is_stored(found: &Found, known: &StoredFiles) -> bool {
    known.get(&*found.path.to_string_lossy()).is_some_and(|(_, cursor)| {
        (cursor.size, cursor.mtime) == (found.stat.len, found.stat.mtime)
            && (cursor.dev, cursor.inode) == (found.stat.id.dev, found.stat.id.ino)
    })
}

struct IndexRun<'r, C> {
    fs: &'r dyn Fs,
    companion: &'r mut C,
    known: StoredFiles,
    /// The rows of known files are removed before the files are read anew.
    full: bool,
    total_bytes: u64,
    report: IndexReport,
    /// Known files that cannot be read now; their rows and cursors stay.
    unreadable_known: Vec<(FileKey, FileCursor)>,
    progress: &'r mut dyn FnMut(&IndexProgress) -> bool,
}

impl<C: IndexObserver> IndexRun<'_, C> {
    fn all(
        &mut self,
        store: &mut Store,
        index: &mut HistoryIndex,
        files: &[Found],
    ) -> Result<(), StoreError> {
        let mut rest = files;
        while let (false, [_, ..]) = (self.report.interrupted, rest) {
            let mut bytes = 0;
            let fits = |found: &&Found| {
                let room = bytes < STEP_BYTES;
                bytes += found.stat.len;
                room
            };
            let (batch, others) = rest.split_at(rest.iter().take(STEP_FILES).take_while(fits).count());
            let batch: Vec<&Found> = batch.iter().filter(|found| self.is_readable(found)).collect();
            self.remove(store, &batch)?;
            for found in &batch {
                if let Some(place) = found.place() {
                    index.restore_file(store, &found.path, &place)?;
                }
            }
            self.batch(store, index, &batch)?;
            rest = others;
            tracing::debug!(files = batch.len(), left = rest.len(), "a step is stored");
        }
        Ok(())
    }

    /// Whether the file can be read now. If not, its stored rows stay: they are more than a new reading would give.
    fn is_readable(&mut self, found: &Found) -> bool {
        let Some((file, cursor)) = self.known.get(&*found.path.to_string_lossy()) else { return true };
        let tried = self.fs.open(&found.path).and_then(|file| file.check_readable());
        if let Err(error) = &tried {
            tracing::warn!(path = %found.path.display(), %error, "the transcript cannot be read; its stored rows stay");
            self.report.problems += 1;
            self.unreadable_known.push((*file, *cursor));
        }
        tried.is_ok()
    }

    /// Removes the stored rows of files that are read anew.
    fn remove(&mut self, store: &mut Store, batch: &[&Found]) -> Result<(), StoreError> {
        let files: Vec<FileKey> = batch
            .iter()
            .filter(|_| self.full)
            .filter_map(|found| Some(self.known.get(&*found.path.to_string_lossy())?.0))
            .collect();
        let spared: Vec<_> = self.unreadable_known.drain(..).filter(|_| self.full).collect();
        if files.is_empty() && spared.is_empty() {
            return Ok(());
        }
        let mut step = store.step()?;
        for (file, cursor) in spared {
            step.set_cursor(file, &cursor)?;
        }
        for file in files {
            step.reset_file(file)?;
        }
        step.commit()
    }

    /// Reads files to their ends. A very large one takes several steps.
    fn batch(
        &mut self,
        store: &mut Store,
        index: &mut HistoryIndex,
        batch: &[&Found],
    ) -> Result<(), StoreError> {
        let mut step = store.step()?;
        let fs = self.fs;
        for found in batch {
            let is_new = !self.known.contains_key(&*found.path.to_string_lossy());
            let place = found.place().filter(|_| is_new);
            let mut beside = place.map(|place| self.companion.begin(&found.path, place));
            let mut skipped = false;
            loop {
                let more = match index.read_both(fs, &mut step, &found.path, STEP_BYTES, beside.as_mut()) {
                    Ok(indexed) => {
                        skipped = indexed.skipped;
                        self.count(&indexed)
                    }
                    Err(IndexError::Store(error)) => return Err(error),
                    // The file is gone or may not be read. The run goes on with the others.
                    Err(IndexError::File(error)) => {
                        tracing::debug!(path = %found.path.display(), %error, "not stored");
                        self.report.problems += 1;
                        beside = None;
                        false
                    }
                };
                if !more || self.report.interrupted {
                    break;
                }
                step.commit()?;
                step = store.step()?;
            }
            if self.report.interrupted {
                break;
            }
            if let Some(file) = beside {
                self.companion.end(&mut step, file, skipped)?;
            }
        }
        step.commit()
    }

    /// Adds to the report and reports the progress. Returns whether the file has more to read.
    fn count(&mut self, read: &FileReadCounts) -> bool {
        self.report.bytes += read.bytes;
        self.report.records += read.records;
        self.report.texts += read.texts;
        self.report.problems += read.problems;
        self.report.unknown_records += read.unknown;
        let progress = IndexProgress { bytes: self.report.bytes, total_bytes: self.total_bytes };
        self.report.interrupted = !(self.progress)(&progress);
        read.more
    }
}
