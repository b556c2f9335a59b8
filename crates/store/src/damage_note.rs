//! The note about damage, a file beside the database.

use std::io::Write;
use std::path::{Path, PathBuf};

use watchbill_platform::clock::boot;

use crate::error::StoreError;
use crate::folder;
use crate::names::beside;

/// A file beside the database. It says that damage was met, so the next start checks the whole database. Checking a
/// gigabyte takes seconds, too long for every start.
///
/// If it holds the id of a boot, it counts only for later boots: until that boot ends, the system holds writes that
/// may not be on the disk yet.
pub(crate) struct DamageNote(PathBuf);

impl DamageNote {
    pub fn of(database: &Path) -> Self {
        Self(beside(database, ".suspect"))
    }

    /// Whether there is a note, even one that counts only later.
    pub fn is_there(&self) -> bool {
        self.0.exists()
    }

    pub fn counts_now(&self) -> bool {
        match folder::read_text(&self.0) {
            Ok(boot) => boot.is_empty() || boot != *this_boot(),
            Err(error) => error.kind() != std::io::ErrorKind::NotFound,
        }
    }

    /// Whether the note counts only for later boots: a writer works without the log, or was killed while it did.
    pub fn is_for_later_boots(&self) -> bool {
        self.is_there() && !self.counts_now()
    }

    pub fn raise(&self) {
        // If the folder is not writable, the next process that meets the damage tries again.
        if let Err(error) = self.note("") {
            tracing::debug!(%error, "the damage could not be noted");
        }
    }

    /// Notes that from now on no write waits for the disk, except this note. A note about damage met earlier stays,
    /// and counts for later boots too. Without boot ids, this becomes a note about damage like any other.
    ///
    /// # Errors
    /// When the note cannot be written.
    pub fn write_note_for_later_boots(&self) -> Result<(), StoreError> {
        if self.counts_now() { Ok(()) } else { self.note(&this_boot()) }
    }

    fn note(&self, boot: &str) -> Result<(), StoreError> {
        let mut file = folder::touch(&self.0)?;
        let write = file.set_len(0).and_then(|()| file.write_all(boot.as_bytes()));
        write.and_then(|()| file.sync_all()).map_err(|e| StoreError::io(&self.0, e))?;
        self.0.parent().map(folder::sync_names);
        Ok(())
    }

    /// Removes a note for later boots, because everything is on the disk by now. A note about damage that was met
    /// stays.
    pub fn remove_note_for_later_boots(&self) {
        if !self.counts_now() {
            self.clear();
        }
    }

    pub fn clear(&self) {
        if let Err(error) = std::fs::remove_file(&self.0)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::debug!(%error, "the next start checks the store again");
        }
    }
}

/// The id of this boot; empty where boots have none.
fn this_boot() -> std::sync::Arc<str> {
    boot().unwrap_or_default()
}
