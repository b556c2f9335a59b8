//! Opens the store: who writes, which schema, and what to do with a file that is damaged.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rusqlite::Connection;

use crate::at_hand::AtHand;
use crate::connect;
use crate::damage::{self, Suspicion};
use crate::index::{Care, Lag};
use crate::lock::{self, Asked, WriterLock};
use crate::log::{LogPages, note_length};
use crate::place::Place;
use crate::tables::meta::{INDEX_VERSION, UNINDEXED};
use crate::{StoreError, folder, salvage, schema, text};

/// Name of the database in the data folder.
pub const DATABASE: &str = "watchbill.db";
/// Name of the lock file in the data folder.
pub const LOCK: &str = "writer.lock";

/// What the caller wants to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Write, if no other process does; read otherwise.
    WriteOrRead,
    /// Read alone: nothing is made and nothing changed, but that what a killed first index has left is put right.
    Read,
}

/// What the caller may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// This process writes.
    Writer,
    /// This process reads, since it asked for no more or since another one writes.
    Reader {
        /// The process that writes, where the lock file names one.
        held_by: Option<u32>,
    },
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Nothing: the store is empty, and everything is to be read.
    Fresh,
    /// A database of this schema.
    Kept,
    /// A database of an older schema, which was brought up to date.
    Migrated {
        /// The version it had.
        from: u32,
    },
    /// A damaged file, which was set aside: everything that transcripts hold is to be read again.
    SetAside {
        /// Where the damaged file lies now.
        to: PathBuf,
        /// What was wrong with it.
        detail: String,
        /// How many rows were taken over that no transcript holds: names, links, archive, what was forgotten.
        saved: u64,
    },
}

/// An open store.
#[derive(Debug)]
pub struct Store {
    pub(crate) sql: Connection,
    path: PathBuf,
    access: Access,
    origin: Origin,
    pub(crate) care: Cell<Care>,
    pub(crate) lag: Cell<Option<Lag>>,
    /// As much as is in memory of what the index lags behind.
    pub(crate) at_hand: RefCell<AtHand>,
    pub(crate) log: LogPages,
    /// What is written goes into the database itself.
    pub(crate) unlogged: Cell<bool>,
    pub(crate) place: Place,
    /// Of all stores that this process has opened.
    number: u64,
    /// Held as long as the store is open. Dropped after the connection, since fields drop in order.
    _lock: Option<WriterLock>,
}

/// Another number for each store that is opened.
fn next_number() -> u64 {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    NUMBER.fetch_add(1, Ordering::Relaxed)
}

impl Store {
    /// Opens the store in `data_dir`.
    ///
    /// # Errors
    /// When there is nothing to read, the schema is newer, or the system refuses. A damaged file is no error for
    /// the writer: it is set aside, as [`origin`](Self::origin) says.
    pub fn open(data_dir: &Path, mode: Mode) -> Result<Self, StoreError> {
        if mode == Mode::Read {
            if is_half_written(&data_dir.join(DATABASE)) {
                // Only a writer may take the half step back. Where one is at it, there is nothing to put right.
                drop(Self::take_over(data_dir)?);
            }
            return Self::open_reader(data_dir, None);
        }
        folder::make_data(data_dir)?;
        match lock::ask(&data_dir.join(LOCK))? {
            Asked::Ours(lock) => Self::open_writer(data_dir, lock),
            Asked::Theirs(held_by) => Self::open_reader(data_dir, held_by),
        }
    }

