//! The sources of hints: the system's watcher, or a file system in memory.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use watchbill_core::problem::Problem;
use watchbill_protocol::doctor::WatchMode;
use watchbill_watch::hints::{Hint, HintSet};
use watchbill_watch::watcher::{RootMode, WatchMethod, Watcher};

use watchbill_settings::Settings;

/// A source of hints.
pub trait HintSource: Send {
    /// Whether every watch of the roots stands. From then on no change is missed. The source wakes the loop at that
    /// moment.
    fn stands(&self) -> bool;
    /// Takes all hints since the last call.
    fn take(&self) -> BTreeSet<Hint>;
    /// The current problems of watching.
    fn problems(&self) -> Vec<Problem>;
    /// How a root is watched.
    fn mode_of(&self, root: &Path) -> WatchMode;
    /// Watches a folder outside the roots.
    fn watch_folder(&mut self, folder: &Path);
    /// Watches a folder of our own, for as long as the source lives.
    fn watch_beside(&mut self, folder: &Path);
    /// Stops watching a folder outside the roots.
    fn unwatch_folder(&mut self, folder: &Path);
    /// Looks whether the watched folders are still the right ones.
    fn look_again(&self) {}
}

/// The system's watcher of the roots, and a second one for working folders.
///
/// A working folder may lie on a dead mount, where every call waits for ever. That must not block the thread that
/// watches the agent's own folders.
pub struct SystemSource {
    roots: Watcher,
    folders: Option<Watcher>,
    mode: WatchMethod,
    wake: Arc<dyn Fn() + Send + Sync>,
}

/// Watches the roots as the settings say.
pub fn watch(settings: &Settings, wake: impl Fn() + Send + Sync + 'static) -> SystemSource {
    let wake: Arc<dyn Fn() + Send + Sync> = Arc::new(wake);
    let callback = Arc::clone(&wake);
    SystemSource {
        roots: Watcher::start(&settings.roots, &settings.awaited, settings.watch, move || callback()),
        folders: None,
        mode: settings.watch,
        wake,
    }
}

impl SystemSource {
    /// Waits until every watch of the roots stands.
    pub fn ready(&self) {
        self.roots.wait_until_ready();
    }
}

impl HintSource for SystemSource {
    fn stands(&self) -> bool {
        self.roots.is_established()
    }

    fn take(&self) -> BTreeSet<Hint> {
        let mut hints = self.roots.take();
        hints.extend(self.folders.iter().flat_map(Watcher::take));
        hints
    }

    fn problems(&self) -> Vec<Problem> {
        let troubles = self.roots.health().into_iter().filter_map(|root| root.problem);
        let lost = self.roots.lost_events() + self.folders.as_ref().map_or(0, Watcher::lost_events);
        let overflow = (lost > 0).then(|| crate::world::problems::overflow(lost));
        troubles.chain(overflow).collect()
    }

    fn mode_of(&self, root: &Path) -> WatchMode {
        let health = self.roots.health();
        let found =
            health.iter().find(|health| health.root == root || health.canonical.as_deref() == Some(root));
        match found.map(|health| health.mode) {
            Some(RootMode::Native) => WatchMode::Native,
            Some(RootMode::Poll(_)) => WatchMode::Poll,
            _ => WatchMode::None,
        }
    }

    fn watch_folder(&mut self, folder: &Path) {
        let folders = self.folders.get_or_insert_with(|| {
            let callback = Arc::clone(&self.wake);
            Watcher::start(&[], &[], self.mode, move || callback())
        });
        folders.watch_dir(folder);
    }

    fn watch_beside(&mut self, folder: &Path) {
        self.roots.watch_dir(folder);
    }

    fn unwatch_folder(&mut self, folder: &Path) {
        if let Some(folders) = &self.folders {
            folders.unwatch_dir(folder);
        }
    }

    fn look_again(&self) {
        self.roots.poll_now();
    }
}

/// The file system in memory puts its hints into this set directly.
impl HintSource for Arc<HintSet> {
    fn stands(&self) -> bool {
        true
    }

    fn take(&self) -> BTreeSet<Hint> {
        HintSet::take(self)
    }

    fn problems(&self) -> Vec<Problem> {
        Vec::new()
    }

    fn mode_of(&self, _root: &Path) -> WatchMode {
        WatchMode::Native
    }

    fn watch_folder(&mut self, _folder: &Path) {}

    fn watch_beside(&mut self, _folder: &Path) {}

    fn unwatch_folder(&mut self, _folder: &Path) {}
}

/// Removes the hints in this folder of ours. Says whether there were any, or may have been.
pub fn take_out(hints: &mut BTreeSet<Hint>, folder: &Path) -> bool {
    let before = hints.len();
    hints.retain(|hint| match hint {
        Hint::Everything => true,
        Hint::Tree(path) | Hint::File(path) => !path.starts_with(folder),
    });
    hints.len() != before || hints.contains(&Hint::Everything)
}
