//! Until when the person wants no alerts, kept in a file of the data folder: a restart must not unmute.

use std::io;
use std::path::{Path, PathBuf};

use watchbill_core::time::Timestamp;
use watchbill_watch::fs::{Fs, StdFs};

/// The file of one data folder: one line, a time as RFC 3339 has it.
#[derive(Debug, Clone)]
pub struct MuteFile(PathBuf);

impl MuteFile {
    /// That of this data folder.
    pub fn of(data_dir: &Path) -> Self {
        Self(data_dir.join("muted-until"))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// What it says. A file that is missing, or holds anything else, mutes nothing.
    pub fn read(&self) -> Option<Timestamp> {
        Timestamp::parse(str::from_utf8(&StdFs.read_small(&self.0, 100).ok()?).ok()?.trim())
    }

    /// Keeps it; `None` removes the file.
    ///
    /// # Errors
    /// When the folder cannot be written to.
    pub fn write(&self, until: Option<Timestamp>) -> io::Result<()> {
        let Some(until) = until else {
            return match std::fs::remove_file(&self.0) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
        };
        if let Some(folder) = self.0.parent() {
            std::fs::create_dir_all(folder)?;
        }
        // A torn line is no time and so mutes nothing, which the person will notice: no need for more care.
        std::fs::write(&self.0, format!("{until}\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_anything_else_mutes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = MuteFile::of(&folder.path().join("not there yet"));
        assert_eq!(file.read(), None);
        file.write(None).unwrap();
        let until = Timestamp::from_millis(1_770_000_000_000);
        file.write(Some(until)).unwrap();
        assert_eq!(file.read(), Some(until));
        std::fs::write(file.path(), b"\xff tomorrow").unwrap();
        assert_eq!(file.read(), None);
        file.write(None).unwrap();
        assert!(!file.path().exists());
    }
}
