//! Follows the configuration file: an edit by hand counts at once, however the editor saves it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use watchbill_watch::watcher::{WatchMethod, Watcher};

use crate::configuration::Configuration;

/// How long the file must be quiet before it is read: an editor saves in several steps.
const PAUSE: Duration = Duration::from_millis(100);
/// How many such pauses to wait for at most.
const PAUSES: u32 = 10;
/// How long an editor may take between moving the old file away and writing the new one.
const ABSENCE: Duration = Duration::from_millis(400);
/// How many symbolic links in a row are followed.
const LINKS: usize = 40;

/// While this lives, the configuration follows its file.
#[derive(Debug)]
pub struct FileFollower {
    orders: Sender<Message>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, PartialEq, Eq)]
enum Message {
    Look,
    Stop,
}

/// Begins to follow the file. Does nothing if the file has no path, or the thread cannot start.
pub fn follow(configuration: &Arc<Configuration>) -> FileFollower {
    let (orders, inbox) = channel();
    let Some(path) = configuration.path().map(Path::to_path_buf) else {
        return FileFollower { orders, thread: None };
    };
    let (wake, configuration) = (orders.clone(), Arc::downgrade(configuration));
    let run = move || {
        let watcher = Watcher::start(&[], &[], WatchMethod::Auto, move || {
            // This fails only when the thread has ended.
            let _ = wake.send(Message::Look);
        });
        let mut watched = BTreeSet::new();
        loop {
            // Watch first, then read: no edit can fall between the two.
            watch(&watcher, &path, &mut watched);
            watcher.take();
            let Some(configuration) = configuration.upgrade() else { return };
            if configuration.has_emptied() {
                std::thread::sleep(ABSENCE);
            }
            configuration.reload();
            drop(configuration);
            if inbox.recv().is_ok_and(|order| order == Message::Stop) || is_stopped(&inbox) {
                return;
            }
        }
    };
    let thread = std::thread::Builder::new().name("watchbill-config".to_owned()).spawn(run);
    if let Err(error) = &thread {
        tracing::warn!(%error, "no thread for the configuration file: edits count after a restart");
    }
    FileFollower { orders, thread: thread.ok() }
}

impl Drop for FileFollower {
    fn drop(&mut self) {
        // This fails if the thread has ended already.
        let _ = self.orders.send(Message::Stop);
        let thread = self.thread.take().filter(|thread| thread.thread().id() != std::thread::current().id());
        if thread.is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the thread of the configuration file ended by a panic");
        }
    }
}

/// Waits until the folder is quiet for a moment, but not for ever: other programs may always be busy in it. Returns
/// whether the thread should stop.
fn is_stopped(inbox: &Receiver<Message>) -> bool {
    for _ in 0..PAUSES {
        match inbox.recv_timeout(PAUSE) {
            Ok(Message::Look) => {}
            Err(RecvTimeoutError::Timeout) => return false,
            Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => return true,
        }
    }
    false
}

/// Watches the folder of the file. If the file is a symbolic link, as dotfiles often are, watches the folder of
/// each link and of the target too.
fn watch(watcher: &Watcher, path: &Path, watched: &mut BTreeSet<PathBuf>) {
    let mut wanted = BTreeSet::new();
    let mut at = path.to_path_buf();
    for _ in 0..LINKS {
        wanted.extend(at.parent().map(Path::to_path_buf));
        let Ok(next) = std::fs::read_link(&at) else { break };
        at = at.parent().unwrap_or(Path::new("/")).join(next);
    }
    watched.difference(&wanted).for_each(|folder| watcher.unwatch_dir(folder));
    wanted.difference(watched).for_each(|folder| watcher.watch_dir(folder));
    if wanted != *watched {
        watcher.wait_until_ready();
        *watched = wanted;
    }
}
