//! What git says of a working tree. It only reads, and runs no program that the repository names: an agent may have written its
//! configuration and its index.

use std::path::{Component, Path, PathBuf};

use watchbill_core::time::Timestamp;
use watchbill_platform::files::real_path;
use watchbill_platform::program::{CallResult, git, run};
use watchbill_protocol::changes::FileFate;
use watchbill_protocol::error::{ApiError, ErrorCode};

/// An empty variable, for settings whose names may hold any sign.
const EMPTY: &str = "WATCHBILL_EMPTY";

/// The working tree of a repository.
pub struct WorkingTree {
    root: PathBuf,
    /// Settings that turn the repository's filters off.
    no_filters: Vec<String>,
}

/// A file that may differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Below the top folder, with `/`.
    pub path: String,
    /// What became of it.
    pub fate: FileFate,
    /// The object with the content from before; `None` for a new file, and for what was no plain file.
    pub before: Option<String>,
    /// It can be executed now and could not before, or the other way round.
    pub mode_changed: bool,
}

/// A commit, or the empty tree.
pub struct Base {
    /// What git calls it.
    pub name: String,
    /// It is a commit.
    pub is_commit: bool,
}

impl WorkingTree {
    /// The working tree at `root`.
    pub fn at(root: &Path) -> Result<Self, ApiError> {
        let root = real_path(root).map_err(|error| unreadable(format!("{}: {error}", root.display())))?;
        let mut tree = Self { root, no_filters: Vec::new() };
        let names = tree.git_or_nothing(["config", "-z", "--name-only", "--get-regexp", "^filter\\."])?;
        tree.no_filters = names
            .split('\0')
            .filter(|name| !name.is_empty())
            .map(|name| format!("--config-env={name}={EMPTY}"))
            .collect();
        let top = tree.git(["rev-parse", "--show-toplevel"])?;
        match real_path(Path::new(top.trim_end_matches(['\n', '\r']))) {
            Ok(top) if top == tree.root => Ok(tree),
            _ => Err(unreadable("git takes another folder for the top of this repository".to_owned())),
        }
    }

    /// The newest commit of the branch from before a time, by the first parents; without a time, the newest one. The empty tree
    /// in a repository without such a commit.
    pub fn base(&self, before: Option<Timestamp>) -> Result<Base, ApiError> {
        if self.git_or_nothing(["rev-parse", "-q", "--verify", "HEAD"])?.is_empty() {
            return self.empty_tree();
        }
        let before = before.map(|at| format!("--before=@{}", at.as_millis().div_euclid(1000)));
        let args = ["rev-list", "-1", "--first-parent"].into_iter().chain(before.as_deref());
        match self.git(args.chain(["HEAD", "--"]))?.trim() {
            "" if self.git(["rev-parse", "--is-shallow-repository"])?.trim() == "true" => Err(unreadable(
                "the repository is shallow, and its oldest commit is newer than the work".to_owned(),
            )),
            "" => self.empty_tree(),
            commit => Ok(Base { name: commit.to_owned(), is_commit: true }),
        }
    }

    fn empty_tree(&self) -> Result<Base, ApiError> {
        let empty = self.git(["hash-object", "-t", "tree", "--stdin"])?;
        Ok(Base { name: empty.trim().to_owned(), is_commit: false })
    }

    /// The files that may differ. Git compares their times, and contents only of files that changed in the same moment as its index.
    pub fn candidates(&self, base: &Base) -> Result<Vec<Candidate>, ApiError> {
        let tracked =
            self.git(["diff-index", "-z", "--no-renames", "--ignore-submodules=all", &base.name, "--"])?;
        let new = self.git(["ls-files", "-z", "--others", "--exclude-standard", "--full-name"])?;
        let new = new.split('\0').map(|path| Candidate {
            path: path.to_owned(),
            fate: FileFate::Added,
            before: None,
            mode_changed: false,
        });
        Ok(parse_raw(&tracked).into_iter().chain(new).filter(|file| is_below(&file.path)).collect())
    }

    /// The place of a file. `None` if a link leads out of the working tree.
    pub fn place(&self, file: &str) -> Option<PathBuf> {
        let place = self.root.join(file);
        let folder = real_path(place.parent()?).ok()?;
        folder.starts_with(&self.root).then(|| folder.join(place.file_name().unwrap_or_default()))
    }

