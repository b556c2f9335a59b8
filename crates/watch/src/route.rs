//! What to do with one event of the system: the body of the watcher's callback, as a pure function.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use notify::event::{EventKind, ModifyKind, RemoveKind, RenameMode};

use crate::hints::{Hint, hints_from_notify};
use crate::plan::{WatchPlan, WatchScope};
use watchbill_agents::Root;

/// One action of the callback for an event.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EventAction {
    /// Send the engine a hint.
    Hint(Hint),
    /// Give the engine the hint later: what was written may not be visible yet, or events may have been lost silently.
    Later(Hint),
    /// A watched folder is gone or was moved: its watch is void.
    Lost(PathBuf),
    /// The plan may be obsolete.
    Look,
    /// A new folder in a watched tree: make sure of its watches, then have it walked.
    Folder(PathBuf),
    /// Events were lost. They may have announced folders that have no watch now.
    Overflow,
    /// The system refuses more watches, for this path if it names one.
    Limit(Option<PathBuf>),
}

/// The facts that the callback needs to judge an event, made from the plan.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    /// Trees with their roots.
    trees: Vec<(PathBuf, Root)>,
    /// Flat folders of the agent with their roots.
    flats: BTreeMap<PathBuf, Root>,
    /// Single files of agents.
    files: BTreeSet<PathBuf>,
    /// Single folders with the spellings by which callers asked for them.
    spellings: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
    watched: BTreeSet<PathBuf>,
    awaited: BTreeSet<PathBuf>,
    /// The system may lose events without a word.
    loses_events: bool,
}

impl Routes {
    pub(crate) fn new(plan: &WatchPlan) -> Self {
        let flats = plan.watches.iter().filter(|(_, planned)| planned.reach == WatchScope::Flat);
        Self {
            trees: plan.trees().map(|(tree, root)| (tree.clone(), root.clone())).collect(),
            flats: flats.filter_map(|(path, planned)| Some((path.clone(), planned.root.clone()?))).collect(),
            files: plan.files.clone(),
            spellings: plan.spellings.clone(),
            watched: plan.watches.keys().cloned().collect(),
            awaited: plan.awaited.clone(),
            loses_events: cfg!(windows),
        }
    }

    /// The steps for one event, each once.
    pub(crate) fn steps(&self, event: &notify::Result<notify::Event>) -> BTreeSet<EventAction> {
        let mut steps = BTreeSet::new();
        if let Err(error) = event
            && is_limit(error)
        {
            // Not an overflow: watching everything again would only reach the limit again.
            steps.insert(EventAction::Limit(error.paths.first().cloned()));
            steps.insert(EventAction::Hint(Hint::Everything));
            return steps;
        }
        let kind = event.as_ref().map_or(EventKind::Any, |event| event.kind);
        for hint in hints_from_notify(event) {
            match hint {
                Hint::Everything => {
                    steps.insert(EventAction::Overflow);
                    steps.insert(EventAction::Hint(Hint::Everything));
                }
                Hint::File(path) => self.add(kind, path, Hint::File, &mut steps),
                Hint::Tree(path) => self.add(kind, path, Hint::Tree, &mut steps),
            }
        }
        if self.loses_events && steps.iter().any(|step| matches!(step, EventAction::Hint(_))) {
            steps.insert(EventAction::Later(Hint::Everything));
        }
        steps
    }

    fn add(
        &self,
        kind: EventKind,
        path: PathBuf,
        hint: fn(PathBuf) -> Hint,
        steps: &mut BTreeSet<EventAction>,
    ) {
        if self.awaited.contains(&path) {
            steps.insert(EventAction::Look);
        }
        if self.watched.contains(&path) && removes_watched(kind) {
            steps.insert(EventAction::Lost(path.clone()));
        }
        if matches!(kind, EventKind::Modify(ModifyKind::Metadata(_))) {
            // A watched folder may have become readable, with everything in it.
            steps
                .extend(self.spellings_of(&path).into_iter().map(|name| EventAction::Hint(Hint::Tree(name))));
        }
        if let Some((tree, root)) = self.trees.iter().find(|(tree, _)| path.starts_with(tree)) {
            let known = root.kind_of(&path).is_some();
            let is_file = matches!(hint(PathBuf::new()), Hint::File(_));
            if !known && path != *tree && may_be_new_folder(kind) {
                // A link to a folder is reported as a new file, and a folder that became readable as a changed one.
                steps.insert(EventAction::Folder(path.clone()));
            }
            // A removed link to a project is reported as a removed file, and all its transcripts are gone with it.
            let project_gone = matches!(kind, EventKind::Remove(_)) && path.parent() == Some(tree.as_path());
            // A copy of a transcript is not read, but named.
            let is_named = || root.is_copy(&path);
            if known || !is_file || is_named() {
                steps.insert(EventAction::Hint(hint(path)));
            } else if project_gone {
                steps.insert(EventAction::Hint(Hint::Tree(path)));
            }
            return;
        }
        // Who opens a database as root sets the owner of its log anew. Our own reading must not be a reason to read.
        if self.files.contains(&path) && !matches!(kind, EventKind::Modify(ModifyKind::Metadata(_))) {
            steps.insert(EventAction::Hint(Hint::File(path.clone())));
            steps.insert(EventAction::Later(Hint::File(path.clone())));
        }
        let Some((dir, name)) = path.parent().zip(path.file_name()) else { return };
        if let Some(root) = self.flats.get(dir)
            && root.kind_of(&path).is_some()
        {
            steps.insert(EventAction::Hint(hint(path.clone())));
        }
        for spelling in self.spellings.get(dir).into_iter().flatten() {
            steps.insert(EventAction::Hint(hint(spelling.join(name))));
        }
    }

