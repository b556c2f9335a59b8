//! A settings file: reading it, and replacing it as a whole with the same owner and permissions.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::error::SettingsError;
use super::owner;
use watchbill_platform::files::{check_size_limit, open_private, read_ordinary, rename};

/// A file longer than this is no settings file.
const SIZE_LIMIT: u64 = 16 * 1024 * 1024;

/// Why a settings file was not changed.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// Its text is not understood.
    #[error("{} was left as it is: {source}", path.display())]
    Settings {
        /// The file.
        path: PathBuf,
        /// The error in the text.
        source: SettingsError,
    },
    /// It cannot be read or written.
    #[error("{} cannot be {doing}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// `read` or `written`.
        doing: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The owner has marked it read-only. A writable folder would still let the installer replace the file, so the
    /// installer checks this itself.
    #[error("{} is marked read-only and was left as it is; make it writable, then try again", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// It has other names (hard links). Replacing one name would leave the others with the old file.
    #[error(
        "{} was left as it is: it has {names} hard links; separate them (`cp -p FILE NEW && mv NEW FILE`), then try again",
        path.display()
    )]
    Linked {
        /// The file.
        path: PathBuf,
        /// How many names it has.
        names: u64,
    },
    /// Another program changed it meanwhile.
    #[error("{} was changed by another program just now and left as it is; run this again", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
}

/// A settings file as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsFile {
    /// The path by which it was named.
    pub path: PathBuf,
    /// The path of the file itself, with links followed.
    target: PathBuf,
    /// The text; `None` when the file does not exist.
    pub text: Option<String>,
}

impl SettingsFile {
    /// Reads a settings file, which may be missing.
    ///
    /// # Errors
    /// When the file exists and cannot be read, or is not valid UTF-8.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        let io = |source| FileError::Io { path: path.to_owned(), doing: "read", source };
        let target = follow(path).map_err(io)?;
        let text = read_text(&target).map_err(io)?;
        Ok(Self { path: path.to_owned(), target, text })
    }

    /// The folders above the file, with links followed, the innermost first.
    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        self.target.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty())
    }

    /// An error about the text, with the file's name.
    pub fn refused(&self, source: SettingsError) -> FileError {
        FileError::Settings { path: self.path.clone(), source }
    }

    /// An error of the system that prevents writing the file or making its folder.
    pub fn unwritable(&self, source: io::Error) -> FileError {
        FileError::Io { path: self.path.clone(), doing: "written", source }
    }

    /// Replaces the file by `text`, or removes it. A reader never gets a mix of the old and the new text.
    ///
    /// # Errors
    /// When the file cannot or must not be written, or another program has changed it since the reading.
    pub fn replace(&self, text: Option<&str>) -> Result<(), FileError> {
        let io = |source| self.unwritable(source);
        if fs::metadata(&self.target).is_ok_and(|found| found.permissions().readonly()) {
            return Err(FileError::ReadOnly { path: self.path.clone() });
        }
        let names = owner::names(&self.target);
        if names > 1 && text.is_some() {
            return Err(FileError::Linked { path: self.path.clone(), names });
        }
        match text {
            Some(text) => {
                let unfinished = self.write_beside(text).map_err(io)?;
                let done = self.is_unchanged().and_then(|()| rename(&unfinished, &self.target).map_err(io));
                if done.is_err() {
                    let _ = fs::remove_file(&unfinished);
                }
                done
            }
            None if self.text.is_some() => {
                self.is_unchanged()?;
                fs::remove_file(&self.target).map_err(io)
            }
            None => Ok(()),
        }
    }

    fn is_unchanged(&self) -> Result<(), FileError> {
        match read_text(&self.target) {
            Ok(now) if now == self.text => Ok(()),
            _ => Err(FileError::Changed { path: self.path.clone() }),
        }
    }

    fn write_beside(&self, text: &str) -> io::Result<PathBuf> {
        let folder = self.target.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let name =
            self.target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let unfinished = folder.join(format!(".{name}.watchbill-{}", std::process::id()));
        let _ = fs::remove_file(&unfinished);
        // Settings can hold keys: the new file is private until it gets the old file's permissions.
        let mut file = open_private(OpenOptions::new().write(true).create_new(true), &unfinished)?;
        let written = check_size_limit(text.len() as u64)
            .and_then(|()| file.write_all(text.as_bytes()))
            .and_then(|()| file.sync_all())
            .and_then(|()| self.like_before(&file));
        if written.is_err() {
            let _ = fs::remove_file(&unfinished);
        }
        written.map(|()| unfinished)
    }

    /// Gives a file the owner and the permissions of the file that it replaces. A new file gets the folder's owner.
    fn like_before(&self, file: &fs::File) -> io::Result<()> {
        match fs::metadata(&self.target) {
            Ok(old) => {
                owner::give_file(file, &old)?;
                // After the owner, because the system clears rights of a file that changes its owner.
                file.set_permissions(old.permissions())
            }
            Err(_) => match self.target.parent().map(fs::metadata) {
                Some(Ok(folder)) => owner::give_new_file(file, &folder),
                _ => Ok(()),
            },
        }
    }
}

fn read_text(path: &Path) -> io::Result<Option<String>> {
    match fs::metadata(path) {
        Ok(found) if found.len() > SIZE_LIMIT => {
            return Err(io::Error::other("it is far too long for settings"));
        }
        // Reading a pipe would wait for its writer, and the installer must not replace a device.
        Ok(found) if !found.is_file() => return Err(io::Error::other("it is no ordinary file")),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    }
    let bytes = read_ordinary(path)?;
    let text = String::from_utf8(bytes);
    text.map(Some).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not valid UTF-8"))
}

/// The path at the end of all links. The file there may be missing.
fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut at = path.to_owned();
    for _ in 0..40 {
        match fs::read_link(&at) {
            Ok(next) => at = at.parent().unwrap_or(Path::new(".")).join(next),
            Err(_) => return Ok(at),
        }
    }
    Err(io::Error::other("too many links"))
}
