//! Names of the files in the data folder.

use std::path::{Path, PathBuf};

/// Name of the database in the data folder.
pub const DATABASE: &str = "watchbill.db";
/// Name of the lock file in the data folder.
pub const LOCK: &str = "writer.lock";
/// Name of the folder of archived transcripts in the data folder.
pub const ARCHIVE: &str = "archive";

/// The path with this suffix.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