    /// The watched tree or folder that contains a path.
    pub(crate) fn watch_around(&self, path: &Path) -> Option<PathBuf> {
        path.ancestors().find(|above| self.watched.contains(*above)).map(Path::to_owned)
    }

    /// The spellings of a watched folder that its callers know.
    pub(crate) fn spellings_of(&self, dir: &Path) -> Vec<PathBuf> {
        let mut names: Vec<PathBuf> = self.spellings.get(dir).into_iter().flatten().cloned().collect();
        if self.flats.contains_key(dir) || self.trees.iter().any(|(tree, _)| tree == dir) {
            names.push(dir.to_owned());
        }
        names
    }
}

/// Whether an error means that the system refuses more watches, or more watchers.
pub(crate) fn is_limit(error: &notify::Error) -> bool {
    match &error.kind {
        notify::ErrorKind::MaxFilesWatch => true,
        notify::ErrorKind::Io(io) => is_out_of_files(io),
        _ => false,
    }
}

#[cfg(unix)]
pub(crate) fn is_out_of_files(error: &std::io::Error) -> bool {
    use rustix::io::Errno;
    let limits = [Errno::MFILE, Errno::NFILE, Errno::NOSPC];
    limits.iter().any(|limit| error.raw_os_error() == Some(limit.raw_os_error()))
}

#[cfg(not(unix))]
pub(crate) fn is_out_of_files(_error: &std::io::Error) -> bool {
    false
}

fn removes_watched(kind: EventKind) -> bool {
    match kind {
        EventKind::Remove(RemoveKind::File) => false,
        EventKind::Remove(_) | EventKind::Any | EventKind::Other => true,
        EventKind::Modify(ModifyKind::Name(mode)) => mode != RenameMode::To,
        _ => false,
    }
}

