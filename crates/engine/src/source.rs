//! Where hints come from: the system's watcher, or a file system in memory.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use watchbill_core::problem::Problem;
use watchbill_protocol::doctor::WatchMode;
use watchbill_watch::hints::{Hint, HintSet};
use watchbill_watch::watcher::{RootMode, WatchMode as NativeMode, Watcher};

use crate::settings::{Settings, WatchSetting};

/// A source of hints.
pub trait Source: Send {
    /// Waits until every watch stands.
    fn ready(&self);
    /// Everything that was hinted at since the last call.
    fn take(&self) -> BTreeSet<Hint>;
    /// What is wrong with the watching itself.
    fn problems(&self) -> Vec<Problem>;
    /// How a root is watched.
    fn mode_of(&self, root: &Path) -> WatchMode;
    /// Asks for hints of a folder that lies outside the roots.
    fn watch_folder(&mut self, folder: &Path);
}

/// Watches the roots in the way that the settings ask for.
pub fn watch(settings: &Settings, wake: impl Fn() + Send + Sync + 'static) -> Watcher {
    let mode = match settings.watch {
        WatchSetting::Auto => NativeMode::Auto,
        WatchSetting::Native => NativeMode::Native,
        WatchSetting::Poll(interval) => NativeMode::Poll(interval),
    };
    Watcher::start(&settings.roots, mode, wake)
}

impl Source for Watcher {
    fn ready(&self) {
        Self::ready(self);
    }

    fn take(&self) -> BTreeSet<Hint> {
        Self::take(self)
    }

    fn problems(&self) -> Vec<Problem> {
        self.health().into_iter().filter_map(|root| root.problem).collect()
    }

    fn mode_of(&self, root: &Path) -> WatchMode {
        let health = self.health();
        let found =
            health.iter().find(|health| health.root == root || health.canonical.as_deref() == Some(root));
        match found.map(|health| health.mode) {
            Some(RootMode::Native) => WatchMode::Native,
            Some(RootMode::Poll(_)) => WatchMode::Poll,
            _ => WatchMode::None,
        }
    }

    fn watch_folder(&mut self, folder: &Path) {
        self.watch_dir(folder);
    }
}

/// The file system in memory puts its hints into a set by itself.
impl Source for Arc<HintSet> {
    fn ready(&self) {}

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
}
