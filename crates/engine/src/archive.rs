//! Archived transcripts: read as if their files were still there, and kept up to date; [`offer`] says what that would take.

mod offer;
mod stock;

use std::collections::HashSet;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use watchbill_core::history::ArchiveSettings;
use watchbill_core::history::Exclude;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_core::transcript::line_splitter::{LineSplitter, Split};
use watchbill_core::transcript::parse::parse_line;
use watchbill_store::archive::plan::{ArchivePlan, Candidate, plan};
use watchbill_store::archive::{ARCHIVE, Archive, Original, frames::Frames};
use watchbill_store::tables::archive::ArchiveRow;
use watchbill_store::{Mode, Store, StoreError};
use watchbill_watch::fs::{FileId, FileKind, FileStat, Fs, Name, ReadAt, Walk, Want, is_gone};
use watchbill_watch::layout::Place;
use watchbill_watch::scan::{Found, scan};

use crate::environment::World;
use crate::left_out::is_told_of;
use crate::transcripts::META_LIMIT;
use watchbill_settings::Settings;

pub use offer::{Offer, offer, offer_at};
pub use stock::Stock;

/// So far into a file its records name their session.
const FIRST_RECORDS: usize = 256 << 10;
/// How the file beside a subagent's transcript ends that says which call it belongs to.
const META: &str = ".meta.json";
/// The agent's own settings are a few kilobytes.
const AGENT_SETTINGS_LIMIT: u64 = 1 << 20;
/// What the agent removes by itself is so old, unless the person has told it otherwise (`cleanupPeriodDays`).
const CLEANUP_DAYS: i64 = 30;
const DAY: i64 = 86_400_000;

/// The world with archived transcripts in the places of those that are gone, also of those that are archived from now on.
/// Without a data folder the world as it is.
pub fn with_archive(world: World, settings: &Settings) -> World {
    match settings.data_dir.as_deref() {
        Some(data_dir) => World { fs: Arc::new(ArchivedFs::over(world.fs, data_dir)), ..world },
        None => world,
    }
}

/// A file system in which a transcript that was archived is there, whether its file is or not.
pub struct ArchivedFs {
    real: Arc<dyn Fs>,
    archive: Archive,
    data_dir: PathBuf,
    /// Where the archive lies, once there is one.
    folder: PathBuf,
    /// Opened when it is first needed, and again after it failed.
    store: Mutex<Option<Store>>,
}

impl ArchivedFs {
    /// Over another file system.
    pub fn over(real: Arc<dyn Fs>, data_dir: &Path) -> Self {
        let archive = Archive::new(data_dir);
        let folder = data_dir.join(ARCHIVE);
        Self { real, archive, data_dir: data_dir.to_path_buf(), folder, store: Mutex::new(None) }
    }

    /// Asks the store. What it does not know or cannot say is not archived. Most people archive nothing: to them every
    /// missing file costs one look at a folder more.
    fn ask<T: Default>(&self, ask: impl FnOnce(&Store) -> Result<T, StoreError>) -> T {
        if !self.folder.is_dir() {
            return T::default();
        }
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        if !store.as_ref().is_some_and(Store::is_in_place) {
            *store = Store::open(&self.data_dir, Mode::Read).ok();
        }
        let Some(open) = &*store else { return T::default() };
        ask(open).unwrap_or_else(|error| {
            tracing::debug!(%error, "the archive cannot be asked");
            *store = None;
            T::default()
        })
    }

    /// What stood beside a subagent's transcript that is archived: it goes along.
    fn companion(&self, path: &Path) -> Option<Vec<u8>> {
        let transcript = format!("{}.jsonl", path.to_str()?.strip_suffix(META)?);
        let row = self.ask(|store| store.archived(&transcript))?;
        Some(self.archive.open(&row).ok()?.label()?.meta.clone()?.into_bytes())
    }

    fn archived(&self, path: &Path) -> Option<ArchiveRow> {
        // Nothing but transcripts is archived; other files are asked for that are seldom there, `.git` above all.
        let path = path.to_str().filter(|path| path.ends_with(".jsonl"))?;
        self.ask(|store| store.archived(path))
    }
}

/// The one that stands in says what the transcript itself said, so that nothing seems to have changed.
fn stat_of(row: &ArchiveRow) -> FileStat {
    let id = FileId { dev: row.dev, ino: row.inode };
    FileStat { id, len: row.bytes, mtime: row.mtime, kind: FileKind::File }
}

