//! Wiping: removes the bytes of deleted rows from the database, its index and its log.

use crate::tables::meta_names::CLEANING_DUE;
use crate::{Store, StoreError};

impl Store {
    /// Whether bytes of removed rows may be left, because a kill or a reader came in between.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn is_wiping_due(&self) -> Result<bool, StoreError> {
        Ok(self.meta(CLEANING_DUE)?.is_some())
    }

    /// Removes these bytes from the files. It is no part of opening the store, because it may take seconds.
    ///
    /// # Errors
    /// When the database cannot be written. An error that passes is only logged, and the next call tries again.
    pub fn finish_wiping(&mut self) -> Result<(), StoreError> {
        if !self.is_wiping_due()? {
            return Ok(());
        }
        match self.wipe() {
            Err(error) if error.is_temporary() => {
                tracing::warn!(%error, "the bytes of removed rows are not wiped yet");
                Ok(())
            }
            other => other,
        }
    }

    /// Wipes now. Returns `true` if that must be done later, because another process reads the database.
    pub(super) fn wipe_or_later(&mut self) -> Result<bool, StoreError> {
        match self.wipe() {
            Ok(()) => Ok(false),
            Err(StoreError::Locked { .. }) => Ok(true),
            Err(other) => Err(other),
        }
    }

    /// Removes the bytes of deleted rows from the files. The database notes that this is due, so a kill in between
    /// only puts it off.
    fn wipe(&mut self) -> Result<(), StoreError> {
        self.require_writer()?;
        // Merged into one segment, the index holds no words of removed texts any more.
        let mut step = self.step()?;
        step.run("INSERT INTO texts_fts (texts_fts) VALUES ('optimize')", [])?;
        step.commit()?;
        self.with_sql(|sql| sql.execute_batch("VACUUM"))?;
        self.empty_log()?;
        let mut step = self.step()?;
        step.run("DELETE FROM meta WHERE name = ?1", [CLEANING_DUE])?;
        step.commit()
    }

    /// Copies the whole log into the database and truncates it to nothing: it holds older versions of pages.
    fn empty_log(&self) -> Result<(), StoreError> {
        let busy: bool =
            self.with_sql(|sql| sql.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)))?;
        if busy { Err(StoreError::Locked { path: self.path().to_owned(), held_by: None }) } else { Ok(()) }
    }
}
