//! What git says of a working tree. It only reads.

use std::path::{Path, PathBuf};
use std::process::Command;

use watchbill_core::time::Timestamp;
use watchbill_platform::program::{CallResult, run};
use watchbill_protocol::changes::FileFate;
use watchbill_protocol::error::{ApiError, ErrorCode};

/// The working tree of a repository.
pub struct WorkingTree<'a> {
    root: &'a Path,
    /// Settings that keep git from running the filters that the repository names.
    no_filters: Vec<String>,
}

/// A file that may differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Below the top folder, with `/`.
    pub path: String,
    /// What became of it.
    pub fate: FileFate,
    /// The object with the content from before; `None` for a new file.
    pub before: Option<String>,
}

/// A commit, or the empty tree.
pub struct Base {
    /// What git calls it.
    pub name: String,
    /// It is a commit.
    pub is_commit: bool,
}

impl<'a> WorkingTree<'a> {
    /// The working tree at `root`.
    pub fn at(root: &'a Path) -> Self {
        let mut tree = Self { root, no_filters: Vec::new() };
        // Git reports an error if there are none.
        let names =
            tree.git(["config", "-z", "--name-only", "--get-regexp", "^filter\\."]).unwrap_or_default();
        tree.no_filters =
            names.split('\0').filter(|name| !name.is_empty()).map(|name| format!("{name}=")).collect();
        tree
    }

    /// The path of a file below it.
    pub fn path(&self, file: &str) -> PathBuf {
        self.root.join(file)
    }

    /// The newest commit of the branch from before a time, by the first parents; without a time, the newest one. The empty tree
    /// if there is none.
    pub fn base(&self, before: Option<Timestamp>) -> Result<Base, ApiError> {
        let before = before.map(|at| format!("--before=@{}", at.as_millis().div_euclid(1000)));
        let args = ["rev-list", "-1", "--first-parent"].into_iter().chain(before.as_deref());
        // A repository without a commit has no HEAD, which git reports as an error.
        let commit = self.git(args.chain(["HEAD", "--"])).unwrap_or_default();
        match commit.trim() {
            "" => {
                let empty = self.git(["hash-object", "-t", "tree", "--stdin"])?;
                Ok(Base { name: empty.trim().to_owned(), is_commit: false })
            }
            commit => Ok(Base { name: commit.to_owned(), is_commit: true }),
        }
    }

    /// The files that may differ. Git compares their times, and contents only of files that changed in the same moment as its index.
    pub fn candidates(&self, base: &Base) -> Result<Vec<Candidate>, ApiError> {
        let tracked =
            self.git(["diff-index", "-z", "--no-renames", "--ignore-submodules=all", &base.name, "--"])?;
        let new = self.git(["ls-files", "-z", "--others", "--exclude-standard", "--full-name"])?;
        let new = new.split('\0').filter(|path| !path.is_empty() && !path.ends_with('/'));
        let new = new.map(|path| Candidate { path: path.to_owned(), fate: FileFate::Added, before: None });
        Ok(parse_raw(&tracked).into_iter().chain(new).collect())
    }

    /// The content of an object.
    pub fn content(&self, object: &str) -> Result<String, ApiError> {
        self.git(["cat-file", "blob", object])
    }

    fn git<'t>(&self, args: impl IntoIterator<Item = &'t str>) -> Result<String, ApiError> {
        let mut command = Command::new("git");
        command.arg("-C").arg(self.root);
        // No program that the repository names, no network, and no lock that the agent's own git would wait for.
        command.args([
            "-c",
            "core.fsmonitor=false",
            "-c",
            "protocol.allow=never",
            "--no-optional-locks",
            "--literal-pathspecs",
        ]);
        command.args(self.no_filters.iter().flat_map(|setting| ["-c", setting]));
        command.args(args);
        for name in
            ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_EXTERNAL_DIFF"]
        {
            command.env_remove(name);
        }
        command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
        match run(&mut command, Some("")) {
            CallResult::Done(out) => Ok(out),
            failed => Err(ApiError::new(ErrorCode::Unreadable, failed.failure_text("git"))),
        }
    }
}

/// The output of `diff-index -z`: `:MODE MODE OBJECT OBJECT STATUS`, a zero byte, the path, a zero byte.
fn parse_raw(out: &str) -> Vec<Candidate> {
    let mut parts = out.split('\0');
    let mut candidates = Vec::new();
    while let (Some(head), Some(path)) = (parts.next(), parts.next()) {
        let fields: Vec<&str> = head.trim_start_matches(':').split(' ').collect();
        let [mode, _, object, _, status] = fields[..] else { continue };
        let fate = match status.as_bytes().first() {
            Some(b'A') => FileFate::Added,
            Some(b'D') => FileFate::Removed,
            _ => FileFate::Changed,
        };
        let before = (mode.starts_with("100") && fate != FileFate::Added).then(|| object.to_owned());
        candidates.push(Candidate { path: path.to_owned(), fate, before });
    }
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_raw_form_gives_paths_fates_and_objects() {
        let out = ":100644 100644 aa 00 M\0a b\nc\0:000000 100755 00 00 A\0new\0:100644 000000 bb 00 D\0gone\0broken\0x\0";
        let candidate = |path: &str, fate, before: Option<&str>| Candidate {
            path: path.to_owned(),
            fate,
            before: before.map(str::to_owned),
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
    }
}
