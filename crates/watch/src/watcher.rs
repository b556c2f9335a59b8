//! Watches the agent's folders and says where to look, whatever happens to the folders themselves.
//!
//! Two threads: notify's own, whose callback only sorts events ([`crate::route`]), and a keeper, which alone adds
//! and removes watches. The callback must not do that itself: notify answers on the thread that the callback runs
//! on. Both sleep until something happens; only folders that must be polled wake the keeper by the clock.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use notify::{RecursiveMode, Watcher as _};
use watchbill_core::problem::{Problem, ProblemKind};

use crate::fs::{FileKind, Fs, StdFs, problem, problem_of};
use crate::hints::{Hint, HintSet};
use crate::plan::{Plan, Planned, Reach, plan};
use crate::poll::{Snapshot, silent_file_system};
use crate::route::{Routes, Step, is_limit};

/// How often a folder is looked at whose file system reports no events.
pub const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// How to learn of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WatchMode {
    /// By the system's events, and by looking where the file system gives none.
    #[default]
    Auto,
    /// By the system's events, wherever the folder is.
    Native,
    /// By looking this often.
    Poll(Duration),
}

/// How one root is watched now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootMode {
    /// By the system's events.
    Native,
    /// By looking this often.
    Poll(Duration),
}

/// How it stands with one root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootHealth {
    /// The root as it was named.
    pub root: PathBuf,
    /// Its one true spelling, which all hints use; `None` while it does not exist.
    pub canonical: Option<PathBuf>,
    /// Whether it exists.
    pub exists: bool,
    /// How it is watched.
    pub mode: RootMode,
    /// What is wrong with watching it.
    pub problem: Option<Problem>,
}

/// Watches roots and single folders. Dropping it ends its threads.
#[derive(Debug)]
pub struct Watcher {
    hints: Arc<HintSet>,
    health: Arc<Mutex<Vec<RootHealth>>>,
    orders: Sender<Order>,
    keeper: Option<JoinHandle<()>>,
}

/// What the keeper is told.
#[derive(Debug)]
enum Order {
    Step(Step),
    WatchDir(PathBuf),
    UnwatchDir(PathBuf),
    Poll,
    Answer(Sender<()>),
    Stop,
}

impl Watcher {
    /// Starts to watch. `wake` is called from a thread of the watcher when there is something to take; it must
    /// not wait for anything. Scan only after [`ready`](Self::ready), or what is written between is missed.
    pub fn start(roots: &[PathBuf], mode: WatchMode, wake: impl Fn() + Send + Sync + 'static) -> Self {
        let hints = Arc::new(HintSet::new(wake));
        let health = Arc::new(Mutex::new(Vec::new()));
        let (orders, inbox) = channel();
        let roots = roots.iter().map(|root| absolute(root)).collect();
        let keeper = Keeper::new(roots, mode, Arc::clone(&hints), Arc::clone(&health), orders.clone());
        let keeper =
            std::thread::Builder::new().name("watch-keeper".into()).spawn(move || keeper.run(&inbox));
        if let Err(error) = &keeper {
            tracing::error!(%error, "nothing is watched: the system gives no thread");
        }
        Self { hints, health, orders, keeper: keeper.ok() }
    }

    /// Waits until everything that exists is watched, or a reason is known why not.
    pub fn ready(&self) {
        let (answer, answered) = channel();
        if self.orders.send(Order::Answer(answer)).is_ok() && self.keeper.is_some() {
            // An error means that the keeper is gone, and then there is nothing to wait for.
            answered.recv().unwrap_or_default();
        }
    }

    /// Where to look; each hint is given once.
    pub fn take(&self) -> BTreeSet<Hint> {
        self.hints.take()
    }

    /// The set that hints are put into, for adding some by hand.
    pub fn hints(&self) -> &Arc<HintSet> {
        &self.hints
    }

    /// How each root is watched, in the order given and each root once.
    pub fn health(&self) -> Vec<RootHealth> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Also watches one folder, without those below: `.claude` of a working folder. It need not exist yet.
    pub fn watch_dir(&self, path: &Path) {
        self.order(Order::WatchDir(absolute(path)));
    }

