//! A file system that shows the sessions of agents' databases as transcripts.
//!
//! A database is the folder of its sessions: `opencode.db/<session>.jsonl`. Such a file has the lines of all rows of its session in
//! the order of their times, and grows at its end as the agent writes rows. A row that changes its past, or takes it back, makes it a
//! rewritten file. No text is kept in memory: only each line's time and length.

mod shown;

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use watchbill_agents::{Agent, traits, traits::Database};
use watchbill_core::ids::stable_hash;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_store::foreign::ForeignDatabase;
use watchbill_store::{OpenMode, Store};
use watchbill_watch::clock::{Clock, SystemClock};
use watchbill_watch::fs::{FileId, FileKind, FileStat, Fs, Name, ReadAt, Walk, WalkChoice, problem_of};

use shown::{KnownSession, ShownFile, ShownSession};

/// How many sessions' lines are remembered. More sessions than this seldom grow at once.
const REMEMBERED: usize = 16;

/// Two changes within this time can have one time, so a change that is not older than this is looked at again.
const SETTLED: Millis = Millis::from_secs(1);

/// A file system in which each session of an agent's database has a transcript.
pub struct DatabaseFs {
    real: Arc<dyn Fs>,
    data_dir: Option<PathBuf>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The sessions whose lengths the store was asked for.
    asked: HashSet<PathBuf>,
    /// By path.
    sessions: HashMap<PathBuf, KnownSession>,
    /// The last read session at the end.
    shown: Vec<(PathBuf, Arc<ShownSession>)>,
}

/// The time before which each change has a time of its own, in milliseconds.
fn settled() -> i64 {
    (SystemClock.now() - SETTLED).as_millis()
}

/// A path below a database.
struct Place<'p> {
    database: &'static Database,
    file: &'p Path,
    /// Empty for the database itself.
    below: &'p Path,
}

impl<'p> Place<'p> {
    fn of(path: &'p Path) -> Option<Self> {
        let text = path.to_str()?;
        Agent::ALL.into_iter().find_map(|agent| {
            let database = traits(agent).layout.database?;
            // Most paths belong to no database, and splitting a path takes longer.
            text.contains(database.file).then_some(())?;
            let is_it = |above: &&Path| above.file_name().is_some_and(|name| name == database.file);
            let file = path.ancestors().find(is_it)?;
            Some(Self { database, file, below: path.strip_prefix(file).ok()? })
        })
    }

    /// The session that is shown at the path.
    fn session(&self) -> Option<&'p str> {
        (self.database.session_of)(self.below)
    }
}

impl DatabaseFs {
    /// Wraps another file system. The store of `data_dir` knows the lengths of sessions that did not change since the last start.
    pub fn over(real: Arc<dyn Fs>, data_dir: Option<&Path>) -> Self {
        Self { real, data_dir: data_dir.map(Path::to_owned), state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic cannot leave it half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lines of a session as they are now. What is new is read.
    fn look(&self, path: &Path, place: &Place<'_>, sql: &ForeignDatabase) -> io::Result<ShownFile> {
        let session = place.session().ok_or(io::ErrorKind::NotFound)?;
        let before =
            self.state().shown.iter().find(|(known, _)| known == path).map(|(_, shown)| Arc::clone(shown));
        let (shown, texts) = ShownSession::read(place.database, sql, session, before.as_deref(), settled())?;
        let known = shown.known();
        let shown = Arc::new(shown);
        let mut state = self.state();
        state.sessions.insert(path.to_owned(), known);
        state.shown.retain(|(other, _)| other != path);
        if state.shown.len() >= REMEMBERED {
            state.shown.remove(0);
        }
        state.shown.push((path.to_owned(), Arc::clone(&shown)));
        Ok(ShownFile::new(place.database, shown, texts))
    }

    /// The session at the path, read anew only if it may have changed.
    fn known(
        &self,
        path: &Path,
        place: &Place<'_>,
        sql: &ForeignDatabase,
        updated: Option<i64>,
    ) -> io::Result<KnownSession> {
        let session = place.session().ok_or(io::ErrorKind::NotFound)?;
        let known = self.state().sessions.get(path).copied();
        let settled = settled();
        let is_same = |known: &KnownSession| {
            known.changed < settled && updated.is_none_or(|updated| updated == known.updated)
        };
        if let Some(known) = known.filter(|known| !known.is_open && updated.is_some() && is_same(known)) {
            return Ok(known);
        }
        let newest = shown::newest(place.database, sql, session)?;
        let is_it = |known: &KnownSession| {
            let same = (known.changed, known.parts) == (newest.changed, newest.parts);
            // The store knows when the newest line came. What follows the end of a turn brings none.
            let room = if newest.is_open { 0 } else { place.database.quiet };
            let stored = known.parts < 0 && newest.changed - known.written <= room;
            (same || stored) && newest.changed < settled
        };
        let Some(known) = known.filter(is_it) else {
            return self.look(path, place, sql).map(|file| file.known());
        };
        let known = KnownSession { len: known.len, written: known.written, ..newest };
        self.state().sessions.insert(path.to_owned(), known);
        Ok(known)
    }

    /// Takes the lengths of a database's sessions that this process does not know from the store.
    fn take_stored(&self, file: &Path) {
        let mut stored = Vec::new();
        let store = self.data_dir.as_deref().and_then(|data_dir| Store::open(data_dir, OpenMode::Read).ok());
        if let Some(store) = store {
            let all = store.files(&mut |_, row| {
                let path = PathBuf::from(row.path);
                if path.starts_with(file) {
                    stored.push((path, row.cursor.size, row.cursor.mtime.as_millis()));
                }
            });
            if let Err(error) = all {
                tracing::debug!(%error, "the store cannot tell the lengths of sessions");
            }
        }
        let mut state = self.state();
        for (path, len, changed) in stored {
            let known = KnownSession { updated: i64::MIN, ..KnownSession::unread(changed, len) };
            state.sessions.entry(path).or_insert(known);
        }
    }

    /// All sessions of a database. One that was never read has its share of the database as its length: showing its lines would
    /// take as long as reading it. Its first reading tells the true one.
    fn all(
        &self,
        place: &Place<'_>,
        want: &mut dyn FnMut(&Path, FileKind) -> WalkChoice,
    ) -> io::Result<Walk> {
        let of_file = self.real.stat(place.file)?;
        let sql = ForeignDatabase::open(place.file)?;
        let sessions = shown::sessions(place.database, &sql)?;
        let is_known = |below: &Path| self.state().sessions.contains_key(&place.file.join(below));
        let unknown = sessions.iter().filter(|(below, _)| !is_known(below));
        let unknown: Vec<PathBuf> = unknown.map(|(below, _)| place.file.join(below)).collect();
        if !unknown.iter().all(|path| self.state().asked.contains(path)) {
            // An earlier process may have read them.
            self.take_stored(place.file);
            self.state().asked.extend(unknown);
        }
        // It stays the same while the database grows a little: another length would be a change.
        let share = (of_file.len / sessions.len().max(1) as u64 + 1).next_power_of_two();
        let mut problems = Vec::new();
        let mut files = Vec::with_capacity(sessions.len());
        for (below, updated) in &sessions {
            let path = place.file.join(below);
            if want(&path, FileKind::File) == WalkChoice::Skip {
                continue;
            }
            let inner = Place { below, ..*place };
            let known = match is_known(below) {
                true => self.known(&path, &inner, &sql, Some(*updated)),
                false => Ok(KnownSession::unread(*updated, share)),
            };
            match known {
                Ok(known) => files.push((path, stat_of(&inner, &of_file, known))),
                // A session that cannot be read hides no other.
                Err(error) => problems.extend(problem_of(&path, &error)),
            }
        }
        let here: HashSet<&Path> = files.iter().map(|(path, _)| &**path).collect();
        self.state().sessions.retain(|path, _| !path.starts_with(place.file) || here.contains(&**path));
        Ok(Walk { files, problems })
    }

    /// The session that is shown at a path, and its database.
    fn place<'p>(path: &'p Path) -> Option<Place<'p>> {
        Place::of(path).filter(|place| place.session().is_some())
    }
}

