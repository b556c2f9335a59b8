//! Finds the project of a working folder in the file system.

use std::path::Path;

use watchbill_core::ids::stable_hash;
use watchbill_store::tables::memories::ProjectPlace;
use watchbill_watch::fs::Fs;
use watchbill_watch::repo::{common_git_dir, repo_root};

/// The project: the repository's common git folder, so that worktrees share it; else the real path of the folder.
pub(crate) fn project_of(fs: &dyn Fs, cwd: &str) -> ProjectPlace {
    let folder = Path::new(cwd);
    let folder = fs.canonical(folder).unwrap_or_else(|_| folder.to_owned());
    let (place, root) = match repo_root(fs, &folder) {
        Some(root) => (common_git_dir(fs, &root), root),
        None => (folder.clone(), folder),
    };
    let place = place.to_string_lossy().into_owned();
    ProjectPlace { project: stable_hash(place.as_bytes()), place, root: root.to_string_lossy().into_owned() }
}
