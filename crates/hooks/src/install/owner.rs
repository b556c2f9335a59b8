//! Owners of files. A user's file stays the user's, also when root changes it.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

/// Gives a file the owner and the group of the one that it replaces.
///
/// # Errors
/// When the system does not allow it. If only the group differs, the file keeps the new group, provided that the old
/// file gave its group no more rights than all other users.
pub fn give_file(file: &File, old: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let new = file.metadata()?;
        if new.uid() == old.uid() && new.gid() == old.gid() {
            return Ok(());
        }
        let given = fchown(file, Some(old.uid()), Some(old.gid()));
        let (group, others) = (old.mode() >> 3 & 0o7, old.mode() & 0o7);
        if given.is_err() && new.uid() == old.uid() && group == others { Ok(()) } else { given }
    }
    #[cfg(not(unix))]
    {
        let _ = (file, old);
        Ok(())
    }
}

/// Gives a file that root has made in a user's folder to that user.
///
/// # Errors
/// When the system does not allow it.
pub fn give_new_file(file: &File, folder: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    if is_root_in(folder) {
        use std::os::unix::fs::{MetadataExt, fchown};
        return fchown(file, Some(folder.uid()), Some(folder.gid()));
    }
    let _ = (file, folder);
    Ok(())
}

/// The same for a folder.
///
/// # Errors
/// When the system does not allow it.
pub fn give_new_folder(new: &Path, folder: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    if is_root_in(folder) {
        use std::os::unix::fs::{MetadataExt, lchown};
        return lchown(new, Some(folder.uid()), Some(folder.gid()));
    }
    let _ = (new, folder);
    Ok(())
}

/// Whether this process is root and the folder belongs to another user.
pub fn is_root_in(folder: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        rustix::process::geteuid().is_root() && folder.uid() != 0
    }
    #[cfg(not(unix))]
    {
        let _ = folder;
        false
    }
}

/// The number of hard links of a file, where the system reports it.
pub fn names(path: &Path) -> u64 {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        std::fs::metadata(path).map_or(1, |found| found.nlink())
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        1
    }
}
