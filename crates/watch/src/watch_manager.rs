//! The thread that adds and removes watches, so that they follow the folders that exist.
//!
//! It is one file because all of it shares one state: the installed, the polled and the refused folders.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use notify::{RecursiveMode, Watcher as _};
use watchbill_agents::Root;
use watchbill_core::problem::{Problem, ProblemKind};

use crate::fs::{FileKind, Fs, StdFs, problem, problem_of};
use crate::hints::{Hint, HintSet};
use crate::later::LaterHints;
use crate::mode::{POLL_INTERVAL, RootHealth, RootMode, WatchMethod};
use crate::native::{handle_event, limit_detail, watch_tree};
use crate::order::Order;
use crate::plan::{Planned, WatchPlan, WatchScope, plan};
use crate::poll::{Snapshot, silent_file_system};
use crate::route::{EventAction, Routes, is_limit};

/// Keeps the installed watches equal to the plan, on a thread of its own.
pub(crate) struct WatchThread {
    fs: StdFs,
    roots: Vec<Root>,
    awaited: Vec<Root>,
    dirs: BTreeSet<PathBuf>,
    mode: WatchMethod,
    hints: Arc<HintSet>,
    health: Arc<Mutex<Vec<RootHealth>>>,
    routes: Arc<RwLock<Routes>>,
    orders: Sender<Order>,
    native: Option<notify::RecommendedWatcher>,
    /// Folders that the system watches.
    installed: BTreeMap<PathBuf, Planned>,
    /// Folders that this thread polls.
    polled: BTreeMap<PathBuf, (Planned, Snapshot)>,
    /// Folders that the system would not watch, with the reason.
    refused: BTreeMap<PathBuf, Problem>,
    later: LaterHints,
    /// Number of times that events were lost.
    lost: Arc<AtomicU64>,
    /// Every folder that existed at the start is watched, or has a known reason why not.
    stands: Arc<AtomicBool>,
}

impl WatchThread {
    /// With the roots, and those that are awaited.
    pub(crate) fn new(
        [roots, awaited]: [Vec<Root>; 2],
        mode: WatchMethod,
        hints: Arc<HintSet>,
        health: Arc<Mutex<Vec<RootHealth>>>,
        orders: Sender<Order>,
        lost: Arc<AtomicU64>,
        stands: Arc<AtomicBool>,
    ) -> Self {
        Self {
            fs: StdFs,
            roots,
            awaited,
            dirs: BTreeSet::new(),
            mode,
            hints,
            health,
            routes: Arc::default(),
            orders,
            native: None,
            installed: BTreeMap::new(),
            polled: BTreeMap::new(),
            refused: BTreeMap::new(),
            later: LaterHints::default(),
            lost,
            stands,
        }
    }

    /// Runs until an order stops it.
    pub(crate) fn run(mut self, inbox: &Receiver<Order>) {
        self.install_plan();
        self.stands.store(true, Ordering::Release);
        self.hints.wake();
        let mut next_look = Instant::now() + self.interval();
        loop {
            let poll = (!self.polled.is_empty()).then_some(next_look);
            let first = match poll.into_iter().chain(self.later.due()).min() {
                None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(at) => inbox.recv_timeout(at.saturating_duration_since(Instant::now())),
            };
            let now = Instant::now();
            let batch: Vec<Order> = match first {
                Ok(order) => std::iter::once(order).chain(inbox.try_iter()).collect(),
                Err(RecvTimeoutError::Timeout) if poll.is_some_and(|at| at <= now) => vec![Order::Poll],
                Err(RecvTimeoutError::Timeout) => Vec::new(),
                Err(RecvTimeoutError::Disconnected) => return,
            };
            self.later.take(now).into_iter().for_each(|hint| self.hints.insert(hint));
            if batch.iter().any(|order| matches!(order, Order::Poll)) {
                next_look = Instant::now() + self.interval();
            }
            if !self.carry_out(batch) {
                return;
            }
        }
    }

    /// Carries out the waiting orders, equal ones only once. Returns whether to go on.
    fn carry_out(&mut self, batch: Vec<Order>) -> bool {
        let mut folders = BTreeSet::new();
        let mut answers = Vec::new();
        let (mut look, mut poll, mut overflow) = (false, false, false);
        for order in batch {
            match order {
                Order::Step(EventAction::Hint(hint)) => self.hints.insert(hint),
                Order::Step(EventAction::Later(hint)) => self.later.add(hint, Instant::now()),
                Order::Step(EventAction::Look) => look = true,
                Order::Step(EventAction::Lost(path)) => {
                    self.uninstall(&path);
                    look = true;
                }
                Order::Step(EventAction::Folder(path)) => folders.extend([path]),
                Order::Step(EventAction::Overflow) => overflow = true,
                Order::Step(EventAction::Limit(path)) => {
                    self.refuse_at(path.as_deref());
                    look = true;
                }
                // A folder that was removed may exist again.
                Order::WatchDir(path) => look |= !self.installed.contains_key(&path) | self.dirs.insert(path),
                Order::UnwatchDir(path) => look |= self.dirs.remove(&path),
                Order::Poll => poll = true,
                Order::Answer(answer) => answers.push(answer),
                Order::Stop => return false,
            }
        }
        if overflow {
            self.lost.fetch_add(1, Ordering::Relaxed);
            self.install_all_again();
        }
        if look || poll || overflow {
            self.install_plan();
        }
        for folder in folders {
            self.watch_new_folder(&folder);
        }
        if poll {
            self.poll_folders();
        }
        for answer in answers {
            // An error means that no caller waits for the answer any more.
            answer.send(()).unwrap_or_default();
        }
        true
    }

