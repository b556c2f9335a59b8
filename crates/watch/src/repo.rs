//! The repository that a working folder belongs to.

use std::path::{Path, PathBuf};

use crate::fs::{FileKind, Fs};

/// The nearest folder at or above `cwd` that holds `.git`, which is a folder or, in a worktree, a file.
///
/// The caller keeps the answer, because it costs one `stat` for each level. A deleted folder still finds the
/// repository above it.
pub fn repo_root(fs: &dyn Fs, cwd: &Path) -> Option<PathBuf> {
    if !cwd.is_absolute() {
        return None;
    }
    cwd.ancestors()
        .find(|dir| fs.stat(&dir.join(".git")).is_ok_and(|stat| stat.kind != FileKind::Other))
        .map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mem::MemFs;

    #[test]
    fn the_nearest_folder_with_a_git_folder_or_file_is_the_top() {
        let fs = MemFs::new();
        fs.mkdir("/home/dev/outer/.git");
        fs.write("/home/dev/outer/inner/.git", b"gitdir: elsewhere");
        fs.mkdir("/home/dev/outer/inner/src");
        fs.mkdir("/home/dev/plain");
        let top = |cwd: &str| repo_root(&fs, Path::new(cwd));
        assert_eq!(top("/home/dev/outer"), Some("/home/dev/outer".into()));
        assert_eq!(top("/home/dev/outer/gone/deep"), Some("/home/dev/outer".into()));
        assert_eq!(top("/home/dev/outer/inner/src"), Some("/home/dev/outer/inner".into()));
        assert_eq!(top("/home/dev/plain"), None);
        assert_eq!(top("home/dev/outer"), None, "a relative folder is relative to nothing that we know");
    }
}
