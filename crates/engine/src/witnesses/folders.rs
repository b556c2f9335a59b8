//! The working folders of all sessions: the known and the watched ones, and the result of a look at one.
//!
//! A working folder may lie on a dead mount, where every call waits for ever. So a look is a separate value: another
//! thread can take it (`folder_looks`), and the engine takes in the result later.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use watchbill_agents::layout::{ClientPath, classify};
use watchbill_agents::{Agent, traits};
use watchbill_core::time::{Millis, Timestamp};
use watchbill_watch::fs::{Fs, is_gone};
use watchbill_watch::repo::{main_tree, repo_root};

/// Limit of watched folders: each watch takes from a resource of the whole system.
pub const WATCH_LIMIT: usize = 256;
/// Limit of known folders.
const FOLDER_LIMIT: usize = 4096;
/// Limit of markers and status files per folder. No session needs more.
const FILE_LIMIT: usize = 1024;
/// A marker is a few hundred bytes, a status file a page of text.
const SIZE_LIMIT: u64 = 256 << 10;
/// A watched folder that was used within this time keeps its watch.
const SETTLED: Millis = Millis::from_secs(60);
/// If a folder lies outside every repository, look again after this time, while a session works there.
const NO_REPOSITORY: Millis = Millis::from_secs(60);

/// The known folders.
#[derive(Debug, Default)]
pub struct Folders {
    known: BTreeMap<PathBuf, FolderEntry>,
    watched: usize,
}

#[derive(Debug)]
struct FolderEntry {
    watched: bool,
    /// When a session was last seen to work there.
    used: Option<Timestamp>,
    looked: Timestamp,
    repository: Option<Repository>,
}

/// The repository around a working folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// The top folder of the working tree.
    pub top: Arc<str>,
    /// That of the main working tree, if this is another one.
    pub main: Option<Arc<str>>,
}

impl Repository {
    fn find(fs: &dyn Fs, cwd: &Path) -> Option<Self> {
        let top = repo_root(fs, cwd)?;
        let shared = |path: &Path| Arc::from(path.to_string_lossy());
        Some(Self { main: main_tree(fs, &top).as_deref().map(shared), top: shared(&top) })
    }
}

/// The actions to take for a folder that a session works in.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FolderActions {
    /// Look at this folder now.
    pub look: Option<PathBuf>,
    /// Report changes in this folder from now on.
    pub watch: Option<PathBuf>,
    /// Stop watching this folder, the least recently used one.
    pub unwatch: Option<PathBuf>,
}

/// The result of a look at one `.claude` folder.
#[derive(Debug)]
pub struct FolderLook {
    /// The folder.
    pub folder: PathBuf,
    /// Markers and status files, sorted by name.
    pub files: Vec<FolderFile>,
    /// The repository around the working folder.
    pub repository: Option<Repository>,
}

/// One small file in a working folder.
#[derive(Debug)]
pub struct FolderFile {
    /// Its path.
    pub path: PathBuf,
    /// [`ClientPath::Marker`] or [`ClientPath::StatusFile`].
    pub place: ClientPath,
    /// Its content, or the read error.
    pub bytes: io::Result<Vec<u8>>,
    /// The time of its last write.
    pub mtime: Option<Timestamp>,
}

/// Looks at one folder. Blocks for as long as the file system does.
pub fn look(fs: &dyn Fs, folder: &Path) -> FolderLook {
    let names = fs.list(folder).unwrap_or_default();
    let ours = names.into_iter().filter_map(|name| match classify(Path::new(&name.name))? {
        place @ (ClientPath::Marker { .. } | ClientPath::StatusFile { .. }) => {
            Some((folder.join(name.name), place))
        }
        _ => None,
    });
    let read = |(path, place): (PathBuf, ClientPath)| {
        let bytes = fs.read_small(&path, SIZE_LIMIT);
        let gone = bytes.as_ref().is_err_and(is_gone);
        let mtime = fs.stat(&path).ok().map(|stat| stat.mtime);
        (!gone).then_some(FolderFile { path, place, bytes, mtime })
    };
    FolderLook {
        folder: folder.to_path_buf(),
        files: ours.take(FILE_LIMIT).filter_map(read).collect(),
        repository: folder.parent().and_then(|cwd| Repository::find(fs, cwd)),
    }
}

/// The `.claude` folder of a working folder.
pub fn folder_of(cwd: &str) -> PathBuf {
    Path::new(cwd).join(traits(Agent::default()).folder)
}