    /// Installs the watches of a new plan, and repeats until the plan stays the same: a folder may have appeared
    /// between planning and watching.
    fn install_plan(&mut self) {
        // Each round goes one level deeper towards an awaited folder. The limit is for a file system that changes as
        // fast as the rounds run.
        for _ in 0..64 {
            let plan = plan(&self.fs, &self.roots, &self.awaited, &self.dirs);
            let changed = self.apply(&plan);
            self.publish_health(&plan);
            if !changed {
                return;
            }
        }
    }

    fn apply(&mut self, plan: &WatchPlan) -> bool {
        let by_looking = |keeper: &Self, path: &Path| keeper.poll_interval_for(path).is_some();
        let obsolete = |path: &Path, planned: &Planned| plan.watches.get(path) != Some(planned);
        let native = self.installed.iter().filter(|(path, planned)| {
            // Watched by events so far, but polled from now on, because the limit was reached.
            obsolete(path, planned) || by_looking(self, path)
        });
        let polled = self.polled.iter().filter(|(path, (planned, _))| obsolete(path, planned));
        let stale: Vec<PathBuf> =
            native.map(|(path, _)| path).chain(polled.map(|(path, _)| path)).cloned().collect();
        let mut changed = !stale.is_empty();
        for path in stale {
            self.uninstall(&path);
        }
        // After the removal of old watches, which announces folders by their old names, and before the new watches,
        // whose first events need the new routes.
        *self.routes.write().unwrap_or_else(PoisonError::into_inner) = Routes::new(plan);
        self.refused.retain(|path, _| plan.watches.contains_key(path));
        for (path, planned) in &plan.watches {
            if self.installed.contains_key(path) || self.polled.contains_key(path) {
                continue;
            }
            if by_looking(self, path) {
                let snapshot = Snapshot::take(&self.fs, path, planned);
                self.polled.insert(path.clone(), (planned.clone(), snapshot));
            } else if !self.install(path, planned) {
                // After a refusal because of the limit, the next round polls the folder. After another error, the
                // next change around it tries again.
                changed |= self.poll_interval_for(path).is_some();
                continue;
            }
            changed = true;
            self.announce(path);
        }
        changed
    }

    /// Adds a hint for a folder whose watch begins or ends. Changes before the watch gave no event, and the removal
    /// of the folder itself may give none.
    fn announce(&self, path: &Path) {
        if self.stands.load(Ordering::Acquire) {
            if cfg!(target_os = "macos") {
                // notify has one stream for all folders there, and begins it anew: what happens between is lost for all.
                return self.hints.insert(Hint::Everything);
            }
            let routes = self.routes.read().unwrap_or_else(PoisonError::into_inner);
            for name in routes.spellings_of(path) {
                self.hints.insert(Hint::Tree(name));
            }
        }
    }

    fn install(&mut self, path: &Path, planned: &Planned) -> bool {
        let result = self.watch(path, planned.reach);
        match result {
            Ok(()) => {
                self.refused.remove(path);
                self.installed.insert(path.to_owned(), planned.clone());
                true
            }
            Err(error) => {
                // The watches installed before the refusal would take the last ones from other programs.
                if let Some(native) = &mut self.native
                    && native.unwatch(path).is_ok()
                {
                    tracing::debug!(path = %path.display(), "removed the watches that it had already");
                }
                self.refuse(path, &error);
                false
            }
        }
    }

