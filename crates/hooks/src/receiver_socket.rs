//! Receiver sockets: the socket of one receiver, with a lock file that shows whether the receiver is alive.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};

use watchbill_platform::files::{open_ordinary, open_private, private_dir};
use watchbill_platform::socket::with_short_path;

use crate::places::HookPaths;

/// The journal writer's answer: the journal holds the event.
pub(crate) const JOURNALED: u8 = b'J';

/// The answer of other receivers: the event has come, but its sender must see that it is stored.
pub(crate) const NOT_JOURNALED: u8 = b'H';

/// An open receiver. It closes when it is dropped.
#[derive(Debug)]
pub struct ReceiverSocket {
    /// The socket that senders connect to.
    pub listener: UnixListener,
    socket: PathBuf,
    lock: PathBuf,
    _claim: File,
}

impl ReceiverSocket {
    /// Opens a receiver for this process, and removes the receivers of dead processes.
    ///
    /// # Errors
    /// When the folder or the socket cannot be made.
    pub fn open(places: &HookPaths) -> io::Result<Self> {
        private_dir(places.root())?;
        let folder = places.sockets_dir();
        private_dir(&folder)?;
        remove_dead(&folder);
        for number in 0..1000 {
            let stem = folder.join(format!("{}-{number}", std::process::id()));
            let lock = stem.with_extension("lock");
            let Some(claim) = claim_new(&lock)? else { continue };
            let socket = stem.with_extension("sock");
            // The lock is new and belongs to this process, so a socket of that name is left from a dead one.
            let _ = fs::remove_file(&socket);
            let listener = match with_short_path(&socket, |path| UnixListener::bind(path)) {
                Ok(listener) => listener,
                Err(error) => {
                    let _ = fs::remove_file(&lock);
                    return Err(error);
                }
            };
            listener.set_nonblocking(true)?;
            return Ok(Self { listener, socket, lock, _claim: claim });
        }
        Err(io::Error::other("this process has a thousand receivers already"))
    }
}

impl Drop for ReceiverSocket {
    fn drop(&mut self) {
        // The socket first: a lock without a socket does no harm, but a socket without a lock would never be removed.
        let _ = fs::remove_file(&self.socket);
        let _ = fs::remove_file(&self.lock);
    }
}

/// Makes a new lock file and locks it; `None` when the name is taken.
fn claim_new(lock: &Path) -> io::Result<Option<File>> {
    let file = match open_private(OpenOptions::new().write(true).create_new(true), lock) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
        Err(error) => return Err(error),
    };
    // Another program may have removed the file between the two calls, because it was not locked yet.
    Ok((file.try_lock().is_ok() && lock.exists()).then_some(file))
}

/// Removes the receivers whose lock is free.
fn remove_dead(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let lock = entry.path();
        if lock.extension().is_none_or(|end| end != "lock") {
            continue;
        }
        let Ok(file) = open_ordinary(OpenOptions::new().read(true), &lock) else { continue };
        if file.try_lock().is_ok() {
            let _ = fs::remove_file(lock.with_extension("sock"));
            let _ = fs::remove_file(&lock);
        }
    }
}

/// Counts the receivers of living and of dead owners.
pub(crate) fn count_receivers(places: &HookPaths) -> (usize, usize) {
    let (mut living, mut dead) = (0, 0);
    for entry in fs::read_dir(places.sockets_dir()).into_iter().flatten().flatten() {
        let lock = entry.path();
        if lock.extension().is_some_and(|end| end == "lock")
            && let Ok(file) = open_ordinary(OpenOptions::new().read(true), &lock)
        {
            // A shared lock, so that two programs that count do not take each other for owners.
            let owned = file.try_lock_shared().is_err();
            living += usize::from(owned);
            dead += usize::from(!owned);
        }
    }
    (living, dead)
}

/// All sockets in the folder, also of dead owners.
pub(crate) fn sockets(places: &HookPaths) -> Vec<PathBuf> {
    let entries = fs::read_dir(places.sockets_dir()).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "sock"))
        .collect()
}

/// Connects without waiting. A receiver whose queue is full counts as busy.
///
/// # Errors
/// When no receiver listens there, or its queue is full.
pub(crate) fn connect(socket: &Path) -> io::Result<UnixStream> {
    let descriptor = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    let stream = UnixStream::from(descriptor);
    stream.set_nonblocking(true)?;
    with_short_path(socket, |path| {
        let address = SocketAddrUnix::new(path)?;
        Ok(rustix::net::connect(stream.as_fd(), &address)?)
    })?;
    Ok(stream)
}

/// Whether the process at the other end belongs to this user, or to root.
pub(crate) fn is_ours(stream: &UnixStream) -> bool {
    #[cfg(target_os = "linux")]
    {
        rustix::net::sockopt::socket_peercred(stream)
            .is_ok_and(|peer| peer.uid == rustix::process::geteuid() || peer.uid.is_root())
    }
    #[cfg(not(target_os = "linux"))]
    {
        // No other user can enter the folder; that has to suffice.
        let _ = stream;
        true
    }
}
