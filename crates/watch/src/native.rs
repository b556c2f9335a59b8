//! The system's own watches: their events, how a whole tree gets them, and the names of their limits.

use std::io;
use std::path::Path;
use std::sync::mpsc::Sender;
use std::sync::{Mutex, PoisonError, RwLock};

use notify::{RecursiveMode, Watcher as _};

use crate::fs::{FileKind, Fs};
use crate::hints::HintSet;
use crate::mode::POLL_INTERVAL;
use crate::order::Order;
use crate::route::{EventAction, Routes, is_limit};

/// The callback: turns one event into steps and returns at once.
pub(crate) fn handle_event(
    event: &notify::Result<notify::Event>,
    routes: &RwLock<Routes>,
    hints: &HintSet,
    orders: &Mutex<Sender<Order>>,
) {
    let steps = routes.read().unwrap_or_else(PoisonError::into_inner).steps(event);
    for step in steps {
        match step {
            EventAction::Hint(hint) => hints.insert(hint),
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
/// If a folder below vanishes or may not be read, notify stops there and leaves the other folders unwatched. This
/// function then requests each child by itself, so that only the failing one stays unwatched.
pub(crate) fn watch_tree(
    fs: &dyn Fs,
    native: &mut notify::RecommendedWatcher,
    top: &Path,
) -> notify::Result<()> {
    let Err(error) = native.watch(top, RecursiveMode::Recursive) else { return Ok(()) };
    if is_limit(&error) || !cfg!(target_os = "linux") {
        return Err(error);
    }
    // The first call shows whether the folder itself is the one that cannot be watched. The second call restores its
    // watch on new folders and on its removal, even if it fails further below.
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

/// What the user can do about a limit of the system.
pub(crate) fn limit_detail(error: &notify::Error) -> String {
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;

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