fn may_be_new_folder(kind: EventKind) -> bool {
    match kind {
        EventKind::Create(_) | EventKind::Any | EventKind::Other => true,
        EventKind::Modify(ModifyKind::Name(mode)) => mode != RenameMode::From,
        EventKind::Modify(ModifyKind::Metadata(_)) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mem::MemFs;
    use crate::plan::plan;
    use notify::Event;
    use notify::event::{CreateKind, DataChange, MetadataKind};

    fn steps(kind: EventKind, path: &str) -> Vec<EventAction> {
        let fs = MemFs::new();
        fs.mkdir("/c/projects/p");
        fs.mkdir("/c/sessions");
        fs.mkdir("/home/dev/.claude");
        fs.mkdir("/other");
        let dirs = [PathBuf::from("/home/dev/.claude"), "/other/repo/.claude".into()];
        let routes = Routes::new(&plan(&fs, &["/c".into()], &[], &dirs));
        routes.steps(&Ok(Event::new(kind).add_path(path.into()))).into_iter().collect()
    }

    #[test]
    fn each_event_becomes_only_its_own_steps() {
        let append = EventKind::Modify(ModifyKind::Data(DataChange::Any));
        let file = EventKind::Create(CreateKind::File);
        let folder = EventKind::Create(CreateKind::Folder);
        let attributes = EventKind::Modify(ModifyKind::Metadata(MetadataKind::Any));
        let removed = EventKind::Remove(RemoveKind::Folder);
        let hint = |path: &str| EventAction::Hint(Hint::File(path.into()));
        let tree = |path: &str| EventAction::Hint(Hint::Tree(path.into()));
        let new = |path: &str| EventAction::Folder(path.into());
        let table: Vec<(&str, EventKind, &str, Vec<EventAction>)> = vec![
            ("append to a transcript", append, "/c/projects/p/s.jsonl", vec![hint("/c/projects/p/s.jsonl")]),
            ("a tool's result", append, "/c/projects/p/s/tool-results/x.txt", vec![]),
            ("a new transcript", file, "/c/projects/p/s.jsonl", vec![hint("/c/projects/p/s.jsonl")]),
            ("a new link, perhaps to a folder", file, "/c/projects/link", vec![new("/c/projects/link")]),
            ("a new project", folder, "/c/projects/q", vec![tree("/c/projects/q"), new("/c/projects/q")]),
            ("a project made readable", attributes, "/c/projects/p", vec![new("/c/projects/p")]),
            (
                "all projects made readable",
                attributes,
                "/c/projects",
                vec![tree("/c/projects"), EventAction::Look],
            ),
            ("a new time on the root", attributes, "/c", vec![]),
            ("a project removed", removed, "/c/projects/p", vec![tree("/c/projects/p")]),
            ("registry", append, "/c/sessions/77.json", vec![hint("/c/sessions/77.json")]),
            ("a key beside it", append, "/c/sessions/77.key", vec![]),
            ("the history of prompts", append, "/c/history.jsonl", vec![]),
            (
                "all projects removed",
                removed,
                "/c/projects",
                vec![tree("/c/projects"), EventAction::Lost("/c/projects".into()), EventAction::Look],
            ),
            (
                "the registry folder removed",
                removed,
                "/c/sessions",
                vec![EventAction::Lost("/c/sessions".into()), EventAction::Look],
            ),
            ("the root removed", removed, "/c", vec![EventAction::Lost("/c".into())]),
            (
                "a marker",
                file,
                "/home/dev/.claude/compacted.x.marker",
                vec![hint("/home/dev/.claude/compacted.x.marker")],
            ),
            ("a file beside an awaited folder", append, "/other/notes.txt", vec![]),
            ("the awaited folder", folder, "/other/repo", vec![EventAction::Look]),
        ];
        for (what, kind, path, mut expected) in table {
            expected.sort();
            assert_eq!(steps(kind, path), expected, "{what}");
        }
    }

    #[test]
    fn a_database_is_read_when_it_is_written_and_not_when_its_log_gets_an_owner() {
        let fs = MemFs::new();
        fs.mkdir("/o");
        let root = Root::new(watchbill_agents::Agent::Opencode, "/o");
        let routes = Routes::new(&plan(&fs, &[root], &[], &[]));
        let steps = |kind| routes.steps(&Ok(Event::new(kind).add_path("/o/opencode.db-wal".into())));
        let log = PathBuf::from("/o/opencode.db-wal");
        let read = [EventAction::Hint, EventAction::Later].map(|action| action(Hint::File(log.clone())));
        assert_eq!(steps(EventKind::Modify(ModifyKind::Data(DataChange::Any))), BTreeSet::from(read));
        assert_eq!(steps(EventKind::Modify(ModifyKind::Metadata(MetadataKind::Any))), BTreeSet::new());
    }

    #[test]
    fn where_events_are_lost_silently_an_event_of_ours_has_everything_looked_at_later() {
        let fs = MemFs::new();
        fs.mkdir("/c/projects");
        let mut routes =
            Routes::new(&plan(&fs, &[Root::new(watchbill_agents::Agent::Claude, "/c")], &[], &[]));
        let later = |routes: &Routes, path: &str| {
            let event = Event::new(EventKind::Modify(ModifyKind::Any)).add_path(path.into());
            routes.steps(&Ok(event)).contains(&EventAction::Later(Hint::Everything))
        };
        let ours = "/c/projects/p/22222222-2222-4222-8222-222222222222.jsonl";
        assert!(cfg!(windows) || !later(&routes, ours));
        routes.loses_events = true;
        assert_eq!([ours, "/c/projects/p/notes.txt"].map(|path| later(&routes, path)), [true, false]);
    }

    #[test]
    fn lost_events_and_limits_become_different_steps() {
        let routes = Routes::default();
        let overflow = Event::new(EventKind::Other).set_flag(notify::event::Flag::Rescan);
        let steps = routes.steps(&Ok(overflow));
        assert_eq!(steps, BTreeSet::from([EventAction::Overflow, EventAction::Hint(Hint::Everything)]));
        let limit = notify::Error::new(notify::ErrorKind::MaxFilesWatch).add_path("/c/projects/q".into());
        let expected =
            [EventAction::Hint(Hint::Everything), EventAction::Limit(Some("/c/projects/q".into()))];
        assert_eq!(routes.steps(&Err(limit)), BTreeSet::from(expected));
    }
}
