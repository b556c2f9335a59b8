//! Plans which folders to watch, from the folders that exist now.
//!
//! The keeper makes a new plan after every change that could matter, and compares it with the installed watches. So
//! there is no special case for a root that appears later, vanishes, is replaced, or whose link changes its target.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::fs::{FileId, FileKind, Fs};
use watchbill_agents::traits::TopFolder;
use watchbill_agents::{Agent, Root};

/// How much a watch covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum WatchScope {
    /// Only the appearance of awaited names in the folder. Its other changes do not matter.
    Awaiting,
    /// The names in the folder.
    Flat,
    /// Everything below the folder.
    Tree,
}

/// One folder to watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Planned {
    pub(crate) reach: WatchScope,
    /// The folder's identity when the plan was made. Another folder of the same name needs a new watch.
    pub(crate) id: FileId,
    /// The canonical root that it belongs to, if it is one of the agent's own folders.
    pub(crate) root: Option<Root>,
}

/// One root in the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlannedRoot {
    /// The path as the caller named it.
    pub(crate) given: PathBuf,
    /// Its canonical path, if it exists.
    pub(crate) canonical: Option<PathBuf>,
}

/// All folders to watch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct WatchPlan {
    /// By canonical folder.
    pub(crate) watches: BTreeMap<PathBuf, Planned>,
    /// Paths whose appearance or removal makes the plan obsolete.
    pub(crate) awaited: BTreeSet<PathBuf>,
    /// Single files of agents, each directly below its root. A change is a hint; while a root is polled, only a rescan reads them.
    pub(crate) files: BTreeSet<PathBuf>,
    /// The spellings by which callers asked for a single watched folder.
    pub(crate) spellings: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
    /// Each root once, in the given order.
    pub(crate) roots: Vec<PlannedRoot>,
}

/// Makes the plan for the agents' `roots` and the single folders `dirs`. All paths are absolute.
///
/// An `awaited` root is watched once it is there. Its appearance is watched for only where the default agent's folder is awaited
/// too. Elsewhere the home folder would need a watch, which would wake the machine for each program that writes there.
pub(crate) fn plan<'a>(
    fs: &dyn Fs,
    roots: &[Root],
    awaited: &[Root],
    dirs: impl IntoIterator<Item = &'a PathBuf>,
) -> WatchPlan {
    let mut plan = WatchPlan::default();
    for root in roots {
        plan.add_root(fs, root);
    }
    let is_missing = |root: &&Root| dir_id(fs, root).is_none();
    let waits = awaited.iter().filter(is_missing).any(|root| root.agent == Agent::default());
    for root in awaited.iter().filter(|root| !roots.contains(root) && (waits || !is_missing(root))) {
        plan.add_root(fs, root);
    }
    for dir in dirs {
        plan.add_dir(fs, dir);
    }
    // A tree's watch covers the folders inside it. A second watch would make one of them flat.
    let trees: Vec<PathBuf> = plan.trees().map(|(tree, _)| tree.clone()).collect();
    plan.watches.retain(|path, _| !trees.iter().any(|tree| path != tree && path.starts_with(tree)));
    plan
}

impl WatchPlan {
    /// The folders watched with everything below, each with its root.
    pub(crate) fn trees(&self) -> impl Iterator<Item = (&PathBuf, &Root)> {
        self.watches
            .iter()
            .filter(|(_, planned)| planned.reach == WatchScope::Tree)
            .filter_map(|(path, planned)| planned.root.as_ref().map(|root| (path, root)))
    }

    fn add_root(&mut self, fs: &dyn Fs, given: &Root) {
        let canonical = dir_id(fs, given).and_then(|id| Some((fs.canonical(given).ok()?, id)));
        let Some((root, id)) = canonical else {
            self.await_appearance(fs, given);
            self.roots.push(PlannedRoot { given: given.to_path_buf(), canonical: None });
            return;
        };
        self.await_link(fs, given, &root);
        if self.roots.iter().any(|known| known.canonical.as_ref() == Some(&root)) {
            return;
        }
        // The root's own watch reports its removal and folders that appear later.
        self.watch(&root, WatchScope::Awaiting, id, None);
        let of_agent = given.at(root.clone());
        let log = of_agent.database().map(|(database, _)| root.join(format!("{}-wal", database.file)));
        let files = of_agent.names().map(|names| root.join(names.name));
        self.files.extend(files.into_iter().chain(log).chain(of_agent.database().map(|(_, path)| path)));
        for TopFolder { name, deep } in of_agent.folders() {
            let reach = if *deep { WatchScope::Tree } else { WatchScope::Flat };
            let folder = root.join(name);
            self.awaited.insert(folder.clone());
            let Some(id) = dir_id(fs, &folder) else { continue };
            // Two roots may share a folder by a link. The system would report it under one name only.
            let shared = self.watches.values().any(|known| known.id == id && known.reach == reach);
            if !shared {
                self.watch(&folder, reach, id, Some(&of_agent));
            }
        }
        self.roots.push(PlannedRoot { given: given.to_path_buf(), canonical: Some(root) });
    }

    fn add_dir(&mut self, fs: &dyn Fs, given: &Path) {
        let canonical = dir_id(fs, given).and_then(|id| Some((fs.canonical(given).ok()?, id)));
        match canonical {
            Some((dir, id)) => {
                self.await_link(fs, given, &dir);
                self.watch(&dir, WatchScope::Flat, id, None);
                self.spellings.entry(dir).or_default().insert(given.to_owned());
            }
            None => self.await_appearance(fs, given),
        }
    }

