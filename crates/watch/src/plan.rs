//! Which folders to watch, worked out from what exists right now.
//!
//! The plan is made anew after every change that could matter and compared with what is installed. So a root that
//! appears later, vanishes, is replaced or has its link turned elsewhere is no special case anywhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::fs::{FileId, FileKind, Fs};
use crate::layout::{PROJECTS, SESSIONS};

/// How far a watch reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reach {
    /// Only until something appears in it: its other changes concern nobody.
    Awaiting,
    /// The folder's own names.
    Flat,
    /// Everything below.
    Tree,
}

/// One folder to be watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Planned {
    pub(crate) reach: Reach,
    /// Which folder it was when the plan was made: another one of the same name needs a new watch.
    pub(crate) id: FileId,
    /// The canonical root that it belongs to, if it is one of the agent's own folders.
    pub(crate) root: Option<PathBuf>,
}

/// What is known of one root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlannedRoot {
    /// As it was named to us.
    pub(crate) given: PathBuf,
    /// Its one true spelling, if it exists.
    pub(crate) canonical: Option<PathBuf>,
}

/// All that should be watched.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Plan {
    /// By canonical folder.
    pub(crate) watches: BTreeMap<PathBuf, Planned>,
    /// Paths whose coming or going makes the plan obsolete.
    pub(crate) awaited: BTreeSet<PathBuf>,
    /// The spellings that a flatly watched working folder was asked for by.
    pub(crate) spellings: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
    /// Each root once, in the order given.
    pub(crate) roots: Vec<PlannedRoot>,
}

/// Works out the plan for `roots` of the agent and single folders `dirs`, all absolute.
pub(crate) fn plan<'a>(fs: &dyn Fs, roots: &[PathBuf], dirs: impl IntoIterator<Item = &'a PathBuf>) -> Plan {
    let mut plan = Plan::default();
    for root in roots {
        plan.add_root(fs, root);
    }
    for dir in dirs {
        plan.add_dir(fs, dir);
    }
    // A folder inside a watched tree is watched already, and a second watch of it would make it shallow.
    let trees: Vec<PathBuf> = plan.trees().map(|(tree, _)| tree.clone()).collect();
    plan.watches.retain(|path, _| !trees.iter().any(|tree| path != tree && path.starts_with(tree)));
    plan
}

impl Plan {
    /// The folders watched with everything below, each with its root.
    pub(crate) fn trees(&self) -> impl Iterator<Item = (&PathBuf, &PathBuf)> {
        self.watches
            .iter()
            .filter(|(_, planned)| planned.reach == Reach::Tree)
            .filter_map(|(path, planned)| planned.root.as_ref().map(|root| (path, root)))
    }

    fn add_root(&mut self, fs: &dyn Fs, given: &Path) {
        let canonical = dir_id(fs, given).and_then(|id| Some((fs.canonical(given).ok()?, id)));
        let Some((root, id)) = canonical else {
            self.await_appearance(fs, given);
            self.roots.push(PlannedRoot { given: given.to_owned(), canonical: None });
            return;
        };
        self.await_link(fs, given, &root);
        if self.roots.iter().any(|known| known.canonical.as_ref() == Some(&root)) {
            return;
        }
        // The root's own watch tells of its removal and of folders that come later.
        self.watch(&root, Reach::Awaiting, id, None);
        for (name, reach) in [(PROJECTS, Reach::Tree), (SESSIONS, Reach::Flat)] {
            let folder = root.join(name);
            self.awaited.insert(folder.clone());
            let Some(id) = dir_id(fs, &folder) else { continue };
            // Two roots may share a folder by a link; the system would report it under one name only.
            let shared = self.watches.values().any(|known| known.id == id && known.reach == reach);
            if !shared {
                self.watch(&folder, reach, id, Some(&root));
            }
        }
        self.roots.push(PlannedRoot { given: given.to_owned(), canonical: Some(root) });
    }

    fn add_dir(&mut self, fs: &dyn Fs, given: &Path) {
        let canonical = dir_id(fs, given).and_then(|id| Some((fs.canonical(given).ok()?, id)));
        match canonical {
            Some((dir, id)) => {
                self.await_link(fs, given, &dir);
                self.watch(&dir, Reach::Flat, id, None);
                self.spellings.entry(dir).or_default().insert(given.to_owned());
            }
            None => self.await_appearance(fs, given),
        }
    }