impl Fs for ArchivedFs {
    fn stat(&self, path: &Path) -> io::Result<FileStat> {
        match self.real.stat(path) {
            Err(error) if is_gone(&error) => self.archived(path).map(|row| stat_of(&row)).ok_or(error),
            other => other,
        }
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadAt>> {
        match self.real.open(path) {
            Err(error) if is_gone(&error) => {
                let row = self.archived(path).ok_or(error)?;
                let frames = self.archive.open(&row).map_err(io::Error::other)?;
                Ok(Box::new(ArchivedFile { frames, stat: stat_of(&row) }))
            }
            other => other,
        }
    }

    fn open_again(&self, path: &Path, named: &FileStat) -> io::Result<Box<dyn ReadAt>> {
        match self.real.open_again(path, named) {
            Err(error) if is_gone(&error) => self.open(path),
            other => other,
        }
    }

    fn close_unread(&self) {
        self.real.close_unread();
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<Name>> {
        self.real.list(dir)
    }

    fn walk(&self, top: &Path, want: &mut dyn FnMut(&Path, FileKind) -> Want) -> Walk {
        let mut walk = self.real.walk(top, want);
        let known: HashSet<&Path> = walk.files.iter().map(|(path, _)| &**path).collect();
        let mut gone = Vec::new();
        for row in self.ask(Store::all_archived) {
            let path = PathBuf::from(&row.path);
            let new = path.starts_with(top) && !known.contains(&*path);
            if new && want(&path, FileKind::File) != Want::Nothing {
                gone.push((path, stat_of(&row)));
            }
        }
        walk.files.extend(gone);
        walk
    }

    /// Companions of archived transcripts are read alone: neither is looked for, nor do they change.
    fn read_small(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        match self.real.read_small(path, limit) {
            Err(error) if is_gone(&error) => self.companion(path).ok_or(error),
            other => other,
        }
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        match self.real.canonical(path) {
            Err(error) if is_gone(&error) && self.archived(path).is_some() => Ok(path.to_path_buf()),
            other => other,
        }
    }
}

/// An archived transcript in its file's place.
struct ArchivedFile {
    frames: Frames,
    stat: FileStat,
}

impl ReadAt for ArchivedFile {
    fn stat(&self) -> io::Result<FileStat> {
        Ok(self.stat)
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.frames.read_at(buf, offset)
    }

    fn try_all(&self) -> io::Result<()> {
        io::copy(&mut self.frames.reader(), &mut io::sink()).map(drop)
    }
}

/// An open file from its beginning.
pub(crate) struct FromStart {
    pub file: Box<dyn ReadAt>,
    pub at: u64,
}

impl Read for FromStart {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buf, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

/// How the person has set the agent's own clean-up. Its settings are read for this alone.
fn cleanup_days(fs: &dyn Fs, root: &Path) -> i64 {
    let read = |name: &str| {
        let bytes = fs.read_small(&root.join(name), AGENT_SETTINGS_LIMIT).ok()?;
        serde_json::from_slice::<serde_json::Value>(&bytes).ok()?.get("cleanupPeriodDays")?.as_i64()
    };
    read("settings.json").filter(|days| *days > 0).unwrap_or(CLEANUP_DAYS)
}

fn transcripts(fs: &dyn Fs, roots: &[PathBuf]) -> Vec<Found> {
    scan(fs, roots).found.into_iter().filter(|found| found.kind.is_transcript()).collect()
}

/// What somebody does with the store while it is theirs.
pub type Use<'u> = &'u mut dyn FnMut(&mut Store) -> Result<(), StoreError>;

/// What is to be packed and given up now.
pub struct Due {
    found: Vec<Found>,
    plan: ArchivePlan,
    settings: ArchiveSettings,
}

/// Decides what is due. Of sessions that `left_out` names nothing is archived.
pub fn due(
    fs: &dyn Fs,
    roots: &[PathBuf],
    rows: &[ArchiveRow],
    left_out: &dyn Fn(&Found) -> bool,
    settings: &ArchiveSettings,
    now: Timestamp,
) -> Due {
    let found: Vec<Found> = transcripts(fs, roots).into_iter().filter(|found| !left_out(found)).collect();
    let days = roots.iter().map(|root| cleanup_days(fs, root)).min().unwrap_or(CLEANUP_DAYS);
    // Before the agent comes: half its time, where the person has made that short.
    let settings = ArchiveSettings { after: settings.after.min(Millis(days * DAY / 2)), ..*settings };
    let candidates: Vec<Candidate> = found
        .iter()
        .map(|found| Candidate {
            path: found.path.to_string_lossy().into_owned(),
            bytes: found.stat.len,
            mtime: found.stat.mtime,
        })
        .collect();
    let plan = plan(&candidates, rows, &settings, now);
    Due { found, plan, settings }
}

impl Due {
    /// Whether nothing is left to do.
    pub fn is_done(&self) -> bool {
        self.plan.pack.is_empty() && self.plan.prune.is_empty()
    }

    /// Gives one up, or packs one, unless it tells of what `exclude` leaves out. The store is locked by `with_store` for as long as it is written only.
    ///
    /// Says whether one was packed.
    ///
    /// # Errors
    /// When the store or the archive cannot be written. A transcript that cannot be read is left out.
    pub fn do_one(
        &mut self,
        fs: &dyn Fs,
        data_dir: &Path,
        exclude: &Exclude,
        now: Timestamp,
        with_store: &mut dyn FnMut(Use<'_>) -> Result<(), StoreError>,
    ) -> Result<bool, StoreError> {
        let archive = Archive::new(data_dir);
        if let Some(path) = self.plan.prune.pop() {
            let mut void = None;
            with_store(&mut |store| {
                void = store.archived(&path)?.map(|row| row.file);
                let mut step = store.step()?;
                step.remove_archived(&path)?;
                step.commit()
            })?;
            void.iter().for_each(|file| archive.remove(file));
            return Ok(false);
        }
        let Some(found) = self.plan.pack.pop().and_then(|number| self.found.get(number)) else {
            return Ok(false);
        };
        let path = found.path.to_string_lossy();
        let Some((session, subagent)) = owner(fs, found) else { return Ok(false) };
        if is_told_of(fs, &found.path, exclude) {
            return Ok(false);
        }
        let mut known = None;
        with_store(&mut |store| {
            known = store.archived(&path)?;
            Ok(())
        })?;
        let FileId { dev, ino } = found.stat.id;
        let meta = subagent.as_ref().and_then(|_| {
            let text = fs.read_small(&found.path.with_extension(&META[1..]), META_LIMIT).ok()?;
            String::from_utf8(text).ok()
        });
        let original = Original {
            path: &path,
            session_id: &session,
            subagent: subagent.as_deref(),
            mtime: found.stat.mtime,
            id: (dev, ino),
            meta: meta.as_deref(),
        };
        let mut open = || -> io::Result<Box<dyn Read>> {
            Ok(Box::new(FromStart { file: fs.open(&found.path)?, at: 0 }))
        };
        let packed = archive.pack_again(&original, &mut open, known.as_ref(), self.settings.level, now)?;
        with_store(&mut |store| {
            let mut step = store.step()?;
            step.put_archived(&packed.row)?;
            packed.earlier.iter().try_for_each(|earlier| step.put_archived(earlier))?;
            step.commit()
        })?;
        packed.void.iter().for_each(|file| archive.remove(file));
        Ok(true)
    }
}

/// Whose transcript it is: forgetting the session is forgetting this too.
pub fn owner(fs: &dyn Fs, found: &Found) -> Option<(String, Option<String>)> {
    match found.place()? {
        Place::Transcript { session, .. } => Some((session.to_string(), None)),
        Place::Subagent { session, agent, .. } => Some((session.to_string(), Some(agent.to_string()))),
        Place::FlatSubagent { agent, .. } => Some((named_session(fs, &found.path)?, Some(agent.to_string()))),
        _ => None,
    }
}

/// The session that the first records of a file name.
fn named_session(fs: &dyn Fs, path: &Path) -> Option<String> {
    let file = fs.open(path).ok()?;
    let mut head = vec![0; FIRST_RECORDS];
    let count = file.read_at(&mut head, 0).ok()?;
    let mut named = None;
    LineSplitter::default().push(&head[..count], &mut |split| {
        if let (Split::Line(line), None) = (split, &named) {
            parse_line(line.bytes, &mut |record| {
                named = record.envelope.session_id.as_deref().filter(|id| !id.is_empty()).map(str::to_owned);
            });
        }
    });
    named
}

#[cfg(test)]
mod tests;