    /// Watches the nearest existing folder above `path`, to see the next name on the way to `path` appear.
    fn await_appearance(&mut self, fs: &dyn Fs, path: &Path) {
        let mut missing = path;
        while let (Some(above), Some(name)) = (missing.parent(), missing.file_name()) {
            if let Some(id) = dir_id(fs, above) {
                let above = fs.canonical(above).unwrap_or_else(|_| above.to_owned());
                self.awaited.insert(above.join(name));
                self.watch(&above, WatchScope::Awaiting, id, None);
                return;
            }
            missing = above;
        }
    }

    /// If the last name of `given` is a link, watches the link's folder, because the link may change its target.
    fn await_link(&mut self, fs: &dyn Fs, given: &Path, canonical: &Path) {
        let (Some(above), Some(name)) = (given.parent(), given.file_name()) else { return };
        let Ok(above) = fs.canonical(above) else { return };
        let link = above.join(name);
        if link != canonical
            && let Some(id) = dir_id(fs, &above)
        {
            self.awaited.insert(link);
            self.watch(&above, WatchScope::Awaiting, id, None);
        }
    }

    /// Adds a watch. Of two watches of one folder, the wider one stays.
    fn watch(&mut self, path: &Path, reach: WatchScope, id: FileId, root: Option<&Root>) {
        let root = root.cloned();
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

    fn shape(fs: &MemFs, roots: &[&str], dirs: &[&str]) -> (Vec<(String, WatchScope)>, Vec<String>) {
        let roots: Vec<Root> = roots.iter().map(|root| Root::from(*root)).collect();
        let dirs: Vec<PathBuf> = dirs.iter().map(PathBuf::from).collect();
        let plan = plan(fs, &roots, &[], &dirs);
        let watches = plan.watches.iter().map(|(path, planned)| (path.display().to_string(), planned.reach));
        (watches.collect(), plan.awaited.iter().map(|path| path.display().to_string()).collect())
    }

    #[test]
    fn the_plan_follows_what_exists() {
        let fs = MemFs::new();
        fs.mkdir("/home/dev");
        let (watches, awaited) = shape(&fs, &["/home/dev/.claude"], &[]);
        assert_eq!(watches, [("/home/dev".into(), WatchScope::Awaiting)]);
        assert_eq!(awaited, ["/home/dev/.claude"]);

        fs.mkdir("/home/dev/.claude");
        let (watches, awaited) = shape(&fs, &["/home/dev/.claude", "/home/dev/.claude"], &[]);
        assert_eq!(watches, [("/home/dev/.claude".into(), WatchScope::Awaiting)]);
        assert_eq!(awaited, ["/home/dev/.claude/projects", "/home/dev/.claude/sessions"]);

        fs.mkdir("/home/dev/.claude/projects/p");
        fs.mkdir("/home/dev/.claude/sessions");
        let (watches, _) = shape(&fs, &["/home/dev/.claude"], &["/home/dev/.claude"]);
        assert_eq!(
            watches,
            [
                ("/home/dev/.claude".into(), WatchScope::Flat),
                ("/home/dev/.claude/projects".into(), WatchScope::Tree),
                ("/home/dev/.claude/sessions".into(), WatchScope::Flat)
            ]
        );
    }

    #[test]
    fn a_usual_folder_is_awaited_where_the_home_folder_is_watched_anyway() {
        let fs = MemFs::new();
        fs.mkdir("/home/dev");
        let claude = Root::from("/home/dev/.claude");
        let codex = Root::new(Agent::Codex, "/home/dev/.codex");
        let of = |roots: &[Root], awaited: &[Root]| plan(&fs, roots, awaited, &[]);
        let of_home = of(std::slice::from_ref(&claude), &[claude.clone(), codex.clone()]);
        assert_eq!(of_home.watches.keys().collect::<Vec<_>>(), [Path::new("/home/dev")], "one watch");
        assert_eq!(of_home.awaited.len(), 2);

        fs.mkdir("/home/dev/.claude");
        let alone = of(std::slice::from_ref(&claude), std::slice::from_ref(&codex));
        assert_eq!(alone.watches.keys().collect::<Vec<_>>(), [Path::new("/home/dev/.claude")], "none more");
        fs.mkdir("/home/dev/.codex/sessions");
        let both = of(&[claude], &[codex]);
        assert!(both.watches.contains_key(Path::new("/home/dev/.codex/sessions")), "once it is there");
    }

    #[test]
    fn a_missing_claude_folder_of_a_working_folder_is_awaited() {
        let fs = MemFs::new();
        fs.mkdir("/home/dev");
        let (watches, awaited) = shape(&fs, &[], &["/home/dev/repo/.claude"]);
        assert_eq!(watches, [("/home/dev".into(), WatchScope::Awaiting)]);
        assert_eq!(awaited, ["/home/dev/repo"]);
        fs.mkdir("/home/dev/repo/.claude");
        let (watches, awaited) = shape(&fs, &[], &["/home/dev/repo/.claude"]);
        assert_eq!(watches, [("/home/dev/repo/.claude".into(), WatchScope::Flat)]);
        assert!(awaited.is_empty());
    }

    #[test]
    fn a_folder_inside_a_watched_tree_gets_no_second_watch() {
        let fs = MemFs::new();
        fs.mkdir("/c/projects/p/.claude");
        let (watches, _) = shape(&fs, &["/c"], &["/c/projects/p/.claude"]);
        assert_eq!(watches, [("/c".into(), WatchScope::Awaiting), ("/c/projects".into(), WatchScope::Tree)]);
    }
}
