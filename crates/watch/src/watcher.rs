//! Watches the agent's folders and gives hints where to look, also when the folders themselves change.
//!
//! There are two threads: notify's own, whose callback only sorts events (`route`), and a keeper, which alone adds
//! and removes watches. The callback cannot do that itself, because notify answers on the thread that runs the
//! callback. Both sleep until something happens. Only polled folders wake the keeper periodically.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use watchbill_agents::Root;

use crate::hints::{Hint, HintSet};
use crate::order::Order;
use crate::watch_manager::WatchThread;

pub use crate::mode::{POLL_INTERVAL, RootHealth, RootMode, WatchMethod};

/// Watches roots and single folders. Dropping it ends its threads.
#[derive(Debug)]
pub struct Watcher {
    hints: Arc<HintSet>,
    health: Arc<Mutex<Vec<RootHealth>>>,
    orders: Sender<Order>,
    lost: Arc<AtomicU64>,
    stands: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Watcher {
    /// Starts to watch. A thread of the watcher calls `wake` when there are hints to take, and when the watcher
    /// [stands](Self::is_established). `wake` must not wait for anything. Changes before the watcher stands give no hint.
    /// An `awaited` root is watched from when it is there, as far as the watches of the other roots show that.
    pub fn start(
        roots: &[Root],
        awaited: &[Root],
        mode: WatchMethod,
        wake: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        let hints = Arc::new(HintSet::new(wake));
        let health = Arc::new(Mutex::new(Vec::new()));
        let (orders, inbox) = channel();
        let roots = [roots, awaited].map(|roots| roots.iter().map(|root| root.at(absolute(root))).collect());
        let lost = Arc::new(AtomicU64::new(0));
        let stands = Arc::new(AtomicBool::new(false));
        let (hints_of_thread, health_of_thread, lost_of_thread) =
            (Arc::clone(&hints), Arc::clone(&health), Arc::clone(&lost));
        let thread = WatchThread::new(
            roots,
            mode,
            hints_of_thread,
            health_of_thread,
            orders.clone(),
            lost_of_thread,
            Arc::clone(&stands),
        );
        let thread =
            std::thread::Builder::new().name("watch-keeper".into()).spawn(move || thread.run(&inbox));
        if let Err(error) = &thread {
            tracing::error!(%error, "nothing is watched: the system cannot start a thread");
        }
        Self { hints, health, orders, lost, stands, thread: thread.ok() }
    }

    /// Waits until every existing folder is watched, or has a known reason why not.
    pub fn wait_until_ready(&self) {
        let (answer, answered) = channel();
        if self.orders.send(Order::Answer(answer)).is_ok() && self.thread.is_some() {
            // An error means that the keeper is gone, so there is nothing to wait for.
            answered.recv().unwrap_or_default();
        }
    }

    /// Whether every folder that existed at the start is watched, or has a known reason why not.
    pub fn is_established(&self) -> bool {
        // A thread that has ended will not set the flag any more.
        self.stands.load(Ordering::Acquire) || self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// The waiting hints, each once.
    pub fn take(&self) -> BTreeSet<Hint> {
        self.hints.take()
    }

    /// The health of each root, each once, in the given order.
    pub fn health(&self) -> Vec<RootHealth> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Number of times that the system lost events, so that everything was looked at again.
    pub fn lost_events(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Also watches one folder, without folders below it: `.claude` of a working folder. It need not exist yet.
    pub fn watch_dir(&self, path: &Path) {
        self.order(Order::WatchDir(absolute(path)));
    }

    /// Stops watching a folder given to [`watch_dir`](Self::watch_dir).
    pub fn unwatch_dir(&self, path: &Path) {
        self.order(Order::UnwatchDir(absolute(path)));
    }

    /// Looks now at every polled folder and makes the plan again: after a suspend, or on demand.
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
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the watcher's thread ended by a panic");
        }
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::Receiver;
    use std::time::Duration;

    use watchbill_core::problem::ProblemKind;

    use super::*;
    use crate::route::EventAction;

    struct WatchFixture {
        watcher: Watcher,
        woken: Receiver<()>,
        root: PathBuf,
        _dir: tempfile::TempDir,
    }

    impl WatchFixture {
        fn start() -> Self {
            let dir = tempfile::TempDir::new().expect("a temporary folder");
            let root = watchbill_platform::files::real_path(dir.path()).expect("real");
            std::fs::create_dir_all(root.join("projects/p")).expect("made");
            std::fs::create_dir_all(root.join("sessions")).expect("made");
            let (ring, woken) = channel();
            let watcher = Watcher::start(&[root.clone().into()], &[], WatchMethod::Native, move || {
                ring.send(()).unwrap_or_default();
            });
            watcher.wait_until_ready();
            assert!(watcher.is_established());
            woken.recv_timeout(Duration::from_secs(60)).expect("woken when it stood");
            Self { watcher, woken, root, _dir: dir }
        }

        fn tell(&self, step: EventAction) {
            self.watcher.order(Order::Step(step));
            self.watcher.wait_until_ready();
        }

        /// The next hints, within a minute.
        fn next(&self) -> BTreeSet<Hint> {
            self.woken.recv_timeout(Duration::from_secs(60)).expect("woken");
            self.watcher.take()
        }
    }

    #[test]
    fn lost_events_renew_all_watches_and_hint_at_everything() {
        let watched = WatchFixture::start();
        watched.tell(EventAction::Overflow);
        assert_eq!(watched.next(), BTreeSet::from([Hint::Everything]));
        assert_eq!(watched.watcher.lost_events(), 1, "and is counted");
        let file = watched.root.join("projects/p/s.jsonl");
        std::fs::write(&file, b"{}").expect("written");
        assert_eq!(watched.next(), BTreeSet::from([Hint::File(file)]));
    }

    #[test]
    fn at_the_watch_limit_a_root_is_polled_and_its_health_has_the_reason() {
        let watched = WatchFixture::start();
        let file = watched.root.join("projects/p/s.jsonl");
        watched.tell(EventAction::Limit(Some(file.clone())));
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
    fn a_vanished_folder_gives_a_hint() {
        let watched = WatchFixture::start();
        let sessions = watched.root.join("sessions");
        std::fs::rename(&sessions, watched.root.join("old")).expect("renamed");
        assert_eq!(watched.next(), BTreeSet::from([Hint::Tree(sessions)]));
    }
}
