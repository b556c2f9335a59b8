//! Brings the store up to date with the transcripts, in one go and as fast as it can: `watchbill index`.

mod file;

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use watchbill_core::history::HistorySettings;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::store::IndexReport;
use watchbill_store::tables::files::FileCursor;
use watchbill_store::{Access, Mode, Store, StoreError};
use watchbill_watch::scan::{Found, scan};

use crate::engine::World;
use crate::settings::Settings;
use crate::stored::refusal;
use file::Reader;

/// A transaction is ended after so many bytes of transcripts, or so long: what an unclean exit costs at most.
const STEP_BYTES: u64 = 96 << 20;
const STEP_TIME: Duration = Duration::from_secs(2);
/// From so many bytes on the index is built in large pieces.
const MANY: u64 = 8 << 20;
/// Where the store remembers how much of each text is in it.
pub(crate) const CUT: &str = "index_cut";

/// How the store is brought up to date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Everything is read anew, whatever is stored.
    pub full: bool,
    /// Bytes of each tool's input and output that are stored; without it as before.
    pub cut: Option<usize>,
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Bytes that were read.
    pub bytes: u64,
    /// Bytes that there are to read.
    pub total_bytes: u64,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq)]
pub enum Indexed {
    /// It was done here.
    Here(IndexReport),
    /// Another process writes the store, and keeps it up to date.
    ByAnother {
        /// Which one, where that is known.
        pid: Option<u32>,
    },
}

/// Reads what is new in all transcripts into the store. `progress` is told now and then, and ends the run by `false`:
/// what was read until then stays.
///
/// # Errors
/// When the store cannot be opened or written.
pub fn run(
    settings: &Settings,
    world: &World,
    options: Options,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Indexed, ApiError> {
    let begun = Instant::now();
    let data_dir = settings.data_dir.as_deref().ok_or_else(|| {
        ApiError::new(ErrorCode::Unsupported, "no data folder is known; name one with --data-dir")
    })?;
    let mut store = Store::open(data_dir, Mode::WriteOrRead).map_err(|error| refusal(&error))?;
    if let Access::Reader { held_by } = store.access() {
        return Ok(Indexed::ByAnother { pid: held_by });
    }
    let mut report =
        update(&mut store, settings, world, options, progress).map_err(|error| refusal(&error))?;
    report.seconds = begun.elapsed().as_secs_f64();
    Ok(Indexed::Here(report))
}

fn update(
    store: &mut Store,
    settings: &Settings,
    world: &World,
    options: Options,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<IndexReport, StoreError> {
    let wanted = settings.history.clone();
    let before: Option<usize> = store.meta(CUT)?.and_then(|cut| cut.parse().ok());
    let cut = options.cut.or(before).unwrap_or(wanted.cut);
    // Another cut makes other texts of every file.
    let full = options.full || before.is_some_and(|before| before != cut);
    let wanted = HistorySettings { cut, ..wanted };

    let found = scan(&*world.fs, &settings.roots);
    let mut report = IndexReport { problems: found.problems.len() as u64, ..IndexReport::default() };
    let mut files: Vec<Found> = found.found.into_iter().filter(|found| found.place.is_transcript()).collect();
    report.files = files.len() as u64;
    let known = cursors(store)?;
    files.retain(|found| full || !is_stored(found, &known));
    report.skipped = report.files - files.len() as u64;
    // The newest texts shall be the last in the store: they are found first.
    files.reverse();
    let total_bytes = files.iter().map(|found| found.stat.len).sum();
    if total_bytes > MANY {
        store.begin_many()?;
    }
    let mut reader = Reader::new(world, wanted, settings.timeouts, kept_sessions(store)?, forgotten(store)?);
    let written = write(store, &files, &mut reader, total_bytes, &mut report, progress);
    if total_bytes > MANY {
        store.end_many()?;
    }
    written?;
    if !report.interrupted {
        let mut step = store.step()?;
        step.set_meta(CUT, &cut.to_string())?;
        step.commit()?;
    }
    Ok(report)
}

fn write(
    store: &mut Store,
    files: &[Found],
    reader: &mut Reader<'_>,
    total_bytes: u64,
    report: &mut IndexReport,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<(), StoreError> {
    let mut files = files.iter();
    while !files.as_slice().is_empty() && !report.interrupted {
        let begun = Instant::now();
        let until = report.bytes + STEP_BYTES;
        let mut step = store.step()?;
        for found in files.by_ref() {
            reader.read(&mut step, found, report)?;
            report.interrupted = !progress(&Progress { bytes: report.bytes, total_bytes });
            if report.interrupted || report.bytes >= until || begun.elapsed() >= STEP_TIME {
                break;
            }
        }
        step.commit()?;
    }
    Ok(())
}

fn cursors(store: &Store) -> Result<HashMap<String, FileCursor>, StoreError> {
    let mut known = HashMap::new();
    store.files(&mut |_, file| {
        known.insert(file.path, file.cursor);
    })?;
    Ok(known)
}

/// Nothing about the file has changed since it was stored.
fn is_stored(found: &Found, known: &HashMap<String, FileCursor>) -> bool {
    known.get(&*found.path.to_string_lossy()).is_some_and(|cursor| {
        (cursor.size, cursor.mtime) == (found.stat.len, found.stat.mtime)
            && (cursor.dev, cursor.inode) == (found.stat.id.dev, found.stat.id.ino)
    })
}

/// Sessions of which the running program keeps more than transcripts tell: their rows are left to it.
fn kept_sessions(store: &Store) -> Result<HashSet<String>, StoreError> {
    let mut kept = HashSet::new();
    store.sessions(&mut |_, session| {
        if session.row.is_some() {
            kept.insert(session.session_id);
        }
    })?;
    Ok(kept)
}

fn forgotten(store: &Store) -> Result<HashSet<String>, StoreError> {
    Ok(store.forgotten()?.iter().map(ToString::to_string).collect())
}
