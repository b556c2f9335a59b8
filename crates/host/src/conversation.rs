//! The lock of a conversation: of all hosts, one runs an agent on it. The agents do not guard it themselves (Claude Code 2.1.329):
//! two of them write into one transcript, and each turn of one is lost for the other.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use watchbill_core::ids::{stable_hash, stable_hash_from};
use watchbill_drive::folder::Folder;
use watchbill_platform::files::private_dir;
use watchbill_protocol::own::spec::{OwnAgent, OwnSpec};

/// The folder of the locks, beside the folders of sessions.
const LOCKS: &str = "conversations";

/// A conversation that this host runs. It is released when this is dropped, or the host dies.
pub struct Conversation {
    path: PathBuf,
    _file: File,
}

/// The conversation that a start goes on with, or begins.
fn path(folder: &Folder, spec: &OwnSpec) -> PathBuf {
    let resumed = spec.resume.as_ref().filter(|resume| !resume.fork).map(|resume| &resume.session);
    let id = resumed.unwrap_or(&spec.session);
    let name = stable_hash_from(stable_hash(spec.agent.as_str().as_bytes()), id.as_bytes());
    folder.path().parent().unwrap_or(Path::new("/")).join(LOCKS).join(format!("{name:016x}"))
}

/// Takes the conversation of a start. A shell has none.
///
/// # Errors
/// When another host has it.
pub fn take(folder: &Folder, spec: &OwnSpec) -> Result<Option<Conversation>, String> {
    if spec.agent == OwnAgent::Shell {
        return Ok(None);
    }
    let path = path(folder, spec);
    match lock(&path) {
        Ok(Some(file)) => Ok(Some(Conversation { path, _file: file })),
        Ok(None) => Err(
            "another session of your own goes on with this conversation: send it a prompt, or end it first"
                .to_owned(),
        ),
        Err(error) => {
            tracing::warn!(%error, file = %path.display(), "a conversation is not guarded");
            Ok(None)
        }
    }
}

/// `None`: another host has the lock.
fn lock(path: &Path) -> io::Result<Option<File>> {
    private_dir(path.parent().unwrap_or(path))?;
    loop {
        let file = File::options().write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
            Ok(()) => {}
        }
        // Another host may have removed the file between the two steps: then a third one can make it anew.
        if fs::metadata(path).is_ok_and(|found| file.metadata().is_ok_and(|ours| ours.ino() == found.ino())) {
            return Ok(Some(file));
        }
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}
