//! The journal of the database: normally a write-ahead log, beside which others read while we write. A first index
//! works without it.
//!
//! Data that goes through the log is written twice and checksummed. The first index writes hundreds of megabytes,
//! nearly all as new pages. A rollback journal stores nothing of new pages, so they go straight into the database.
//! That saves a tenth of the work.
//!
//! A kill still leaves whole steps. The disk is synced only once, at the end. Until then a power failure may damage
//! anything, so the writer leaves a note about damage that counts after the next boot. Until then SQLite does not
//! check foreign keys either.

use crate::damage_note::DamageNote;
use crate::{Store, StoreError, schema};

impl Store {
    /// From now on writes without the log. It does so only while the store has nothing that others want to read,
    /// because they would wait for the end of each step. And nothing in it may be lost for good by a power failure.
    pub(crate) fn leave_log(&self) -> Result<(), StoreError> {
        if self.unlogged.get() || self.has_texts()? || self.has_unrepeatable_rows()? {
            return Ok(());
        }
        let suspicion = DamageNote::of(self.path());
        if let Err(error) = suspicion.write_note_for_later_boots() {
            tracing::debug!(%error, "the log stays, because the note about damage cannot be written");
            return Ok(());
        }
        match self.set_journal("DELETE") {
            Ok(true) => {}
            // Another process has it open for reading, so the log stays.
            Ok(false) | Err(StoreError::Locked { .. }) => {
                suspicion.remove_note_for_later_boots();
                return Ok(());
            }
            Err(other) => return Err(other),
        }
        self.unlogged.set(true);
        self.place.forget_log();
        self.with_sql(|sql| {
            sql.pragma_update(None, "synchronous", "OFF")?;
            // A row's foreign keys were assigned a moment ago. Checking each again is a fiftieth of the work.
            // Removing a file or a state deletes its rows without the help of foreign keys.
            sql.pragma_update(None, "foreign_keys", false)
        })
    }

    /// SQLite checks foreign keys again, and deletes dependent rows. Needed before sessions are removed, and at the
    /// end.
    pub(crate) fn enable_foreign_keys(&self) -> Result<(), StoreError> {
        self.with_sql(|sql| sql.pragma_update(None, "foreign_keys", true))
    }

    /// Returns to the log, as soon as everything is on the disk.
    pub(crate) fn return_to_log(&self) -> Result<(), StoreError> {
        if !self.unlogged.get() {
            return Ok(());
        }
        self.enable_foreign_keys()?;
        self.with_sql(|sql| sql.pragma_update(None, "synchronous", "NORMAL"))?;
        // A change of the journal mode is written into the database itself, and SQLite syncs again.
        match self.set_journal("WAL") {
            Ok(true) => DamageNote::of(self.path()).remove_note_for_later_boots(),
            // While another process reads, the database stays without the log until the next start.
            Ok(false) | Err(StoreError::Locked { .. }) => {}
            Err(other) => return Err(other),
        }
        self.unlogged.set(false);
        self.place.forget_log();
        Ok(())
    }

    /// Clears the suspicion after the whole database was checked, as soon as everything is on the disk.
    pub(crate) fn clear_damage_note(&self, suspicion: &DamageNote) -> Result<(), StoreError> {
        // SQLite syncs the disk when it copies a log. A write that changes nothing makes sure that there is a log.
        let copied = self.with_sql(|sql| {
            sql.pragma_update(None, "user_version", schema::version(sql)?)?;
            sql.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| {
                Ok(row.get::<_, i64>(1)? == row.get::<_, i64>(2)?)
            })
        });
        match copied {
            Ok(true) => suspicion.clear(),
            // A reader needs the log, or the disk is full: the next start checks again.
            Ok(false) => {}
            Err(error) if error.is_temporary() => {}
            Err(other) => return Err(other),
        }
        Ok(())
    }

    /// Returns whether the database uses this mode now.
    fn set_journal(&self, mode: &str) -> Result<bool, StoreError> {
        self.with_sql(|sql| {
            sql.pragma_update_and_check(None, "journal_mode", mode, |row| {
                Ok(row.get_ref(0)?.as_str()?.eq_ignore_ascii_case(mode))
            })
        })
    }

    fn has_texts(&self) -> Result<bool, StoreError> {
        self.with_sql(|sql| sql.query_row("SELECT EXISTS (SELECT 1 FROM texts)", [], |row| row.get(0)))
    }
}
