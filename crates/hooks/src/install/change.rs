//! A change of settings on the disk, with all that belongs to it, whoever asks: the command line or the window.

use std::io;
use std::path::PathBuf;

use super::file::{FileError, SettingsFile};
use super::{folders, owner};
use crate::places::Places;
use crate::sender;

/// Why nothing was installed.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// Events would have nowhere to go.
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
    /// Events would lie in folders of root's, where the person's agent cannot put them.
    #[error(
        "nothing was installed: {} belongs to another user, whose agent could not write into folders that root makes there; \
         run this as that user",
        folder.display()
    )]
    OthersFolder {
        /// The folder around those that would be made.
        folder: PathBuf,
    },
    /// The settings were left as they are.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Puts `text`, which has our handlers in it, in the settings' place, with the folders that the file lies in and those in
/// which events arrive. Says whether the settings were others before.
///
/// # Errors
/// When any of that cannot be made; then the settings are as they were.
pub fn put_in(file: &SettingsFile, text: &str, places: &Places) -> Result<bool, InstallError> {
    let around = places.root().ancestors().find_map(|folder| Some((folder, std::fs::metadata(folder).ok()?)));
    if let Some((folder, found)) = around
        && owner::is_root_in(&found)
    {
        return Err(InstallError::OthersFolder { folder: folder.to_owned() });
    }
    sender::prepare(places)
        .map_err(|source| InstallError::Places { folder: places.root().to_owned(), source })?;
    let changed = file.text.as_deref() != Some(text);
    if changed {
        folders::make(file, places).map_err(|error| file.unwritable(error))?;
        file.replace(Some(text))?;
    }
    Ok(changed)
}

/// Puts what is `left` without our handlers in the settings' place; where nothing is, file and folders that were made for
/// them go too. Says whether the settings were others before.
///
/// # Errors
/// When the file cannot be written or removed; then it is as it was.
pub fn take_out(file: &SettingsFile, left: Option<&str>, places: Option<&Places>) -> Result<bool, FileError> {
    let changed = file.text.as_deref() != left;
    if changed {
        file.replace(left)?;
    }
    if let (None, Some(places)) = (left, places) {
        folders::remove(file, places);
    }
    Ok(changed)
}