    /// Stops watching a folder given to [`watch_dir`](Self::watch_dir).
    pub fn unwatch_dir(&self, path: &Path) {
        self.order(Order::UnwatchDir(absolute(path)));
    }

    /// Looks now at every folder that is polled, and at the plan itself: after a suspend, or on demand.
    pub fn poll_now(&self) {
        self.order(Order::Poll);
    }

    fn order(&self, order: Order) {
        if self.orders.send(order).is_err() {
            tracing::debug!("the watcher has ended");
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.order(Order::Stop);
        if let Some(keeper) = self.keeper.take()
            && keeper.join().is_err()
        {
            tracing::error!("the watcher's thread ended by a panic");
        }
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// The thread that keeps what is installed equal to the plan.
struct Keeper {
    fs: StdFs,
    roots: Vec<PathBuf>,
    dirs: BTreeSet<PathBuf>,
    mode: WatchMode,
    hints: Arc<HintSet>,
    health: Arc<Mutex<Vec<RootHealth>>>,
    routes: Arc<RwLock<Routes>>,
    orders: Sender<Order>,
    native: Option<notify::RecommendedWatcher>,
    /// What the system watches for us.
    installed: BTreeMap<PathBuf, Planned>,
    /// What we look at ourselves.
    polled: BTreeMap<PathBuf, (Planned, Snapshot)>,
    /// Folders that the system would not watch, with the reason.
    refused: BTreeMap<PathBuf, Problem>,
    started: bool,
}

impl Keeper {
    fn new(
        roots: Vec<PathBuf>,
        mode: WatchMode,
        hints: Arc<HintSet>,
        health: Arc<Mutex<Vec<RootHealth>>>,
        orders: Sender<Order>,
    ) -> Self {
        Self {
            fs: StdFs,
            roots,
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
            started: false,
        }
    }

    fn run(mut self, inbox: &Receiver<Order>) {
        self.settle();
        self.started = true;
        let mut next_look = Instant::now() + self.interval();
        loop {
            let first = if self.polled.is_empty() {
                inbox.recv().map_err(|_| RecvTimeoutError::Disconnected)
            } else {
                inbox.recv_timeout(next_look.saturating_duration_since(Instant::now()))
            };
            let batch: Vec<Order> = match first {
                Ok(order) => std::iter::once(order).chain(inbox.try_iter()).collect(),
                Err(RecvTimeoutError::Timeout) => vec![Order::Poll],
                Err(RecvTimeoutError::Disconnected) => return,
            };
            if batch.iter().any(|order| matches!(order, Order::Poll)) {
                next_look = Instant::now() + self.interval();
            }
            if !self.obey(batch) {
                return;
            }
        }
    }

    /// Carries out what has piled up, each thing once; whether to go on.
    fn obey(&mut self, batch: Vec<Order>) -> bool {
        let mut folders = BTreeSet::new();
        let mut answers = Vec::new();
        let (mut look, mut poll, mut overflow) = (false, false, false);
        for order in batch {
            match order {
                Order::Step(Step::Hint(hint)) => self.hints.insert(hint),
                Order::Step(Step::Look) => look = true,
                Order::Step(Step::Lost(path)) => {
                    self.uninstall(&path);
                    look = true;
                }
                Order::Step(Step::Folder(path)) => {
                    folders.insert(path);
                }
                Order::Step(Step::Overflow) => overflow = true,
                Order::Step(Step::Limit(path)) => {
                    self.refuse_at(path.as_deref());
                    look = true;
                }
                Order::WatchDir(path) => look |= self.dirs.insert(path),
                Order::UnwatchDir(path) => look |= self.dirs.remove(&path),
                Order::Poll => poll = true,
                Order::Answer(answer) => answers.push(answer),
                Order::Stop => return false,
            }
        }
        if overflow {
            self.install_all_again();
        }
        if look || poll || overflow {
            self.settle();
        }
        for folder in folders {
            self.adopt(&folder);
        }
        if poll {
            self.look();
        }
        for answer in answers {
            // Nobody waits any more: then nobody misses the answer.
            answer.send(()).unwrap_or_default();
        }
        true
    }

    /// Brings what is installed in line with a new plan, and again until the plan stays: something may have
    /// appeared between planning and watching.
    fn settle(&mut self) {
        // Each round goes one level deeper on the way to an awaited folder; the bound is for a file system that
        // changes as fast as we look.
        for _ in 0..64 {
            let plan = plan(&self.fs, &self.roots, &self.dirs);
            let changed = self.apply(&plan);
            self.publish_health(&plan);
            if !changed {
                return;
            }
        }
    }

    fn apply(&mut self, plan: &Plan) -> bool {
        let by_looking = |keeper: &Self, path: &Path| keeper.poll_interval_for(path).is_some();
        let obsolete = |path: &Path, planned: &Planned| plan.watches.get(path) != Some(planned);
        let native = self.installed.iter().filter(|(path, planned)| {
            // Watched by events so far, and the limit has been met since.
            obsolete(path, planned) || by_looking(self, path)
        });
        let polled = self.polled.iter().filter(|(path, (planned, _))| obsolete(path, planned));
        let stale: Vec<PathBuf> =
            native.map(|(path, _)| path).chain(polled.map(|(path, _)| path)).cloned().collect();
        let mut changed = !stale.is_empty();
        for path in stale {
            self.uninstall(&path);
        }
        // After the old watches, whose folders are announced by their old names, and before the new ones, whose
        // first events must find their way.
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
                // Refused for want of watches: the next round polls it. Otherwise it is tried again with the
                // next change around it.
                changed |= self.poll_interval_for(path).is_some();
                continue;
            }
            changed = true;
            self.announce(path);
        }
        changed
    }

    /// Has a folder looked at whose watch begins or ends: what came before the watch gave no event, and what goes
    /// with the folder itself may give none either.
    fn announce(&self, path: &Path) {
        if self.started {
            let routes = self.routes.read().unwrap_or_else(PoisonError::into_inner);
            for name in routes.known_as(path) {
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
                self.refuse(path, &error);
                false
            }
        }
    }

    fn watch(&mut self, path: &Path, reach: Reach) -> notify::Result<()> {
        if self.native.is_none() {
            let (routes, hints) = (Arc::clone(&self.routes), Arc::clone(&self.hints));
            let orders = Mutex::new(self.orders.clone());
            self.native = Some(notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
                sort_out(&event, &routes, &hints, &orders);
            })?);
        }
        let Some(native) = &mut self.native else { return Ok(()) };
        if reach == Reach::Tree {
            watch_tree(&self.fs, native, path)
        } else {
            native.watch(path, RecursiveMode::NonRecursive)
        }
    }

    fn uninstall(&mut self, path: &Path) {
        if self.installed.remove(path).is_some() {
            if let Some(native) = &mut self.native
                && let Err(error) = native.unwatch(path)
            {
                // The system has dropped it by itself, because the folder is gone.
                tracing::trace!(%error, path = %path.display(), "nothing to unwatch");
            }
            self.announce(path);
        }
        if self.polled.remove(path).is_some() {
            self.announce(path);
        }
    }

    /// Events were lost: folders may have come without being watched, and watched ones may be others now.
    fn install_all_again(&mut self) {
        let paths: Vec<PathBuf> = self.installed.keys().cloned().collect();
        for path in paths {
            self.uninstall(&path);
        }
        self.settle();
        self.hints.insert(Hint::Everything);
    }

    /// A folder came into a watched tree. Notify tells us before it watches the folder; asking it again makes
    /// sure of the watch, and only a walk after that misses nothing.
    fn adopt(&mut self, folder: &Path) {
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
                self.settle();
            } else {
                tracing::debug!(%error, folder = %folder.display(), "a new folder is not watched");
            }
        }
        self.hints.insert(Hint::Tree(folder.to_owned()));
    }

    /// The system refuses watches at `path`, or somewhere.
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

    /// How often to look at a folder, if it must be polled.
    fn poll_interval_for(&self, path: &Path) -> Option<Duration> {
        let limited = self.refused.get(path).is_some_and(|reason| reason.kind == ProblemKind::WatchLimit);
        match self.mode {
            WatchMode::Poll(interval) => Some(interval),
            _ if limited => Some(POLL_INTERVAL),
            WatchMode::Auto => silent_file_system(path).map(|_| POLL_INTERVAL),
            WatchMode::Native => None,
        }
    }

    fn interval(&self) -> Duration {
        match self.mode {
            WatchMode::Poll(interval) => interval,
            _ => POLL_INTERVAL,
        }
    }

    /// Looks at every polled folder and tells what changed.
    fn look(&mut self) {
        let routes = self.routes.read().unwrap_or_else(PoisonError::into_inner);
        for (path, (planned, known)) in &mut self.polled {
            let newer = Snapshot::take(&self.fs, path, planned);
            let names = routes.known_as(path);
            for changed in known.changes(&newer) {
                for name in &names {
                    let rest = changed.strip_prefix(path).unwrap_or(changed);
                    self.hints.insert(Hint::File(name.join(rest)));
                }
            }
            *known = newer;
        }
    }

    fn publish_health(&self, plan: &Plan) {
        let health = plan.roots.iter().map(|root| {
            let canonical = root.canonical.as_deref();
            let of_root = |path: &Path| canonical.is_some_and(|canonical| path.starts_with(canonical));
            let polled = self.polled.keys().find(|path| of_root(path));
            let refused = self.refused.iter().find(|(path, _)| of_root(path)).map(|(_, reason)| reason.clone());
            let silent = polled.filter(|_| self.mode == WatchMode::Auto).and_then(|path| {
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
                    (Some(_), _) | (None, WatchMode::Poll(_)) => RootMode::Poll(self.interval()),
                    _ => RootMode::Native,
                },
                problem: refused.or(silent),
            }
        });
        *self.health.lock().unwrap_or_else(PoisonError::into_inner) = health.collect();
    }
}

