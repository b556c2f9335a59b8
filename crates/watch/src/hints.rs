//! Hints: "this may have changed". They carry no truth, so a lost, merged or repeated hint does no harm.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use notify::event::{CreateKind, EventKind, ModifyKind, RemoveKind};

/// Where to look.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Hint {
    /// One file was created, written or removed. If it is a folder now, the hint means that tree.
    File(PathBuf),
    /// Anything at or below this path. It may be a file, or may be gone with everything below it.
    Tree(PathBuf),
    /// Anything: events were lost.
    Everything,
}

/// The hints on their way from the watcher's threads to the engine.
///
/// Unlike a queue, a set cannot overflow: ten thousand events on one file are one hint.
pub struct HintSet {
    hints: Mutex<BTreeSet<Hint>>,
    wake: Box<dyn Fn() + Send + Sync>,
}

impl fmt::Debug for HintSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HintSet").field("hints", &*self.lock()).finish_non_exhaustive()
    }
}

impl HintSet {
    /// An empty set. `wake` is called, without the lock, when the set stops being empty.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self { hints: Mutex::default(), wake: Box::new(wake) }
    }

    /// Adds a hint, unless a wider hint is already there.
    pub fn insert(&self, hint: Hint) {
        let was_empty = {
            let mut hints = self.lock();
            let was_empty = hints.is_empty();
            add(&mut hints, hint);
            was_empty
        };
        if was_empty {
            (self.wake)();
        }
    }

    /// Wakes the engine even if there is no hint, because the state of the watcher has changed.
    pub(crate) fn wake(&self) {
        (self.wake)();
    }

    /// Takes all hints and leaves the set empty.
    pub fn take(&self) -> BTreeSet<Hint> {
        std::mem::take(&mut *self.lock())
    }

    /// Whether no hint is waiting.
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<Hint>> {
        // A panic cannot leave a set of paths half changed.
        self.hints.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn add(hints: &mut BTreeSet<Hint>, hint: Hint) {
    let path: &Path = match &hint {
        Hint::Everything => {
            hints.clear();
            hints.insert(hint);
            return;
        }
        Hint::File(path) | Hint::Tree(path) => path,
    };
    if hints.contains(&Hint::Everything) {
        return;
    }
    // The set has few trees. A `File` sorts before every `Tree`, so all trees are at the end.
    if trees(hints).any(|tree| path.starts_with(tree)) {
        return;
    }
    if let Hint::Tree(tree) = &hint {
        hints.retain(|known| match known {
            Hint::File(below) | Hint::Tree(below) => !below.starts_with(tree),
            Hint::Everything => true,
        });
    }
    hints.insert(hint);
}

fn trees(hints: &BTreeSet<Hint>) -> impl Iterator<Item = &PathBuf> {
    hints.range(Hint::Tree(PathBuf::new())..).filter_map(|hint| match hint {
        Hint::Tree(path) => Some(path),
        _ => None,
    })
}

/// The hints for one event of the system. The kinds of events differ between systems and are wrong at times. So this
/// asks only two questions: may more than one file have changed, and was a file only read?
pub fn hints_from_notify(event: &notify::Result<notify::Event>) -> Vec<Hint> {
    match event {
        Ok(event) => hints_from_event(event),
        Err(error) => hints_from_error(error),
    }
}

fn hints_from_event(event: &notify::Event) -> Vec<Hint> {
    if event.need_rescan() {
        return vec![Hint::Everything];
    }
    let hint: fn(PathBuf) -> Hint = match event.kind {
        EventKind::Access(_) => return Vec::new(),
        EventKind::Create(CreateKind::File)
        | EventKind::Remove(RemoveKind::File)
        | EventKind::Modify(
            ModifyKind::Data(_) | ModifyKind::Metadata(_) | ModifyKind::Any | ModifyKind::Other,
        ) => Hint::File,
        // A new folder may hold files that gave no event; a renamed one certainly does.
        EventKind::Create(_)
        | EventKind::Remove(_)
        | EventKind::Modify(ModifyKind::Name(_))
        | EventKind::Any
        | EventKind::Other => Hint::Tree,
    };
    if event.paths.is_empty() {
        return vec![Hint::Everything];
    }
    event.paths.iter().cloned().map(hint).collect()
}

fn hints_from_error(error: &notify::Error) -> Vec<Hint> {
    match &error.kind {
        // The next look could not read it either. A hint here would wake the engine for ever.
        notify::ErrorKind::Io(io) if io.kind() == std::io::ErrorKind::PermissionDenied => Vec::new(),
        notify::ErrorKind::MaxFilesWatch => vec![Hint::Everything],
        _ if error.paths.is_empty() => vec![Hint::Everything],
        _ => error.paths.iter().cloned().map(Hint::Tree).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use notify::event::{AccessKind, AccessMode, DataChange, Flag, MetadataKind, RenameMode};
    use notify::{Error, ErrorKind, Event};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn file(path: &str) -> Hint {
        Hint::File(path.into())
    }

    fn tree(path: &str) -> Hint {
        Hint::Tree(path.into())
    }

    #[test]
    fn events_of_each_system_become_the_right_hints() {
        let on = |kind: EventKind| Event::new(kind).add_path("/p/a".into());
        let name = |mode: RenameMode| EventKind::Modify(ModifyKind::Name(mode));
        let denied = || std::io::Error::from(std::io::ErrorKind::PermissionDenied);
        let table: Vec<(&str, notify::Result<Event>, Vec<Hint>)> = vec![
            (
                "inotify: queue overflow",
                Ok(Event::new(EventKind::Other).set_flag(Flag::Rescan)),
                vec![Hint::Everything],
            ),
            (
                "fsevents: rescan that names a path",
                Ok(on(EventKind::Other).set_flag(Flag::Rescan)),
                vec![Hint::Everything],
            ),
            ("no path at all", Ok(Event::new(EventKind::Modify(ModifyKind::Any))), vec![Hint::Everything]),
            ("fsevents: cannot say what", Ok(on(EventKind::Any)), vec![tree("/p/a")]),
            ("other, with a path", Ok(on(EventKind::Other)), vec![tree("/p/a")]),
            ("any, no path", Ok(Event::new(EventKind::Any)), vec![Hint::Everything]),
            ("new file", Ok(on(EventKind::Create(CreateKind::File))), vec![file("/p/a")]),
            ("new folder", Ok(on(EventKind::Create(CreateKind::Folder))), vec![tree("/p/a")]),
            ("windows: new something", Ok(on(EventKind::Create(CreateKind::Any))), vec![tree("/p/a")]),
            ("append", Ok(on(EventKind::Modify(ModifyKind::Data(DataChange::Any)))), vec![file("/p/a")]),
            ("windows: changed somehow", Ok(on(EventKind::Modify(ModifyKind::Any))), vec![file("/p/a")]),
            (
                "permission given back",
                Ok(on(EventKind::Modify(ModifyKind::Metadata(MetadataKind::Any)))),
                vec![file("/p/a")],
            ),
            ("file removed", Ok(on(EventKind::Remove(RemoveKind::File))), vec![file("/p/a")]),
            ("folder removed", Ok(on(EventKind::Remove(RemoveKind::Folder))), vec![tree("/p/a")]),
            ("windows: something removed", Ok(on(EventKind::Remove(RemoveKind::Any))), vec![tree("/p/a")]),
            ("renamed away", Ok(on(name(RenameMode::From))), vec![tree("/p/a")]),
            ("renamed to", Ok(on(name(RenameMode::To))), vec![tree("/p/a")]),
            (
                "renamed, both ends known",
                Ok(on(name(RenameMode::Both)).add_path("/p/b".into())),
                vec![tree("/p/a"), tree("/p/b")],
            ),
            ("fsevents: renamed, which end unknown", Ok(on(name(RenameMode::Any))), vec![tree("/p/a")]),
            ("opened", Ok(on(EventKind::Access(AccessKind::Open(AccessMode::Any)))), vec![]),
            ("closed after writing", Ok(on(EventKind::Access(AccessKind::Close(AccessMode::Write)))), vec![]),
            ("read, no path", Ok(Event::new(EventKind::Access(AccessKind::Read))), vec![]),
            (
                "watch limit",
                Err(Error::new(ErrorKind::MaxFilesWatch).add_path("/p".into())),
                vec![Hint::Everything],
            ),
            ("error without a place", Err(Error::generic("?")), vec![Hint::Everything]),
            ("error with a place", Err(Error::generic("?").add_path("/p/a".into())), vec![tree("/p/a")]),
            ("denied, again and again", Err(Error::io(denied()).add_path("/p/a".into())), vec![]),
        ];
        for (oddity, event, expected) in table {
            assert_eq!(hints_from_notify(&event), expected, "{oddity}");
        }
    }

    #[test]
    fn the_set_wakes_once_until_it_is_taken() {
        let woken = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&woken);
        let set = HintSet::new(move || {
            counter.fetch_add(1, Ordering::SeqCst);
        });
        for _ in 0..1000 {
            set.insert(file("/p/a"));
        }
        set.insert(file("/p/b"));
        assert_eq!(woken.load(Ordering::SeqCst), 1);
        assert_eq!(set.take(), BTreeSet::from([file("/p/a"), file("/p/b")]));
        assert!(set.is_empty());
        set.insert(file("/p/a"));
        assert_eq!(woken.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn a_wider_hint_replaces_the_narrower_ones_in_either_order() {
        let of = |hints: &[Hint]| {
            let set = HintSet::new(|| ());
            hints.iter().cloned().for_each(|hint| set.insert(hint));
            set.take().into_iter().collect::<Vec<_>>()
        };
        assert_eq!(of(&[file("/p/a/x"), file("/q"), tree("/p/a")]), [file("/q"), tree("/p/a")]);
        assert_eq!(
            of(&[tree("/p/a"), file("/p/a/x"), tree("/p/a/y"), file("/p/ab")]),
            [file("/p/ab"), tree("/p/a")]
        );
        assert_eq!(of(&[tree("/p/a/y"), tree("/p/a")]), [tree("/p/a")]);
        assert_eq!(of(&[file("/p"), tree("/q"), Hint::Everything, file("/r")]), [Hint::Everything]);
    }
}