    /// Watches the nearest folder above `path` that exists, for the next name on the way to `path`.
    fn await_appearance(&mut self, fs: &dyn Fs, path: &Path) {
        let mut missing = path;
        while let (Some(above), Some(name)) = (missing.parent(), missing.file_name()) {
            if let Some(id) = dir_id(fs, above) {
                let above = fs.canonical(above).unwrap_or_else(|_| above.to_owned());
                self.awaited.insert(above.join(name));
                self.watch(&above, Reach::Awaiting, id, None);
                return;
            }
            missing = above;
        }
    }

    /// When the last name of `given` is a link: watches the folder of the link, in case it is turned elsewhere.
    fn await_link(&mut self, fs: &dyn Fs, given: &Path, canonical: &Path) {
        let (Some(above), Some(name)) = (given.parent(), given.file_name()) else { return };
        let Ok(above) = fs.canonical(above) else { return };
        let link = above.join(name);
        if link != canonical
            && let Some(id) = dir_id(fs, &above)
        {
            self.awaited.insert(link);
            self.watch(&above, Reach::Awaiting, id, None);
        }
    }

    /// Adds a watch; of two of the same folder the wider one stays.
    fn watch(&mut self, path: &Path, reach: Reach, id: FileId, root: Option<&Path>) {
        let root = root.map(Path::to_owned);
        match self.watches.get_mut(path) {
            Some(known) if known.reach >= reach => {}
            Some(known) => *known = Planned { reach, id, root },
            None => {
                self.watches.insert(path.to_owned(), Planned { reach, id, root });
            }
        }
    }
}

fn dir_id(fs: &dyn Fs, path: &Path) -> Option<FileId> {
    fs.stat(path).ok().filter(|stat| stat.kind == FileKind::Dir).map(|stat| stat.id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mem::MemFs;

    fn shape(fs: &MemFs, roots: &[&str], dirs: &[&str]) -> (Vec<(String, Reach)>, Vec<String>) {
        let roots: Vec<PathBuf> = roots.iter().map(PathBuf::from).collect();
        let dirs: Vec<PathBuf> = dirs.iter().map(PathBuf::from).collect();
        let plan = plan(fs, &roots, &dirs);
        let watches = plan.watches.iter().map(|(path, planned)| (path.display().to_string(), planned.reach));
        (watches.collect(), plan.awaited.iter().map(|path| path.display().to_string()).collect())
    }

    #[test]
    fn the_plan_follows_what_exists() {
        let fs = MemFs::new();
        fs.mkdir("/home/dev");
        let (watches, awaited) = shape(&fs, &["/home/dev/.claude"], &[]);
        assert_eq!(watches, [("/home/dev".into(), Reach::Awaiting)]);
        assert_eq!(awaited, ["/home/dev/.claude"]);

        fs.mkdir("/home/dev/.claude");
        let (watches, awaited) = shape(&fs, &["/home/dev/.claude", "/home/dev/.claude"], &[]);
        assert_eq!(watches, [("/home/dev/.claude".into(), Reach::Awaiting)]);
        assert_eq!(awaited, ["/home/dev/.claude/projects", "/home/dev/.claude/sessions"]);

        fs.mkdir("/home/dev/.claude/projects/p");
        fs.mkdir("/home/dev/.claude/sessions");
        let (watches, _) = shape(&fs, &["/home/dev/.claude"], &["/home/dev/.claude"]);
        assert_eq!(
            watches,
            [
                ("/home/dev/.claude".into(), Reach::Flat),
                ("/home/dev/.claude/projects".into(), Reach::Tree),
                ("/home/dev/.claude/sessions".into(), Reach::Flat)
            ]
        );
    }

    #[test]
    fn a_working_folder_without_the_agents_folder_is_watched_for_it() {
        let fs = MemFs::new();
        fs.mkdir("/home/dev");
        let (watches, awaited) = shape(&fs, &[], &["/home/dev/repo/.claude"]);
        assert_eq!(watches, [("/home/dev".into(), Reach::Awaiting)]);
        assert_eq!(awaited, ["/home/dev/repo"]);
        fs.mkdir("/home/dev/repo/.claude");
        let (watches, awaited) = shape(&fs, &[], &["/home/dev/repo/.claude"]);
        assert_eq!(watches, [("/home/dev/repo/.claude".into(), Reach::Flat)]);
        assert!(awaited.is_empty());
    }

    #[test]
    fn a_folder_inside_a_watched_tree_gets_no_second_watch() {
        let fs = MemFs::new();
        fs.mkdir("/c/projects/p/.claude");
        let (watches, _) = shape(&fs, &["/c"], &["/c/projects/p/.claude"]);
        assert_eq!(watches, [("/c".into(), Reach::Awaiting), ("/c/projects".into(), Reach::Tree)]);
    }
}