/// The callback: sorts one event out and returns at once.
fn sort_out(
    event: &notify::Result<notify::Event>,
    routes: &RwLock<Routes>,
    hints: &HintSet,
    orders: &Mutex<Sender<Order>>,
) {
    let steps = routes.read().unwrap_or_else(PoisonError::into_inner).steps(event);
    for step in steps {
        match step {
            Step::Hint(hint) => hints.insert(hint),
            step => {
                let orders = orders.lock().unwrap_or_else(PoisonError::into_inner);
                // The keeper is gone: the watcher is being dropped.
                orders.send(Order::Step(step)).unwrap_or_default();
            }
        }
    }
}

/// Watches a folder with everything below it.
///
/// Notify gives up at the first folder below that vanishes or may not be read, and leaves its neighbours
/// unwatched. Then each child is asked for by itself, so that only the one that cannot be watched is not.
fn watch_tree(fs: &dyn Fs, native: &mut notify::RecommendedWatcher, top: &Path) -> notify::Result<()> {
    let Err(error) = native.watch(top, RecursiveMode::Recursive) else { return Ok(()) };
    if is_limit(&error) || !cfg!(target_os = "linux") {
        return Err(error);
    }
    // Asked for alone, the folder tells whether it is itself the one that cannot be watched; the second call gives
    // it back its reach over folders to come and over their removal, whatever happens below.
    native.watch(top, RecursiveMode::NonRecursive)?;
    if native.watch(top, RecursiveMode::Recursive).is_ok() {
        return Ok(());
    }
    let children = fs.list(top).map_err(notify::Error::io)?;
    for child in children.iter().filter(|child| child.kind == FileKind::Dir) {
        let child = top.join(&child.name);
        match watch_tree(fs, native, &child) {
            Err(error) if is_limit(&error) => return Err(error),
            Err(error) => tracing::debug!(%error, folder = %child.display(), "not watched"),
            Ok(()) => {}
        }
    }
    Ok(())
}

