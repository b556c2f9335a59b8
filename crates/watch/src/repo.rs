//! The repository that a working folder belongs to.

use std::ffi::OsStr;
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

/// The longest file that names a git folder.
const POINTER: u64 = 4_096;

/// The longest configuration of a submodule.
const CONFIG: u64 = 64 << 10;

/// The git folder that all worktrees of a repository share. `root` is the top of a working tree, as [`repo_root`] gives it.
///
/// `.git` may be a file or a link that anyone wrote, for example in an archive. It counts only if the repository knows the folder,
/// too: by `worktrees/NAME/gitdir`, or by `core.worktree` of a submodule. Else the folder stands for itself, by its own `.git`.
pub fn common_git_dir(fs: &dyn Fs, root: &Path) -> PathBuf {
    let git = canonical(fs, root.to_owned()).join(".git");
    common_of_pointer(fs, &git).unwrap_or(git)
}

/// The shared git folder to which the file `git` points, if the repository knows it.
fn common_of_pointer(fs: &dyn Fs, git: &Path) -> Option<PathBuf> {
    let root = git.parent()?;
    let read = |path: &Path, most: u64| String::from_utf8(fs.read_small(path, most).ok()?).ok();
    let real = |path: PathBuf| fs.canonical(&path).ok();
    // In a worktree `.git` is a file: `gitdir: FOLDER`.
    let pointer = read(git, POINTER)?;
    let folder = real(root.join(pointer.strip_prefix("gitdir:")?.trim()))?;
    if let Some(common) = read(&folder.join("commondir"), POINTER) {
        let common = real(folder.join(common.trim_end_matches(['\n', '\r'])))?;
        let back = read(&folder.join("gitdir"), POINTER)?;
        let back = folder.join(back.trim_end_matches(['\n', '\r']));
        let is_known = back.file_name() == git.file_name() && real(back.parent()?.to_owned())? == root;
        return (is_known && folder.parent()? == common.join("worktrees")).then_some(common);
    }
    // A submodule: git writes the way back, relative to the git folder.
    let config = read(&folder.join("config"), CONFIG)?;
    let back = config.lines().find_map(|line| {
        let (name, value) = line.trim().split_once('=')?;
        (name.trim() == "worktree").then(|| folder.join(value.trim().trim_matches('"')))
    });
    (real(back?)? == root).then_some(folder)
}

/// The top folder of the main working tree, if `root` is another working tree of that repository. `None` for the main one itself, and
/// where the repository has no main working tree.
pub fn main_tree(fs: &dyn Fs, root: &Path) -> Option<PathBuf> {
    let common = common_git_dir(fs, root);
    let main = common.parent().filter(|_| common.file_name() == Some(OsStr::new(".git")))?;
    (main != canonical(fs, root.to_owned())).then(|| main.to_owned())
}

/// The branch of a working tree; `None` for a detached head, and where none can be read.
pub fn branch(fs: &dyn Fs, root: &Path) -> Option<String> {
    let git = root.join(".git");
    let pointer = fs.read_small(&git, POINTER).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    // In a worktree `.git` is a file: `gitdir: FOLDER`.
    let folder = match pointer.as_deref() {
        Some(pointer) => root.join(pointer.strip_prefix("gitdir:")?.trim()),
        None => git,
    };
    let head = String::from_utf8(fs.read_small(&folder.join("HEAD"), POINTER).ok()?).ok()?;
    Some(head.trim_end().strip_prefix("ref: refs/heads/")?.to_owned())
}

