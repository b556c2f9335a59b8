//! A change of settings on the disk, for the command line and for the window.

use std::io;
use std::path::PathBuf;

use super::file::{FileError, SettingsFile};
use super::{folders, owner};
use crate::places::HookPaths;
use crate::sender;

/// Why the hooks were not installed.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The folder for events cannot be made.
    #[error(
        "nothing was installed: the folder for events, {}, cannot be made ({source}); name another data folder with --data-dir",
        folder.display()
    )]
    Places {
        /// The folder.
        folder: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Root would own the folders for events, so the user's client could not write there.
    #[error(
        "nothing was installed: {} belongs to another user, whose agent could not write into folders that root makes there; \
         run this as that user",
        folder.display()
    )]
    OthersFolder {
        /// The nearest folder that exists above the new ones.
        folder: PathBuf,
    },
    /// The settings were not changed.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Replaces the settings by `text`, which has our handlers in it. Makes the folders of the file, and those for
/// events. Returns whether the text has changed.
///
/// # Errors
/// When a folder or the file cannot be made; then the settings are as they were.
pub fn apply_install(file: &SettingsFile, text: &str, places: &HookPaths) -> Result<bool, InstallError> {
    let around = places.root().ancestors().find_map(|folder| Some((folder, std::fs::metadata(folder).ok()?)));
    if let Some((folder, found)) = around
        && owner::is_root_in(&found)
    {
        return Err(InstallError::OthersFolder { folder: folder.to_owned() });
    }
    sender::make_shared_folders(places)
        .map_err(|source| InstallError::Places { folder: places.root().to_owned(), source })?;
    let changed = file.text.as_deref() != Some(text);
    if changed {
        folders::make(file, places).map_err(|error| file.unwritable(error))?;
        file.replace(Some(text))?;
    }
    Ok(changed)
}

/// Replaces the settings by `left`, which has none of our handlers. With `None`, removes the file and the folders
/// that were made for it. Returns whether the text has changed.
///
/// # Errors
/// When the file cannot be written or removed; then it is as it was.
pub fn take_out(
    file: &SettingsFile,
    left: Option<&str>,
    places: Option<&HookPaths>,
) -> Result<bool, FileError> {
    let changed = file.text.as_deref() != left;
    if changed {
        file.replace(left)?;
    }
    if let (None, Some(places)) = (left, places) {
        folders::remove(file, places);
    }
    Ok(changed)
}
