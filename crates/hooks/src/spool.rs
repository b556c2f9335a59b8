//! The spool: one file for each event that no journal holds yet. A file appears complete, or not at all.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::envelope::Envelope;
use watchbill_platform::files::{check_size_limit, is_private, open_private, private_dir};

/// The end of a spooled event's file name.
const SUFFIX: &str = ".event";

/// The beginning of the name of a file that is being written.
const UNFINISHED: &str = ".new-";

/// The end of the name of an event whose sender still waits for the rest of the payload.
const PART_SUFFIX: &str = ".part";

/// After this long, a sender that waited for its payload has given up or died.
const PART_AGE_LIMIT: Duration = Duration::from_secs(60);

/// The end of the name of a file that is no readable event. The file stays, because it may hold the user's text.
const DAMAGED: &str = ".damaged";

/// After this long, an unfinished file has lost its writer.
const UNFINISHED_AGE_LIMIT: Duration = Duration::from_secs(3600);

/// One spooled event.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spooled {
    /// The sender's clock since boot.
    pub order: u64,
    /// The event's id.
    pub id: u128,
    /// The file.
    pub path: PathBuf,
}

/// Writes an event into a spool. When this returns, the file is complete under its name.
///
/// The file is not synced to the disk: the agent would have to wait, and a power failure ends the agent too.
///
/// # Errors
/// When the folder or the file cannot be written; then nothing is left there.
pub fn write(folder: &Path, envelope: &Envelope, frame: &[u8]) -> io::Result<()> {
    write_as(folder, envelope, frame, SUFFIX).map(drop)
}

/// Stores the part of an event that has come so far, while its sender waits for the rest. If the sender dies, the
/// part becomes the event.
///
/// # Errors
/// As [`write()`].
pub fn write_part(folder: &Path, envelope: &Envelope, frame: &[u8]) -> io::Result<PathBuf> {
    write_as(folder, envelope, frame, PART_SUFFIX)
}

fn write_as(folder: &Path, envelope: &Envelope, frame: &[u8], end: &str) -> io::Result<PathBuf> {
    // The folder above must be private too: its owner could replace this folder by another one.
    folder.parent().map_or(Ok(()), private_dir)?;
    private_dir(folder)?;
    check_size_limit(frame.len() as u64)?;
    let unfinished = folder.join(format!("{UNFINISHED}{:032x}", envelope.id));
    let mut file = open_private(OpenOptions::new().write(true).create_new(true), &unfinished)?;
    let path = folder.join(format!("{:020}-{:032x}{end}", envelope.order, envelope.id));
    let written = file.write_all(frame).and_then(|()| fs::rename(&unfinished, &path));
    if written.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    written.map(|()| path)
}

/// The events in a spool, by their senders' clocks. A folder that is missing, or that another user can write into,
/// counts as empty.
///
/// # Errors
/// When the folder is there and cannot be read.
pub fn list(folder: &Path) -> io::Result<Vec<Spooled>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    if !is_private(folder) {
        tracing::debug!(folder = %folder.display(), "a spool that is not ours is not read");
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        if let Some((order, id)) = entry.file_name().to_str().and_then(parse_name) {
            found.push(Spooled { order, id, path: entry.path() });
        }
    }
    found.sort();
    Ok(found)
}

/// Renames a file that is no event, so that it is counted once and not read again.
pub fn mark_damaged(path: &Path) {
    let mut name = path.as_os_str().to_owned();
    name.push(DAMAGED);
    if let Err(error) = fs::rename(path, name) {
        tracing::warn!(%error, file = %path.display(), "a damaged hook event could not be put aside");
    }
}

/// Files in a spool by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SpoolCounts {
    /// Events that no journal holds yet.
    pub waiting: usize,
    /// Files that could not be read as events.
    pub damaged: usize,
}

/// Counts a spool. `most` bounds the work.
pub fn count(folder: &Path, most: usize) -> SpoolCounts {
    let mut counted = SpoolCounts::default();
    if !is_private(folder) {
        return counted;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten().take(most) {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        counted.waiting += usize::from(name.ends_with(SUFFIX));
        counted.damaged += usize::from(name.ends_with(DAMAGED));
    }
    counted
}

/// Clears up after killed senders: removes unfinished files, and turns stored parts of events into events.
pub fn clear_abandoned(folder: &Path, now: SystemTime) {
    if !is_private(folder) {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        let changed = entry.metadata().and_then(|found| found.modified());
        let age = changed.ok().and_then(|changed| now.duration_since(changed).ok()).unwrap_or_default();
        let dealt_with = match &*name {
            name if name.starts_with(UNFINISHED) && age > UNFINISHED_AGE_LIMIT => fs::remove_file(&path),
            name if name.ends_with(PART_SUFFIX) && age > PART_AGE_LIMIT => {
                fs::rename(&path, path.with_extension(SUFFIX.trim_start_matches('.')))
            }
            _ => Ok(()),
        };
        if let Err(error) = dealt_with {
            tracing::warn!(%error, file = %path.display(), "an abandoned hook event cannot be cleared away");
        }
    }
}

fn parse_name(name: &str) -> Option<(u64, u128)> {
    let (order, id) = name.strip_suffix(SUFFIX)?.split_once('-')?;
    if order.len() != 20 || id.len() != 32 {
        return None;
    }
    Some((order.parse().ok()?, u128::from_str_radix(id, 16).ok()?))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use watchbill_core::time::Timestamp;

    use super::*;

    #[test]
    fn a_spool_that_others_can_write_into_counts_as_empty() {
        let dir = tempfile::tempdir().expect("a folder");
        let above = dir.path().join("watchbill-1000");
        let folder = above.join("hooks-1");
        let envelope = Envelope::new(1, Timestamp::from_millis(0), 1);
        write(&folder, &envelope, &envelope.encode(b"{}")).expect("written");
        let waiting = |folder: &Path| {
            let counted = count(folder, 10).waiting;
            assert_eq!(list(folder).expect("it can be read").len(), counted);
            counted
        };
        assert_eq!(waiting(&folder), 1);
        for open in [&folder, &above] {
            fs::set_permissions(open, fs::Permissions::from_mode(0o777)).expect("ours");
            assert_eq!(waiting(&folder), 0, "other users can write into {}", open.display());
            fs::set_permissions(open, fs::Permissions::from_mode(0o700)).expect("ours");
        }
        let link = dir.path().join("link");
        symlink(&folder, &link).expect("a link");
        assert_eq!(waiting(&link), 0, "a link leads anywhere");
        assert_eq!(waiting(&folder), 1);
    }
}