/// The real path; the path itself if it is gone.
fn canonical(fs: &dyn Fs, path: PathBuf) -> PathBuf {
    fs.canonical(&path).unwrap_or(path)
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
        assert_eq!(common_git_dir(&fs, Path::new("/home/dev/outer")), Path::new("/home/dev/outer/.git"));
        assert_eq!(top("home/dev/outer"), None, "a relative folder is relative to nothing that we know");
    }

    #[test]
    fn each_worktree_has_a_branch_of_its_own() {
        let fs = MemFs::new();
        fs.write("/srv/main/.git/HEAD", b"ref: refs/heads/feature/x\n");
        fs.write("/srv/main/.git/worktrees/tree/HEAD", b"ref: refs/heads/fix\n");
        fs.write("/srv/tree/.git", b"gitdir: /srv/main/.git/worktrees/tree\n");
        fs.write("/srv/loose/.git/HEAD", b"6b0f1e2d\n");
        let of = |root: &str| branch(&fs, Path::new(root));
        assert_eq!((of("/srv/main"), of("/srv/tree")), (Some("feature/x".into()), Some("fix".into())));
        assert_eq!((of("/srv/loose"), of("/srv/gone")), (None, None));
    }

    #[test]
    fn worktrees_share_one_git_folder() {
        let folder = tempfile::tempdir().unwrap();
        let top = watchbill_platform::files::real_path(folder.path()).unwrap();
        let (main, tree) = (top.join("main"), top.join("tree"));
        std::fs::create_dir_all(main.join(".git/worktrees/tree")).unwrap();
        std::fs::create_dir_all(&tree).unwrap();
        std::fs::write(main.join(".git/worktrees/tree/commondir"), "../..\n").unwrap();
        let pointer = format!("gitdir: {}\n", main.join(".git/worktrees/tree").display());
        std::fs::write(tree.join(".git"), pointer).unwrap();
        let back = format!("{}\n", tree.join(".git").display());
        std::fs::write(main.join(".git/worktrees/tree/gitdir"), back).unwrap();
        let common = |root: &Path| common_git_dir(&crate::fs::StdFs, root);
        assert_eq!((common(&main), common(&tree)), (main.join(".git"), main.join(".git")));
        let of = |root: &Path| main_tree(&crate::fs::StdFs, root);
        assert_eq!((of(&main), of(&tree)), (None, Some(main)));
    }

    #[test]
    fn a_folder_that_only_claims_to_be_a_worktree_stands_for_itself() {
        let folder = tempfile::tempdir().unwrap();
        let top = watchbill_platform::files::real_path(folder.path()).unwrap();
        let write = |path: &str, text: &str| {
            let path = top.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("priv/.git/HEAD", "ref: refs/heads/main\n");
        write("priv/.git/worktrees/tree/commondir", "../..\n");
        write("priv/.git/worktrees/tree/gitdir", "../../../../tree/.git\n");
        write("priv/.git/modules/sub/config", "[core]\n\tbare = false\n\tworktree = ../../../sub\n");
        write("tree/.git", "gitdir: ../priv/.git/worktrees/tree\n");
        write("priv/sub/.git", "gitdir: ../.git/modules/sub\n");
        let common = |root: &str| common_git_dir(&crate::fs::StdFs, &top.join(root));
        let private = top.join("priv/.git");
        assert_eq!((common("priv"), common("tree")), (private.clone(), private.clone()));
        assert_eq!(common("priv/sub"), private.join("modules/sub"));
        assert_eq!(main_tree(&crate::fs::StdFs, &top.join("priv/sub")), None, "a submodule is no worktree");
        write("own/made/commondir", "../../priv/.git\n");
        write("own/made/gitdir", &format!("{}/own/.git\n", top.display()));
        write("own/worktrees/made/commondir", "../../../priv/.git\n");
        write("own/worktrees/made/gitdir", "../../.git\n");
        for pointer in [
            "gitdir: ../priv/.git\n",
            "gitdir: ../priv/.git",
            "gitdir:../priv/.git/worktrees/tree",
            "gitdir: ../priv/.git/modules/sub\n",
            "gitdir: made\n",
            "gitdir: worktrees/made\n",
            "gitdir: gone\n",
            "gitdir: .\n",
            "gitdir:\n",
            "no pointer",
            "",
        ] {
            write("own/.git", pointer);
            assert_eq!(common("own"), top.join("own/.git"), "{pointer:?}");
        }
        #[cfg(unix)]
        {
            std::fs::create_dir_all(top.join("linked")).unwrap();
            std::os::unix::fs::symlink("../priv/.git", top.join("linked/.git")).unwrap();
            assert_eq!(common("linked"), top.join("linked/.git"));
        }
    }
}
