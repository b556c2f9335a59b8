//! The note beside the database that damage was met.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::folder;
use crate::names::beside;

/// A file beside the database that says: damage was met, look through all of it at the next start. Looking through
/// a gigabyte takes seconds, which no usual start should pay. With the id of a boot in it, it says so only to later
/// boots: until that one ends, the system holds what the disk may not have yet.
pub(crate) struct Suspicion(PathBuf);

impl Suspicion {
    pub fn of(database: &Path) -> Self {
        Self(beside(database, ".suspect"))
    }

    /// Whether anything is noted, also what counts later.
    pub fn is_there(&self) -> bool {
        self.0.exists()
    }

    pub fn is_raised(&self) -> bool {
        match folder::read_text(&self.0) {
            Ok(boot) => boot.is_empty() || boot != this_boot(),
            Err(error) => error.kind() != std::io::ErrorKind::NotFound,
        }
    }

    /// Whether what is noted counts for later boots alone: a writer goes past the log, or was killed while it did.
    pub fn is_for_later_boots(&self) -> bool {
        self.is_there() && !self.is_raised()
    }

    pub fn raise(&self) {
        // Where the folder may not be written, the next one who meets the damage says so again.
        if let Err(error) = self.note("") {
            tracing::debug!(%error, "the damage could not be noted");
        }
    }

    /// From now on nothing waits for the disk, but for this. What is suspected already counts for later boots too, and
    /// where boots cannot be told apart this is a suspicion like others.
    ///
    /// # Errors
    /// When it cannot be noted.
    pub fn raise_for_later_boots(&self) -> Result<(), StoreError> {
        if self.is_raised() { Ok(()) } else { self.note(&this_boot()) }
    }

    fn note(&self, boot: &str) -> Result<(), StoreError> {
        let mut file = folder::touch(&self.0)?;
        let write = file.set_len(0).and_then(|()| file.write_all(boot.as_bytes()));
        write.and_then(|()| file.sync_all()).map_err(|e| StoreError::io(&self.0, e))?;
        self.0.parent().map(folder::sync_names);
        Ok(())
    }

    /// Everything is on the disk by now. What was met besides is still to be looked for.
    pub fn allay_for_later_boots(&self) {
        if !self.is_raised() {
            self.allay();
        }
    }

    pub fn allay(&self) {
        if let Err(error) = std::fs::remove_file(&self.0)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::debug!(%error, "the store will be looked through again");
        }
    }
}

/// The id that Linux gives to each boot; empty elsewhere.
fn this_boot() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}
