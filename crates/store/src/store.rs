//! An open store: its connection, and the state of the store as a whole.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Params, Row};

use crate::access::{Access, DatabaseState};
use crate::damage_note::DamageNote;
use crate::error::StoreError;
use crate::index_state::{Lag, MergeState};
use crate::lock::WriterLock;
use crate::log_pages::LogPages;
use crate::names::ARCHIVE;
use crate::open_files::OpenFiles;
use crate::unindexed_texts::CachedTexts;

/// An open store.
#[derive(Debug)]
pub struct Store {
    pub(crate) sql: Connection,
    path: PathBuf,
    access: Access,
    origin: DatabaseState,
    pub(crate) index_state: Cell<MergeState>,
    pub(crate) lag: Cell<Option<Lag>>,
    /// The texts that the index lacks, as far as they are in memory.
    pub(crate) cached_texts: RefCell<CachedTexts>,
    pub(crate) log: LogPages,
    /// Writes go into the database itself, past the log.
    pub(crate) unlogged: Cell<bool>,
    pub(crate) place: OpenFiles,
    /// Differs from the numbers of all other stores of this process.
    number: u64,
    /// Held while the store is open. Dropped after the connection, because fields drop in order.
    _lock: Option<WriterLock>,
}

/// A new number for each opened store.
fn next_number() -> u64 {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    NUMBER.fetch_add(1, Ordering::Relaxed)
}

impl Store {
    /// A store over an open connection.
    pub(crate) fn from_parts(
        sql: Connection,
        path: PathBuf,
        access: Access,
        origin: DatabaseState,
        place: OpenFiles,
        lock: Option<WriterLock>,
    ) -> Self {
        Self {
            sql,
            path,
            access,
            origin,
            index_state: Cell::default(),
            lag: Cell::default(),
            cached_texts: RefCell::default(),
            log: LogPages::default(),
            unlogged: Cell::default(),
            place,
            number: next_number(),
            _lock: lock,
        }
    }

    /// The same store over another connection of this process.
    pub(crate) fn with_connection(&self, sql: Connection) -> Self {
        Self {
            sql,
            path: self.path.clone(),
            access: self.access,
            origin: self.origin.clone(),
            index_state: Cell::new(self.index_state.get()),
            lag: Cell::new(self.lag.get()),
            cached_texts: RefCell::default(),
            log: self.log.clone(),
            unlogged: Cell::default(),
            place: self.place.clone(),
            number: self.number,
            _lock: None,
        }
    }

    /// Call this when the second writer has ended: this store takes over the state of the index from it.
    pub fn adopt_second_writer(&self, second: &Self) {
        self.index_state.set(second.index_state.get());
        self.lag.set(second.lag.get());
        // The second writer may have added texts after those in memory.
        self.cached_texts.take();
    }

    /// Whether writes reach the files that other processes open. Costs a look at three paths.
    pub fn is_in_place(&self) -> bool {
        self.place.is_current(&self.path)
    }

    /// The open files, so that a caller can check them without the store.
    pub fn place(&self) -> OpenFiles {
        self.place.clone()
    }

    pub(crate) fn check_in_place(&self) -> Result<(), StoreError> {
        if self.is_in_place() { Ok(()) } else { Err(StoreError::Removed { path: self.path.clone() }) }
    }

    /// Call this before the store is opened anew because files of it were removed. A database that is still there
    /// gets the rows that only the removed log holds. Returns whether it is still there.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn checkpoint_removed_log(&self) -> Result<bool, StoreError> {
        let is_there = self.place.has_database(&self.path);
        if is_there && self.access == Access::Writer {
            self.with_sql(|sql| sql.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())))?;
        }
        Ok(is_there)
    }

    /// A number that no other store of this process has. Row numbers that a caller remembers are valid only for
    /// this store.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Sets the longest wait for another program's lock: a loop that serves a user must not wait for seconds.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn set_busy_timeout(&self, patience: Duration) -> Result<(), StoreError> {
        self.sql.busy_timeout(patience).map_err(|e| self.map_error(&e))
    }

    /// What this process may do.
    pub fn access(&self) -> Access {
        self.access
    }

    /// The state of the database when it was opened.
    pub fn origin(&self) -> &DatabaseState {
        &self.origin
    }

    /// The path of the database.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder of archived transcripts.
    pub fn archive_folder(&self) -> PathBuf {
        self.path.with_file_name(ARCHIVE)
    }

    pub(crate) fn require_writer(&self) -> Result<(), StoreError> {
        match self.access {
            Access::Writer => Ok(()),
            Access::Reader { held_by } => Err(StoreError::NotWriter { path: self.path.clone(), held_by }),
        }
    }

    /// Runs `ask` with the connection, and maps its error.
    pub(crate) fn with_sql<T>(
        &self,
        ask: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        ask(&self.sql).map_err(|e| self.map_error(&e))
    }

    /// All rows that a query gives.
    pub(crate) fn rows<T, C: FromIterator<T>>(
        &self,
        query: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<C, StoreError> {
        self.with_sql(|sql| sql.prepare_cached(query)?.query_map(params, read)?.collect())
    }

    /// The first row that a query gives.
    pub(crate) fn row<T>(
        &self,
        query: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        self.with_sql(|sql| sql.prepare_cached(query)?.query_row(params, read).optional())
    }

    /// The row of a query that always gives one.
    pub(crate) fn only_row<T>(
        &self,
        query: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.with_sql(|sql| sql.prepare_cached(query)?.query_row(params, read))
    }

    /// The error variant for SQLite's error. Notes damage for the next start.
    pub(crate) fn map_error(&self, error: &rusqlite::Error) -> StoreError {
        let fault = match self.access {
            Access::Writer => StoreError::of(&self.path, error),
            Access::Reader { .. } => StoreError::of(&self.path, error).for_reader(),
        };
        // A damaged schema can make SQLite refuse a statement.
        if let StoreError::Damaged { .. } | StoreError::IndexDamaged { .. } | StoreError::Sql { .. } = fault {
            DamageNote::of(&self.path).raise();
        }
        fault
    }
}
