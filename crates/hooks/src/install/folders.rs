//! Folders that the installer made for settings. It notes them, so that uninstalling leaves no empty ones behind.
//!
//! An empty folder does not show who made it, so the installer notes the missing ones before it makes them
//! ([`Places::made_folders`]). It removes only those, from the innermost on, and only empty ones.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;

use super::file::SettingsFile;
use super::owner;
use crate::places::HookPaths;
use watchbill_platform::files::{open_private, read_ordinary, rename};

/// Makes the folders for new settings, and notes those that were missing. Does nothing for settings that exist.
///
/// # Errors
/// When a folder cannot be made or noted.
pub fn make(file: &SettingsFile, places: &HookPaths) -> io::Result<()> {
    if file.text.is_some() {
        return Ok(());
    }
    let mut noted = read(places);
    let before = noted.clone();
    let mut missing = Vec::new();
    for folder in file.folders() {
        // A folder that exists was made by another program since, so it is no longer noted.
        if folder.exists() {
            noted.remove(folder);
        } else {
            missing.push(folder.to_path_buf());
        }
    }
    if let Some(innermost) = missing.first() {
        fs::create_dir_all(innermost)?;
        // The new folders get the owner of the folder around them.
        let around = missing.last().and_then(|outermost| outermost.parent());
        if let Some(around) = around.and_then(|around| fs::metadata(around).ok()) {
            missing.iter().try_for_each(|new| owner::give_new_folder(new, &around))?;
        }
    }
    noted.extend(missing);
    if noted == before { Ok(()) } else { write(places, &noted) }
}

/// Removes the folders that were made for settings, if they are empty.
pub fn remove(file: &SettingsFile, places: &HookPaths) {
    let mut noted = read(places);
    let before = noted.len();
    let mut is_left = false;
    for folder in file.folders() {
        // The system does not remove a folder that holds anything.
        if noted.remove(folder) && !is_left {
            is_left = fs::remove_dir(folder).is_err();
        }
    }
    if noted.len() < before
        && let Err(error) = write(places, &noted)
    {
        tracing::debug!(%error, "folders that are gone are still noted");
    }
}

/// Reads one path a line. A missing file counts as empty.
fn read(places: &HookPaths) -> BTreeSet<PathBuf> {
    let text = read_ordinary(&places.made_folders()).unwrap_or_default();
    let text = String::from_utf8(text).unwrap_or_default();
    text.lines().map(PathBuf::from).collect()
}

/// Writes one path a line. It skips a path that does not fit into a line; that folder will stay.
fn write(places: &HookPaths, folders: &BTreeSet<PathBuf>) -> io::Result<()> {
    let path = places.made_folders();
    let lines: String = folders
        .iter()
        .filter_map(|folder| folder.to_str())
        .filter(|folder| !folder.contains(['\n', '\r']))
        .map(|folder| format!("{folder}\n"))
        .collect();
    if lines.is_empty() {
        return match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        };
    }
    let part = path.with_extension("part");
    let _ = fs::remove_file(&part);
    open_private(OpenOptions::new().write(true).create_new(true), &part)?.write_all(lines.as_bytes())?;
    rename(&part, &path)
}