impl Folders {
    /// A session works or has worked in `cwd`. Its `.claude` folder needs a look, and a watch while it is `in_use`.
    pub fn add(&mut self, cwd: &str, in_use: bool, now: Timestamp) -> FolderActions {
        let path = folder_of(cwd);
        if !path.is_absolute() {
            // A relative path would mean a folder below this program's own working folder.
            return FolderActions::default();
        }
        let known =
            self.known.get(&path).map(|known| (known.watched, known.repository.is_some(), known.looked));
        if known.is_none() && self.known.len() >= FOLDER_LIMIT {
            return FolderActions::default();
        }
        let mut added = FolderActions::default();
        let was_watched = known.is_some_and(|(watched, ..)| watched);
        if in_use && !was_watched {
            if self.watched >= WATCH_LIMIT {
                added.unwatch = self.free_watch(now);
            }
            if self.watched < WATCH_LIMIT {
                self.watched += 1;
                added.watch = Some(path.clone());
            }
        }
        let tried_again =
            in_use && known.is_some_and(|(_, found, at)| !found && now.since(at) >= NO_REPOSITORY);
        let look = known.is_none() || added.watch.is_some() || tried_again;
        let fresh = FolderEntry { watched: false, used: None, looked: now, repository: None };
        let entry = self.known.entry(path.clone()).or_insert(fresh);
        entry.watched |= added.watch.is_some();
        if in_use {
            entry.used = Some(now);
        }
        if look {
            entry.looked = now;
            added.look = Some(path);
        }
        added
    }

    /// Takes the watch from the least recently used folder, unless all are in use.
    fn free_watch(&mut self, now: Timestamp) -> Option<PathBuf> {
        let watched = self.known.iter_mut().filter(|(_, known)| known.watched);
        let (path, known) = watched.min_by_key(|(_, known)| known.used)?;
        if known.used.is_some_and(|used| now.since(used) < SETTLED) {
            return None;
        }
        known.watched = false;
        self.watched -= 1;
        Some(path.clone())
    }

    /// Notes the repository that a look found. Says whether it changed.
    pub fn set_repository(&mut self, folder: &Path, found: Option<&Repository>) -> bool {
        let Some(known) = self.known.get_mut(folder) else { return false };
        let changed = known.repository.as_ref() != found;
        known.repository = found.cloned();
        changed
    }

    /// The repository around `cwd`, if a look has found one.
    pub fn repository(&self, cwd: &str) -> Option<Repository> {
        self.known.get(&folder_of(cwd))?.repository.clone()
    }

    /// The known folders that a change at `path` may concern: `path` itself, its parent, and all below `path`.
    pub fn concerned(&self, path: &Path) -> Vec<PathBuf> {
        let around = path.parent().filter(|parent| self.known.contains_key(*parent));
        let folders = self.known.range(path.to_path_buf()..).map(|(folder, _)| folder);
        let below = folders.take_while(|folder| folder.starts_with(path));
        around.map(Path::to_path_buf).into_iter().chain(below.cloned()).collect()
    }

    /// Whether `path` is a known folder.
    pub fn contains(&self, path: &Path) -> bool {
        self.known.contains_key(path)
    }

    /// All known folders, for a rescan.
    pub fn all(&self) -> impl Iterator<Item = &PathBuf> {
        self.known.keys()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use watchbill_watch::mem::MemFs;

    fn at(secs: i64) -> Timestamp {
        Timestamp::from_millis(secs * 1000)
    }

    #[test]
    fn a_relative_folder_is_ignored() {
        let mut folders = Folders::default();
        for cwd in ["", ".", "repo", "../repo"] {
            assert_eq!(folders.add(cwd, true, at(0)), FolderActions::default(), "{cwd}");
        }
        assert_eq!(folders.all().count(), 0);
    }

    #[test]
    fn the_least_recently_used_folder_loses_its_watch() {
        let mut folders = Folders::default();
        for n in 0..WATCH_LIMIT {
            let added = folders.add(&format!("/repo/{n}"), true, at(n as i64));
            assert!(added.watch.is_some() && added.unwatch.is_none());
        }
        let now = at(1000);
        assert_eq!(folders.add("/repo/0", true, now).unwatch, None, "it is watched, and used again");
        let added = folders.add("/another", true, now);
        assert_eq!(added.unwatch, Some("/repo/1/.claude".into()));
        assert_eq!(added.watch, Some("/another/.claude".into()));
        // A folder that no session uses gets a look, but no watch.
        let unused = folders.add("/repo/1", false, now);
        assert_eq!((unused.watch, unused.unwatch), (None, None));
    }

    #[test]
    fn folders_in_use_keep_their_watches() {
        let mut folders = Folders::default();
        for n in 0..WATCH_LIMIT {
            folders.add(&format!("/repo/{n}"), true, at(0));
        }
        let added = folders.add("/another", true, at(1));
        assert_eq!((added.watch, added.unwatch), (None, None));
        assert_eq!(added.look, Some("/another/.claude".into()), "but it is looked at");
    }

    #[test]
    fn a_repository_made_later_is_found_while_work_goes_on() {
        let fs = MemFs::new();
        fs.mkdir("/repo/.claude");
        let mut folders = Folders::default();
        let look_now = |folders: &mut Folders, secs: i64| {
            let added = folders.add("/repo", true, at(secs));
            let Some(folder) = added.look else { return false };
            let found = look(&fs, &folder).repository;
            if secs == 0 {
                fs.mkdir("/repo/.git");
            }
            folders.set_repository(&folder, found.as_ref());
            true
        };
        assert!(look_now(&mut folders, 0));
        assert_eq!(folders.repository("/repo"), None);
        assert!(!look_now(&mut folders, 59));
        assert!(look_now(&mut folders, 60));
        assert_eq!(folders.repository("/repo").map(|found| found.top), Some("/repo".into()));
        assert!(!look_now(&mut folders, 600), "what was found is not looked for");
    }
}
