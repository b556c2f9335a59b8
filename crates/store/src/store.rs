//! An open store: its connection, and what holds for all of it.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rusqlite::Connection;

use crate::access::{Access, Origin};
use crate::at_hand::AtHand;
use crate::error::StoreError;
use crate::index_care::{Care, Lag};
use crate::lock::WriterLock;
use crate::log_pages::LogPages;
use crate::names::ARCHIVE;
use crate::place::Place;
use crate::suspicion::Suspicion;

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
    /// A store over an open connection.
    pub(crate) fn over(
        sql: Connection,
        path: PathBuf,
        access: Access,
        origin: Origin,
        place: Place,
        lock: Option<WriterLock>,
    ) -> Self {
        Self {
            sql,
            path,
            access,
            origin,
            care: Cell::default(),
            lag: Cell::default(),
            at_hand: RefCell::default(),
            log: LogPages::default(),
            unlogged: Cell::default(),
            place,
            number: next_number(),
            _lock: lock,
        }
    }

    /// The same store over another connection of this process.
    pub(crate) fn over_another(&self, sql: Connection) -> Self {
        Self {
            sql,
            path: self.path.clone(),
            access: self.access,
            origin: self.origin.clone(),
            care: Cell::new(self.care.get()),
            lag: Cell::new(self.lag.get()),
            at_hand: RefCell::default(),
            log: self.log.clone(),
            unlogged: Cell::default(),
            place: self.place.clone(),
            number: self.number,
            _lock: None,
        }
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
        self.path.with_file_name(ARCHIVE)
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