    fn watch(&mut self, path: &Path, reach: WatchScope) -> notify::Result<()> {
        if self.native.is_none() {
            let (routes, hints) = (Arc::clone(&self.routes), Arc::clone(&self.hints));
            let orders = Mutex::new(self.orders.clone());
            self.native = Some(notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
                handle_event(&event, &routes, &hints, &orders);
            })?);
        }
        let Some(native) = &mut self.native else { return Ok(()) };
        if reach == WatchScope::Tree {
            watch_tree(&self.fs, native, path)
        } else {
            native.watch(path, RecursiveMode::NonRecursive)
        }
    }

    fn uninstall(&mut self, path: &Path) {
        let was_installed = self.installed.remove(path).is_some();
        if let Some(native) = self.native.as_mut().filter(|_| was_installed) {
            // Fails if the system has dropped the watch already, because the folder is gone.
            native.unwatch(path).ok();
        }
        if self.polled.remove(path).is_some() || was_installed {
            self.announce(path);
        }
    }

    /// Events were lost: there may be new folders without a watch, and a watched path may be another folder now.
    fn install_all_again(&mut self) {
        let paths: Vec<PathBuf> = self.installed.keys().cloned().collect();
        for path in paths {
            self.uninstall(&path);
        }
        self.install_plan();
        self.hints.insert(Hint::Everything);
    }

    /// Handles a new folder in a watched tree. notify reports the folder before it watches it. A second request makes
    /// sure of the watch, and only a walk after that misses nothing.
    fn watch_new_folder(&mut self, folder: &Path) {
        if !self.fs.stat(folder).is_ok_and(|stat| stat.kind == FileKind::Dir) {
            return;
        }
        let around = self.routes.read().unwrap_or_else(PoisonError::into_inner).watch_around(folder);
        let is_native = around.is_some_and(|around| self.installed.contains_key(&around));
        if is_native
            && let Some(native) = &mut self.native
            && let Err(error) = watch_tree(&self.fs, native, folder)
        {
            if is_limit(&error) {
                self.refuse_at(Some(folder));
                self.install_plan();
            } else {
                tracing::debug!(%error, folder = %folder.display(), "a new folder is not watched");
            }
        }
        self.hints.insert(Hint::Tree(folder.to_owned()));
    }

    /// The system refuses more watches at `path`, or at an unknown path.
    fn refuse_at(&mut self, path: Option<&Path>) {
        let limit = notify::Error::new(notify::ErrorKind::MaxFilesWatch);
        let around = path
            .and_then(|path| self.routes.read().unwrap_or_else(PoisonError::into_inner).watch_around(path));
        let refused: Vec<PathBuf> = match around {
            Some(around) => vec![around],
            None => self.installed.keys().cloned().collect(),
        };
        for path in refused {
            self.refuse(&path, &limit);
        }
    }

    fn refuse(&mut self, path: &Path, error: &notify::Error) {
        let reason = if is_limit(error) {
            Some(problem(path, ProblemKind::WatchLimit, limit_detail(error)))
        } else if let notify::ErrorKind::Io(io) = &error.kind {
            problem_of(path, io)
        } else if matches!(error.kind, notify::ErrorKind::PathNotFound) {
            None
        } else {
            Some(problem(path, ProblemKind::Io, format!("The system will not watch this folder: {error}.")))
        };
        if let Some(reason) = reason {
            tracing::warn!(path = %path.display(), reason = %reason.detail, "not watched by events");
            self.refused.insert(path.to_owned(), reason);
        }
    }

    /// The poll interval of a folder, if it must be polled.
    fn poll_interval_for(&self, path: &Path) -> Option<Duration> {
        let limited = self.refused.get(path).is_some_and(|reason| reason.kind == ProblemKind::WatchLimit);
        match self.mode {
            WatchMethod::Poll(interval) => Some(interval),
            _ if limited => Some(POLL_INTERVAL),
            WatchMethod::Auto => silent_file_system(path).map(|_| POLL_INTERVAL),
            WatchMethod::Native => None,
        }
    }

    fn interval(&self) -> Duration {
        match self.mode {
            WatchMethod::Poll(interval) => interval,
            _ => POLL_INTERVAL,
        }
    }

    /// Looks at every polled folder and adds hints for the changes.
    fn poll_folders(&mut self) {
        let routes = self.routes.read().unwrap_or_else(PoisonError::into_inner);
        for (path, (planned, known)) in &mut self.polled {
            let newer = Snapshot::take(&self.fs, path, planned);
            let names = routes.spellings_of(path);
            for changed in known.changes(&newer) {
                for name in &names {
                    let rest = changed.strip_prefix(path).unwrap_or(changed);
                    self.hints.insert(Hint::File(name.join(rest)));
                }
            }
            *known = newer;
        }
    }

    fn publish_health(&self, plan: &WatchPlan) {
        let health = plan.roots.iter().map(|root| {
            let canonical = root.canonical.as_deref();
            let of_root = |path: &Path| canonical.is_some_and(|canonical| path.starts_with(canonical));
            let polled = self.polled.keys().find(|path| of_root(path));
            let refused = self.refused.iter().find(|(path, _)| of_root(path)).map(|(_, reason)| reason.clone());
            let silent = polled.filter(|_| self.mode == WatchMethod::Auto).and_then(|path| {
                let name = silent_file_system(path)?;
                let seconds = POLL_INTERVAL.as_secs();
                let detail = format!(
                    "This folder is on {name}, which does not report changes, so it is looked at every {seconds} \
                     seconds. If it does report them, choose native watching in the settings."
                );
                Some(problem(path, ProblemKind::NoEvents, detail))
            });
            RootHealth {
                root: root.given.clone(),
                canonical: root.canonical.clone(),
                exists: root.canonical.is_some(),
                mode: match (polled, self.mode) {
                    (Some(_), _) | (None, WatchMethod::Poll(_)) => RootMode::Poll(self.interval()),
                    _ => RootMode::Native,
                },
                problem: refused.or(silent),
            }
        });
        *self.health.lock().unwrap_or_else(PoisonError::into_inner) = health.collect();
    }
}
