//! Which journal the database has: a log, beside which others read while we write; for the very first texts none.
//!
//! What goes through the log is written twice, and summed up on the way. The first index writes hundreds of megabytes,
//! nearly all of them new pages, of which a rollback journal has to hold nothing: they go straight into the database.
//! That is a tenth of its work. A kill leaves whole steps all the same. The disk is waited for only once, at the end;
//! that a lost power supply may leave anything until then is what a note about damage is for, which counts after the next
//! boot. Nor is looked up, until then, whether what each row names is there.

use crate::suspicion::Suspicion;
use crate::{Store, StoreError, schema};

impl Store {
    /// Writes without the log from now on, where nothing is stored that anybody would want to read meanwhile, since others
    /// have to wait for the end of a step, and nothing that could not be read again, should the power fail.
    pub(crate) fn leave_log(&self) -> Result<(), StoreError> {
        if self.unlogged.get() || self.has_texts()? || self.holds_what_no_transcript_tells()? {
            return Ok(());
        }
        let suspicion = Suspicion::of(self.path());
        if let Err(error) = suspicion.raise_for_later_boots() {
            tracing::debug!(%error, "without a note of it nothing goes past the log");
            return Ok(());
        }
        match self.set_journal("DELETE") {
            Ok(true) => {}
            // Somebody has it open to read, and the log stays.
            Ok(false) | Err(StoreError::Locked { .. }) => {
                suspicion.allay_for_later_boots();
                return Ok(());
            }
            Err(other) => return Err(other),
        }
        self.unlogged.set(true);
        self.place.forget_log();
        self.asked(|sql| {
            sql.pragma_update(None, "synchronous", "OFF")?;
            // What a row names was given its number a moment ago. To look it up again for each is a fiftieth of the work.
            // A file or a state that is removed takes its rows along by itself.
            sql.pragma_update(None, "foreign_keys", false)
        })
    }

    /// Keys are looked up again, and what belongs to a row goes with it: before sessions are removed, and in the end.
    pub(crate) fn check_keys(&self) -> Result<(), StoreError> {
        self.asked(|sql| sql.pragma_update(None, "foreign_keys", true))
    }

    /// Back to the log, as soon as everything is on the disk.
    pub(crate) fn return_to_log(&self) -> Result<(), StoreError> {
        if !self.unlogged.get() {
            return Ok(());
        }
        self.check_keys()?;
        self.asked(|sql| sql.pragma_update(None, "synchronous", "NORMAL"))?;
        // What changes the journal is written into the database itself, and SQLite waits for the disk again.
        match self.set_journal("WAL") {
            Ok(true) => Suspicion::of(self.path()).allay_for_later_boots(),
            // Where somebody reads at this moment, it goes on without until the next start.
            Ok(false) | Err(StoreError::Locked { .. }) => {}
            Err(other) => return Err(other),
        }
        self.unlogged.set(false);
        self.place.forget_log();
        Ok(())
    }

    /// Everything was looked through: as soon as it is on the disk, nothing is suspected any more.
    pub(crate) fn settle(&self, suspicion: &Suspicion) -> Result<(), StoreError> {
        // SQLite waits for the disk when it has copied a log; a change that changes nothing makes sure that there is one.
        let copied = self.asked(|sql| {
            sql.pragma_update(None, "user_version", schema::version(sql)?)?;
            sql.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| {
                Ok(row.get::<_, i64>(1)? == row.get::<_, i64>(2)?)
            })
        });
        match copied {
            Ok(true) => suspicion.allay(),
            // A reader needs the log, or the disk is full: the next start looks once more.
            Ok(false) => {}
            Err(error) if error.passes() => {}
            Err(other) => return Err(other),
        }
        Ok(())
    }

    /// Says whether it is this one now.
    fn set_journal(&self, mode: &str) -> Result<bool, StoreError> {
        self.asked(|sql| {
            sql.pragma_update_and_check(None, "journal_mode", mode, |row| {
                Ok(row.get_ref(0)?.as_str()?.eq_ignore_ascii_case(mode))
            })
        })
    }

    fn has_texts(&self) -> Result<bool, StoreError> {
        self.asked(|sql| sql.query_row("SELECT EXISTS (SELECT 1 FROM texts)", [], |row| row.get(0)))
    }
}
