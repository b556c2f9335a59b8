//! One writer for each data folder: it locks a file beside the database. The system releases the lock when the
//! process ends.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;

use crate::StoreError;
use crate::folder;

/// The right to write, held until it is dropped.
#[derive(Debug)]
pub(crate) struct WriterLock {
    file: File,
}

impl WriterLock {
    /// The file that is locked.
    pub fn file(&self) -> &File {
        &self.file
    }
}

/// The answer to a request for the right to write.
pub(crate) enum LockResult {
    /// This process has it now.
    Taken(WriterLock),
    /// Another process has it. Its id, if it could be read.
    HeldBy(Option<u32>),
}

/// Requests the right to write, without waiting.
pub(crate) fn acquire(path: &Path) -> Result<LockResult, StoreError> {
    let mut file = folder::touch(path)?;
    match file.try_lock() {
        Ok(()) => {
            // The id is only for messages to the user; the lock itself does not depend on it.
            let named = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
            if let Err(error) = named {
                tracing::debug!(%error, "the lock file does not name us");
            }
            Ok(LockResult::Taken(WriterLock { file }))
        }
        Err(TryLockError::WouldBlock) => Ok(LockResult::HeldBy(holder(&mut file))),
        Err(TryLockError::Error(error)) => Err(StoreError::io(path, error)),
    }
}

/// The process that the lock file names.
fn holder(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(16).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

/// The process that wrote the store in `data_dir` last. It may have ended. Trying the lock would tell, but could
/// keep a writer that starts at that moment from writing.
pub fn last_writer(data_dir: &Path) -> Option<u32> {
    holder(&mut folder::open_to_read(&data_dir.join(crate::names::LOCK)).ok()?)
}