fn stat_of(place: &Place<'_>, of_file: &FileStat, known: KnownSession) -> FileStat {
    let ino = stable_hash(place.session().unwrap_or_default().as_bytes());
    let mtime = Timestamp::from_millis(known.written);
    FileStat { id: FileId { dev: of_file.id.dev, ino }, len: known.len, mtime, kind: FileKind::File }
}

impl Fs for DatabaseFs {
    fn stat(&self, path: &Path) -> io::Result<FileStat> {
        let Some(place) = Self::place(path) else { return self.real.stat(path) };
        let of_file = self.real.stat(place.file)?;
        let sql = ForeignDatabase::open(place.file)?;
        Ok(stat_of(&place, &of_file, self.known(path, &place, &sql, None)?))
    }

    fn changed_at(&self, path: &Path) -> io::Result<Timestamp> {
        match Self::place(path) {
            Some(_) => self.stat(path).map(|stat| stat.mtime),
            None => self.real.changed_at(path),
        }
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadAt>> {
        let Some(place) = Self::place(path) else { return self.real.open(path) };
        let of_file = self.real.stat(place.file)?;
        let sql = ForeignDatabase::open(place.file)?;
        let file = self.look(path, &place, &sql)?;
        let stat = stat_of(&place, &of_file, file.known());
        Ok(Box::new(file.opened(sql, stat)))
    }

    fn open_again(&self, path: &Path, named: &FileStat) -> io::Result<Box<dyn ReadAt>> {
        match Self::place(path) {
            Some(_) => self.open(path),
            None => self.real.open_again(path, named),
        }
    }

    fn close_unread(&self) {
        self.real.close_unread();
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<Name>> {
        self.real.list(dir)
    }

    fn walk(&self, top: &Path, want: &mut dyn FnMut(&Path, FileKind) -> WalkChoice) -> Walk {
        let Some(place) = Place::of(top) else { return self.real.walk(top, want) };
        if place.below.as_os_str().is_empty() && place.session().is_none() {
            let mut walk = Walk::default();
            match self.all(&place, want) {
                Ok(found) => walk = found,
                Err(error) => walk.problems.extend(problem_of(top, &error)),
            }
            return walk;
        }
        let is_wanted = want(top, FileKind::File) != WalkChoice::Skip;
        let files = self.stat(top).ok().filter(|_| is_wanted).map(|stat| (top.to_owned(), stat));
        Walk { files: files.into_iter().collect(), ..Walk::default() }
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        match Self::place(path) {
            Some(place) => Ok(self.real.canonical(place.file)?.join(place.below)),
            None => self.real.canonical(path),
        }
    }

    fn read_small(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        self.real.read_small(path, limit)
    }
}
