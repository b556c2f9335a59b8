//! The end of the user's mute, in a file of the data folder, so that it survives a restart.

use std::io;
use std::path::{Path, PathBuf};

use watchbill_core::time::Timestamp;
use watchbill_watch::fs::{Fs, StdFs};

/// The file of one data folder. It holds one line, an RFC 3339 time.
#[derive(Debug, Clone)]
pub struct MuteFile(PathBuf);

impl MuteFile {
    /// The file in this data folder.
    pub fn of(data_dir: &Path) -> Self {
        Self(data_dir.join("muted-until"))
    }

    /// The file's path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The stored time. A missing file, or any other content, mutes nothing.
    pub fn read(&self) -> Option<Timestamp> {
        Timestamp::parse(str::from_utf8(&StdFs.read_small(&self.0, 100).ok()?).ok()?.trim())
    }

    /// Writes the time; `None` removes the file.
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
        // A partly written line is not a valid time, so it mutes nothing and the user notices. No need for an atomic write.
        std::fs::write(&self.0, format!("{until}\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_time_is_read_back_and_other_content_mutes_nothing() {
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
