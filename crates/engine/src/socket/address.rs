//! Where the socket is, and who may talk to it.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use interprocess::ConnectWaitMode;
use interprocess::local_socket::prelude::*;
use interprocess::local_socket::{ConnectOptions, GenericFilePath, Listener, ListenerOptions, Name, Stream};

/// The folder of the socket in the data folder: only its owner can enter it.
pub(crate) const FOLDER: &str = "run";

/// How long a connection is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// The socket of a data folder.
#[derive(Debug, Clone)]
pub struct Address {
    path: PathBuf,
}

/// Tells a socket's file from another one at the same place: its device and inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark(Option<(u64, u64)>);

impl Address {
    /// The socket below this data folder, whether it is there or not.
    pub fn of(data_dir: &Path) -> Self {
        Self { path: data_dir.join(FOLDER).join("engine.sock") }
    }

    /// Listens. To be called by the program that holds the store: the socket that a killed one has left is replaced. Gives
    /// what tells this socket from another one at its place.
    ///
    /// # Errors
    /// When the folder belongs to somebody else, or the socket cannot be made.
    pub fn listen(&self) -> io::Result<(Listener, Mark)> {
        if let Some(folder) = self.path.parent() {
            watchbill_hooks::places::private_dir(folder)?;
        }
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        // We remove it ourselves: by then another program may listen at the same path.
        let listener =
            self.with_name(|name| ListenerOptions::new().name(name).reclaim_name(false).create_sync())?;
        Ok((listener, self.mark()))
    }

    /// Connects to the program that listens.
    ///
    /// # Errors
    /// When nobody listens, or the other end is not this person's.
    pub fn connect(&self) -> io::Result<Stream> {
        // The queue of a program that hangs is full at some time.
        let in_time = ConnectWaitMode::Timeout(PATIENCE);
        let stream =
            self.with_name(|name| ConnectOptions::new().name(name).wait_mode(in_time).connect_sync())?;
        if !is_ours(&stream) {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "another user listens there"));
        }
        Ok(stream)
    }

    /// Takes the socket away if it is still this one. To be called before the store is let go.
    ///
    /// # Errors
    /// When it is there and cannot be removed.
    pub fn remove(&self, mark: &Mark) -> io::Result<()> {
        // A named pipe goes with its last handle, and has no mark.
        if mark.0.is_none() || self.mark() != *mark {
            return Ok(());
        }
        std::fs::remove_file(&self.path)
    }

    #[cfg(unix)]
    fn mark(&self) -> Mark {
        use std::os::unix::fs::MetadataExt;
        Mark(std::fs::symlink_metadata(&self.path).ok().map(|found| (found.dev(), found.ino())))
    }

    #[cfg(windows)]
    fn mark(&self) -> Mark {
        Mark(None)
    }

    #[cfg(unix)]
    fn with_name<T>(&self, act: impl FnOnce(Name<'_>) -> io::Result<T>) -> io::Result<T> {
        watchbill_hooks::ear::with_short_path(&self.path, |path| act(path.to_fs_name::<GenericFilePath>()?))
    }

    #[cfg(windows)]
    fn with_name<T>(&self, act: impl FnOnce(Name<'_>) -> io::Result<T>) -> io::Result<T> {
        use watchbill_core::ids::stable_hash;
        let hash = stable_hash(self.path.as_os_str().as_encoded_bytes());
        act(format!(r"\\.\pipe\watchbill-{hash:016x}").to_fs_name::<GenericFilePath>()?)
    }
}

/// Whether the other end belongs to this person, or to root, who can do everything anyway.
#[cfg(unix)]
pub(crate) fn is_ours(stream: &Stream) -> bool {
    let me = rustix::process::geteuid().as_raw();
    stream.peer_creds().is_ok_and(|peer| peer.euid().is_some_and(|uid| uid == me || uid == 0))
}

/// Whether the other end belongs to this person: a named pipe without a descriptor of its own lets in its owner, the system
/// and administrators to write.
#[cfg(windows)]
pub(crate) fn is_ours(_stream: &Stream) -> bool {
    true
}