    /// The content of an object.
    pub fn content(&self, object: &str) -> Result<String, ApiError> {
        self.git(["cat-file", "blob", object])
    }

    /// Whether a file has the content of an object, to the byte.
    pub fn is_same(&self, file: &Path, object: &str) -> bool {
        let file = file.to_string_lossy();
        self.git(["hash-object", "--no-filters", "--", &file]).is_ok_and(|hash| hash.trim() == object)
    }

    fn git<'t>(&self, args: impl IntoIterator<Item = &'t str>) -> Result<String, ApiError> {
        match self.call(args) {
            CallResult::Done(out) => Ok(out),
            failed => Err(unreadable(failed.failure_text("git"))),
        }
    }

    /// The same, where git ends with an error and no word if there is nothing.
    fn git_or_nothing<'t>(&self, args: impl IntoIterator<Item = &'t str>) -> Result<String, ApiError> {
        match self.call(args) {
            CallResult::Failed(words) if words.trim().is_empty() => Ok(String::new()),
            CallResult::Done(out) => Ok(out),
            failed => Err(unreadable(failed.failure_text("git"))),
        }
    }

    fn call<'t>(&self, args: impl IntoIterator<Item = &'t str>) -> CallResult {
        let mut command = git();
        command.arg("-C").arg(&self.root).args(["-c", "core.fsmonitor="]);
        command.args(["--no-optional-locks", "--literal-pathspecs"]).args(&self.no_filters).args(args);
        // An empty list allows no transport. It counts before what the repository says of single ones.
        command.env("GIT_ALLOW_PROTOCOL", "").env("GIT_NO_LAZY_FETCH", "1").env("GIT_TERMINAL_PROMPT", "0");
        run(command.env(EMPTY, "").env("LC_ALL", "C"), Some(""))
    }
}

/// Whether a path names a file below the top folder. Git does not check the paths of an index that lies on the disk.
fn is_below(path: &str) -> bool {
    let mut parts = Path::new(path).components();
    !path.is_empty() && !path.ends_with('/') && parts.all(|part| matches!(part, Component::Normal(_)))
}

fn unreadable(message: String) -> ApiError {
    ApiError::new(ErrorCode::Unreadable, message)
}

/// The output of `diff-index -z`: `:MODE MODE OBJECT OBJECT STATUS`, a zero byte, the path, a zero byte.
fn parse_raw(out: &str) -> Vec<Candidate> {
    let mut parts = out.split('\0');
    let mut candidates = Vec::new();
    while let (Some(head), Some(path)) = (parts.next(), parts.next()) {
        let fields: Vec<&str> = head.trim_start_matches(':').split(' ').collect();
        let [mode, now, object, _, status] = fields[..] else { continue };
        let fate = match status.as_bytes().first() {
            Some(b'A') => FileFate::Added,
            Some(b'D') => FileFate::Removed,
            _ => FileFate::Changed,
        };
        let before = (mode.starts_with("100") && fate != FileFate::Added).then(|| object.to_owned());
        let mode_changed = fate == FileFate::Changed && mode != now;
        candidates.push(Candidate { path: path.to_owned(), fate, before, mode_changed });
    }
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_raw_form_gives_paths_fates_objects_and_modes() {
        let out = ":100644 100755 aa 00 M\0a b\nc\0:000000 100755 00 00 A\0new\0:100644 000000 bb 00 D\0gone\0broken\0x\0";
        let candidate = |path: &str, fate, before: Option<&str>| Candidate {
            path: path.to_owned(),
            fate,
            before: before.map(str::to_owned),
            mode_changed: fate == FileFate::Changed,
        };
        assert_eq!(
            parse_raw(out),
            [
                candidate("a b\nc", FileFate::Changed, Some("aa")),
                candidate("new", FileFate::Added, None),
                candidate("gone", FileFate::Removed, Some("bb")),
            ]
        );
        assert_eq!(parse_raw(""), []);
        for (path, is) in
            [("a/b", true), ("", false), ("a/", false), ("/a", false), ("../a", false), ("a/../b", false)]
        {
            assert_eq!(is_below(path), is, "{path}");
        }
    }
}