    /// Opens the store to write, if no other process does; `None` where one does. For whoever reads until then: asking
    /// costs one look at a lock.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub fn take_over(data_dir: &Path) -> Result<Option<Self>, StoreError> {
        match lock::ask(&data_dir.join(LOCK))? {
            Asked::Ours(lock) => Self::open_writer(data_dir, lock).map(Some),
            Asked::Theirs(_) => Ok(None),
        }
    }

    fn open_writer(data_dir: &Path, lock: WriterLock) -> Result<Self, StoreError> {
        let path = data_dir.join(DATABASE);
        let suspect = Suspicion::of(&path);
        let raised = suspect.is_raised();
        let mut left_over = salvage::left_over(&path)?;
        let (mut sql, mut origin) = match connect::writer(&path, raised) {
            Err(StoreError::Damaged { detail, .. }) => {
                let to = salvage::set_aside(&path)?;
                tracing::warn!(path = %path.display(), to = %to.display(), detail, "a damaged store is set aside");
                left_over.push(to.clone());
                (connect::writer(&path, false)?.0, Origin::SetAside { to, detail, saved: 0 })
            }
            other => other?,
        };
        if let Some(to) = left_over.last().cloned() {
            let rows = salvage::take_over(&path, &left_over, &mut sql)?;
            match &mut origin {
                Origin::SetAside { saved, .. } => *saved = rows,
                _ if rows > 0 => {
                    let detail = "the start that was to take over from it was ended".to_owned();
                    origin = Origin::SetAside { to, detail, saved: rows };
                }
                _ => {}
            }
        }
        let place = Place::of(&path, Some(lock.file()));
        let mut store = Self {
            sql,
            path,
            access: Access::Writer,
            origin,
            care: Cell::default(),
            lag: Cell::default(),
            at_hand: RefCell::default(),
            log: LogPages::default(),
            unlogged: Cell::default(),
            place,
            number: next_number(),
            _lock: Some(lock),
        };
        note_length(&mut store.sql, &store.log).map_err(|e| StoreError::of(&store.path, &e))?;
        store.see_to_reminder()?;
        store.see_to_archive()?;
        store.mend_index(suspect.is_raised())?;
        // What this start has met is looked for at the next one.
        if suspect.is_there() && suspect.is_raised() == raised {
            store.settle(&suspect)?;
        }
        Ok(store)
    }

    /// The index may have been left in the state for many texts, be of another version, or damaged.
    fn mend_index(&mut self, suspect: bool) -> Result<(), StoreError> {
        let behind = self.meta(UNINDEXED)?.and_then(|first| first.parse().ok());
        self.lag.set(behind.map(|first| Lag { first, bytes: 0 }));
        let version = text::VERSION.to_string();
        let current = self.meta(INDEX_VERSION)?.is_some_and(|made| made == version);
        if !current || (suspect && !self.index_is_sound()?) {
            self.rebuild_index()?;
            let mut step = self.step()?;
            step.set_meta(INDEX_VERSION, &version)?;
            step.commit()
        } else if self.is_left_tuned()? || behind.is_some() {
            self.end_many()
        } else {
            if !self.is_tidy()? {
                // Nobody may ever tidy, and then the steps do.
                self.wait_for_few()?;
                self.care.set(Care::Untidy(0));
            }
            Ok(())
        }
    }

    fn open_reader(data_dir: &Path, held_by: Option<u32>) -> Result<Self, StoreError> {
        Self::try_to_read(data_dir, held_by).map_err(StoreError::met_by_reader)
    }

    fn try_to_read(data_dir: &Path, held_by: Option<u32>) -> Result<Self, StoreError> {
        let path = data_dir.join(DATABASE);
        if folder::size(&path) == 0 {
            return Err(StoreError::Absent { path });
        }
        let place = Place::of(&path, None);
        let (sql, found) = match connect::reader(&path, false) {
            // In a folder that may not be written, or without room, the log's companion cannot be made. Without a log to
            // read, the file alone is everything.
            Err(StoreError::ReadOnly { .. } | StoreError::Full { .. } | StoreError::Io { .. })
                if folder::size(&damage::beside(&path, "-wal")) == 0 && !is_half_written(&path) =>
            {
                connect::reader(&path, true)?
            }
            other => other?,
        };
        connect::known(&path, &sql, found)?;
        // Another process is making it at this moment, or could not: the disk was full.
        if found == 0 && schema::is_empty(&sql).map_err(|e| StoreError::of(&path, &e))? {
            return Err(StoreError::Absent { path });
        }
        Ok(Self {
            sql,
            path,
            access: Access::Reader { held_by },
            origin: Origin::Kept,
            care: Cell::default(),
            lag: Cell::default(),
            at_hand: RefCell::default(),
            log: LogPages::default(),
            unlogged: Cell::default(),
            place,
            number: next_number(),
            _lock: None,
        })
    }

    /// Another connection to the same store, for another thread: it reads alone.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub fn reader(&self) -> Result<Self, StoreError> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        Self::open_reader(folder, Some(std::process::id()).filter(|_| self.access == Access::Writer))
    }

    /// Another connection that writes, for work that takes its time: another thread of this process may go on reading by
    /// this one meanwhile, and is not to write. Said to be over by [`was_written_beside`](Self::was_written_beside).
    ///
    /// # Errors
    /// When this process only reads, or the database cannot be opened.
    pub fn second_writer(&self) -> Result<Self, StoreError> {
        self.writer()?;
        self.in_place()?;
        // Beside a writer that goes past the log there is no other.
        self.return_to_log()?;
        let mut sql = connect::to_write(&self.path).map_err(|e| self.fault(&e))?;
        note_length(&mut sql, &self.log).map_err(|e| self.fault(&e))?;
        Ok(Self {
            sql,
            path: self.path.clone(),
            access: Access::Writer,
            origin: self.origin.clone(),
            care: Cell::new(self.care.get()),
            lag: Cell::new(self.lag.get()),
            at_hand: RefCell::default(),
            log: self.log.clone(),
            unlogged: Cell::default(),
            place: self.place.clone(),
            number: self.number,
            _lock: None,
        })
    }

    /// The second writer has ended: what it left of the index to be cared for is ours.
    pub fn was_written_beside(&self, second: &Self) {
        self.care.set(second.care.get());
        self.lag.set(second.lag.get());
        // Behind the texts at hand there may be others by now.
        self.at_hand.take();
    }

    /// Whether what is written here is written into the files that others find. Costs a look at three names.
    pub fn is_in_place(&self) -> bool {
        self.place.is_held(&self.path)
    }

    /// The files that are open, for who asks without having the store in hand.
    pub fn place(&self) -> Place {
        self.place.clone()
    }

    pub(crate) fn in_place(&self) -> Result<(), StoreError> {
        if self.is_in_place() { Ok(()) } else { Err(StoreError::Removed { path: self.path.clone() }) }
    }

    /// Before the store is opened anew, since files of it were removed: where the database itself is still there, it gets all
    /// that only the removed log holds. Says whether it is.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn rescue_log(&self) -> Result<bool, StoreError> {
        let is_there = self.place.has_database(&self.path);
        if is_there && self.access == Access::Writer {
            self.asked(|sql| sql.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())))?;
        }
        Ok(is_there)
    }

    /// A number that no other store has that this process opens: what is known of its rows holds for it alone.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Waits at most so long for another program's lock: a loop that serves people must not wait for seconds.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn wait_at_most(&self, patience: Duration) -> Result<(), StoreError> {
        self.sql.busy_timeout(patience).map_err(|e| self.fault(&e))
    }

    /// What this process may do.
    pub fn access(&self) -> Access {
        self.access
    }

    /// What was found at the start.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The database.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder of archived transcripts.
    pub fn archive_folder(&self) -> PathBuf {
        self.path.with_file_name("archive")
    }

    pub(crate) fn writer(&self) -> Result<(), StoreError> {
        match self.access {
            Access::Writer => Ok(()),
            Access::Reader { held_by } => Err(StoreError::NotWriter { path: self.path.clone(), held_by }),
        }
    }

    /// Reads something.
    pub(crate) fn asked<T>(
        &self,
        ask: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        ask(&self.sql).map_err(|e| self.fault(&e))
    }

    /// What SQLite said, as one of our kinds. Of damage the next start is told.
    pub(crate) fn fault(&self, error: &rusqlite::Error) -> StoreError {
        let fault = match self.access {
            Access::Writer => StoreError::of(&self.path, error),
            Access::Reader { .. } => StoreError::of(&self.path, error).met_by_reader(),
        };
        // A statement that is refused may be a damaged schema.
        if let StoreError::Damaged { .. } | StoreError::IndexDamaged { .. } | StoreError::Sql { .. } = fault {
            Suspicion::of(&self.path).raise();
        }
        fault
    }
}

/// Whether a step is on its way into the database itself, or was left so by a kill.
fn is_half_written(path: &Path) -> bool {
    folder::size(&damage::beside(path, "-journal")) > 0
}
