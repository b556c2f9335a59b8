//! Folders that were made for settings: noted, so that taking our handlers out leaves no empty ones behind.
//!
//! That a folder is empty does not say who made it, so whoever installs writes down which were missing
//! ([`Places::made_folders`]). Only those are taken away again, from the innermost on, and only while they are empty.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;

use super::file::SettingsFile;
use super::owner;
use crate::places::{Places, open_private, read_ordinary};

/// Makes the folders in which new settings will lie, and notes those that were missing. Of settings that are there
/// nothing has to be made.
///
/// # Errors
/// When one cannot be made or noted.
pub fn make(file: &SettingsFile, places: &Places) -> io::Result<()> {
    if file.text.is_some() {
        return Ok(());
    }
    let mut noted = read(places);
    let before = noted.clone();
    let mut missing = Vec::new();
    for folder in file.folders() {
        // What is there by now may have been made anew by somebody else since.
        if folder.exists() {
            noted.remove(folder);
        } else {
            missing.push(folder.to_path_buf());
        }
    }
    if let Some(innermost) = missing.first() {
        fs::create_dir_all(innermost)?;
        // They belong to whoever has the folder around them.
        let around = missing.last().and_then(|outermost| outermost.parent());
        if let Some(around) = around.and_then(|around| fs::metadata(around).ok()) {
            missing.iter().try_for_each(|new| owner::give_new_folder(new, &around))?;
        }
    }
    noted.extend(missing);
    if noted == before { Ok(()) } else { write(places, &noted) }
}

/// Takes the folders away that were made for settings which are gone, as far as nothing else lies in them.
pub fn remove(file: &SettingsFile, places: &Places) {
    let mut noted = read(places);
    let before = noted.len();
    let mut is_left = false;
    for folder in file.folders() {
        // The system removes no folder that holds anything. What stays has become somebody else's.
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

/// One path a line; without the file there are none.
fn read(places: &Places) -> BTreeSet<PathBuf> {
    let text = read_ordinary(&places.made_folders()).unwrap_or_default();
    let text = String::from_utf8(text).unwrap_or_default();
    text.lines().map(PathBuf::from).collect()
}

/// A path that does not fit into a line is not noted: its folder stays.
fn write(places: &Places, folders: &BTreeSet<PathBuf>) -> io::Result<()> {
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
    fs::rename(part, path)
}