fn limit_detail(error: &notify::Error) -> String {
    let (what, name, value) = match &error.kind {
        notify::ErrorKind::Io(io) if is_instances(io) => ("watchers", "fs.inotify.max_user_instances", 1024),
        _ => ("watches", "fs.inotify.max_user_watches", 524_288),
    };
    let seconds = POLL_INTERVAL.as_secs();
    format!(
        "The system allows no more {what}, so this folder is looked at every {seconds} seconds instead. Raise the \
         limit with `sudo sysctl {name}={value}` and start again."
    )
}

#[cfg(unix)]
fn is_instances(error: &io::Error) -> bool {
    error.raw_os_error() != Some(rustix::io::Errno::NOSPC.raw_os_error())
}

#[cfg(not(unix))]
fn is_instances(_error: &io::Error) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Watched {
        watcher: Watcher,
        woken: Receiver<()>,
        root: PathBuf,
        _dir: tempfile::TempDir,
    }

    impl Watched {
        fn start() -> Self {
            let dir = tempfile::TempDir::new().expect("a temporary folder");
            let root = dir.path().canonicalize().expect("real");
            std::fs::create_dir_all(root.join("projects/p")).expect("made");
            std::fs::create_dir_all(root.join("sessions")).expect("made");
            let (ring, woken) = channel();
            let watcher = Watcher::start(std::slice::from_ref(&root), WatchMode::Native, move || {
                ring.send(()).unwrap_or_default();
            });
            watcher.ready();
            Self { watcher, woken, root, _dir: dir }
        }

        fn tell(&self, step: Step) {
            self.watcher.order(Order::Step(step));
            self.watcher.ready();
        }

        /// The first hints that come, within ten seconds.
        fn next(&self) -> BTreeSet<Hint> {
            self.woken.recv_timeout(Duration::from_secs(10)).expect("woken");
            self.watcher.take()
        }
    }

    #[test]
    fn after_lost_events_everything_is_watched_anew_and_looked_at() {
        let watched = Watched::start();
        watched.tell(Step::Overflow);
        assert_eq!(watched.next(), BTreeSet::from([Hint::Everything]));
        let file = watched.root.join("projects/p/s.jsonl");
        std::fs::write(&file, b"{}").expect("written");
        assert_eq!(watched.next(), BTreeSet::from([Hint::File(file)]));
    }

    #[test]
    fn at_the_limit_of_watches_the_root_is_polled_and_says_why() {
        let watched = Watched::start();
        let file = watched.root.join("projects/p/s.jsonl");
        watched.tell(Step::Limit(Some(file.clone())));
        let health = watched.watcher.health();
        assert_eq!(health[0].mode, RootMode::Poll(POLL_INTERVAL));
        let problem = health[0].problem.as_ref().expect("told");
        assert_eq!(problem.kind, ProblemKind::WatchLimit);
        assert!(problem.detail.contains("fs.inotify.max_user_watches"), "{}", problem.detail);
        assert_eq!(watched.next(), BTreeSet::from([Hint::Tree(watched.root.join("projects"))]));

        std::fs::write(&file, b"{}").expect("written");
        watched.watcher.poll_now();
        assert_eq!(watched.next(), BTreeSet::from([Hint::File(file)]));
        let registry = watched.root.join("sessions/7.json");
        std::fs::write(&registry, b"{}").expect("written");
        assert_eq!(watched.next(), BTreeSet::from([Hint::File(registry)]), "still told by events");
    }

    #[test]
    fn a_folder_that_vanishes_as_a_whole_is_told() {
        let watched = Watched::start();
        let sessions = watched.root.join("sessions");
        std::fs::rename(&sessions, watched.root.join("old")).expect("renamed");
        assert_eq!(watched.next(), BTreeSet::from([Hint::Tree(sessions)]));
    }

    #[cfg(unix)]
    #[test]
    fn the_limits_of_the_system_are_named() {
        use rustix::io::Errno;
        let error = |errno: Errno| notify::Error::io(io::Error::from_raw_os_error(errno.raw_os_error()));
        assert!(limit_detail(&error(Errno::MFILE)).contains("fs.inotify.max_user_instances"));
        assert!(limit_detail(&error(Errno::NOSPC)).contains("fs.inotify.max_user_watches"));
        assert!(
            is_limit(&error(Errno::MFILE))
                && is_limit(&error(Errno::NOSPC))
                && !is_limit(&error(Errno::ACCESS))
        );
    }
}
