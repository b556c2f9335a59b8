//! The socket's place, and its access check.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use interprocess::ConnectWaitMode;
use interprocess::local_socket::prelude::*;
use interprocess::local_socket::{ConnectOptions, GenericFilePath, Listener, ListenerOptions, Name, Stream};

/// The longest path that fits a socket's address on every system, without its closing zero.
#[cfg(unix)]
const PATH_LIMIT: usize = 103;

/// Longest wait for a connection.
const TIMEOUT: Duration = Duration::from_secs(1);

/// The place of a socket.
#[derive(Debug, Clone)]
pub struct Address {
    path: PathBuf,
}

/// Identifies a socket's file among later ones at the same path, by device and inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SocketIdentity(Option<(u64, u64)>);

impl Address {
    /// The socket at this path. It need not exist.
    pub fn at(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// Listens. Only the holder of the lock that belongs to the socket may call it: it replaces the socket that a killed
    /// program left. Also gives the identity of the new socket.
    ///
    /// # Errors
    /// When the folder belongs to another user, or the socket cannot be made.
    pub fn listen(&self) -> io::Result<(Listener, SocketIdentity)> {
        if let Some(folder) = self.path.parent() {
            crate::files::private_dir(folder)?;
        }
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        // We remove the socket ourselves, because another program may listen at this path by then.
        let listener =
            self.with_name(|name| ListenerOptions::new().name(name).reclaim_name(false).create_sync())?;
        Ok((listener, self.identity()))
    }

    /// Connects to the program that listens.
    ///
    /// # Errors
    /// When no program listens, or the other end belongs to another user.
    pub fn connect(&self) -> io::Result<Stream> {
        // If the listening program hangs, its queue fills up.
        let in_time = ConnectWaitMode::Timeout(TIMEOUT);
        let stream =
            self.with_name(|name| ConnectOptions::new().name(name).wait_mode(in_time).connect_sync())?;
        if !is_ours(&stream) {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "another user listens there"));
        }
        Ok(stream)
    }

    /// Removes the socket if it is still this one. Call it before the lock is released.
    ///
    /// # Errors
    /// When the socket exists and cannot be removed.
    pub fn remove(&self, identity: &SocketIdentity) -> io::Result<()> {
        // A named pipe has no identity. It ends with its last handle.
        if identity.0.is_none() || self.identity() != *identity {
            return Ok(());
        }
        std::fs::remove_file(&self.path)
    }

    #[cfg(unix)]
    fn identity(&self) -> SocketIdentity {
        use std::os::unix::fs::MetadataExt;
        SocketIdentity(std::fs::symlink_metadata(&self.path).ok().map(|found| (found.dev(), found.ino())))
    }

    #[cfg(windows)]
    fn identity(&self) -> SocketIdentity {
        SocketIdentity(None)
    }

    #[cfg(unix)]
    fn with_name<T>(&self, act: impl FnOnce(Name<'_>) -> io::Result<T>) -> io::Result<T> {
        with_short_path(&self.path, |path| act(path.to_fs_name::<GenericFilePath>()?))
    }

    #[cfg(windows)]
    fn with_name<T>(&self, act: impl FnOnce(Name<'_>) -> io::Result<T>) -> io::Result<T> {
        let hash = watchbill_core::ids::stable_hash(self.path.as_os_str().as_encoded_bytes());
        act(format!(r"\\.\pipe\watchbill-{hash:016x}").to_fs_name::<GenericFilePath>()?)
    }
}

/// Whether the other end belongs to this user or to root. Root can do everything anyway.
#[cfg(unix)]
pub fn is_ours(stream: &Stream) -> bool {
    let me = rustix::process::geteuid().as_raw();
    stream.peer_creds().is_ok_and(|peer| peer.euid().is_some_and(|uid| uid == me || uid == 0))
}

/// Whether the other end belongs to this user. A named pipe without its own security descriptor lets only its owner,
/// the system and administrators write.
#[cfg(windows)]
pub fn is_ours(_stream: &Stream) -> bool {
    true
}

/// The process at the other end; `None` if the system does not tell.
#[allow(clippy::useless_conversion, reason = "an id is signed on Unix, and is not on Windows")]
pub fn peer(stream: &Stream) -> Option<u32> {
    stream.peer_creds().ok().and_then(|peer| u32::try_from(peer.pid()?).ok())
}

/// Calls `act` with a path that fits a socket's address. It names a long path through its open folder.
///
/// # Errors
/// The errors of `act`. Also when the folder cannot be opened, and outside Linux when the path is too long.
#[cfg(unix)]
pub fn with_short_path<T>(path: &Path, act: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    use rustix::fs::OFlags;
    if path.as_os_str().len() <= PATH_LIMIT {
        return act(path);
    }
    if !cfg!(target_os = "linux") {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the path of the data folder is too long for a socket",
        ));
    }
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return act(path) };
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
    let folder = rustix::fs::open(folder, flags, rustix::fs::Mode::empty())?;
    let number = std::os::fd::AsRawFd::as_raw_fd(&folder);
    act(&Path::new("/proc/self/fd").join(number.to_string()).join(name))
}
