//! Wiping: the bytes of removed rows are taken out of the database, its index and its log.

use crate::tables::meta_names::CLEANING_DUE;
use crate::{Store, StoreError};

impl Store {
    /// Whether what was removed may have left its bytes, since a kill or a reader came in between.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn is_to_be_wiped(&self) -> Result<bool, StoreError> {
        Ok(self.meta(CLEANING_DUE)?.is_some())
    }

    /// Takes these bytes out of the files. No part of opening the store, since it may take seconds.
    ///
    /// # Errors
    /// When the database cannot be written. What passes is none, and whoever comes next tries again.
    pub fn finish_wiping(&mut self) -> Result<(), StoreError> {
        if !self.is_to_be_wiped()? {
            return Ok(());
        }
        match self.wipe() {
            Err(error) if error.passes() => {
                tracing::warn!(%error, "what was removed is not wiped out yet");
                Ok(())
            }
            other => other,
        }
    }

    /// Wipes now, or says that it is still to be done, since another process reads the database.
    pub(super) fn wipe_or_later(&mut self) -> Result<bool, StoreError> {
        match self.wipe() {
            Ok(()) => Ok(false),
            Err(StoreError::Locked { .. }) => Ok(true),
            Err(other) => Err(other),
        }
    }

    /// Takes the bytes of removed rows out of the files. Whether that is due stands in the database, so that a kill
    /// in between only puts it off.
    fn wipe(&mut self) -> Result<(), StoreError> {
        self.writer()?;
        // Merged into one piece the index holds no words of removed texts any more.
        let mut step = self.step()?;
        step.run("INSERT INTO texts_fts (texts_fts) VALUES ('optimize')", [])?;
        step.commit()?;
        self.asked(|sql| sql.execute_batch("VACUUM"))?;
        self.empty_log()?;
        let mut step = self.step()?;
        step.run("DELETE FROM meta WHERE name = ?1", [CLEANING_DUE])?;
        step.commit()
    }

    /// Carries everything over from the write-ahead log and cuts it to nothing: it holds older forms of pages.
    fn empty_log(&self) -> Result<(), StoreError> {
        let busy: bool =
            self.asked(|sql| sql.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)))?;
        if busy { Err(StoreError::Locked { path: self.path().to_owned(), held_by: None }) } else { Ok(()) }
    }
}
