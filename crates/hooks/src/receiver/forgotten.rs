//! The sessions that the person has forgotten: their agents may still run, and send events.
//!
//! Whoever writes the store keeps the list in a file beside it. That may be another program than the one that writes the
//! journal, so the file is looked at before anything is kept.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::SystemTime;

use watchbill_core::hook::HookMessage;

use crate::places::read_ordinary;

/// The list, as far as it is known.
#[derive(Debug, Default)]
pub(super) struct Forgotten {
    file: Option<PathBuf>,
    sessions: HashSet<String>,
    /// Which file was read: it is always replaced as a whole.
    read: Option<Stamp>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    length: u64,
    #[cfg(unix)]
    inode: u64,
}

impl Forgotten {
    /// As a file says: one session a line, behind the time at which it was forgotten.
    pub fn by(file: Option<PathBuf>) -> Self {
        Self { file, ..Self::default() }
    }

    /// Reads the list if it has changed. Without the file there are none.
    ///
    /// # Errors
    /// When it is there and cannot be read. Then it is not known what may be kept.
    pub fn refresh(&mut self) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let now = match fs::metadata(file) {
            Ok(found) => Some(Stamp {
                modified: found.modified().ok(),
                length: found.len(),
                #[cfg(unix)]
                inode: std::os::unix::fs::MetadataExt::ino(&found),
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if now != self.read {
            let bytes = now.as_ref().map_or_else(|| Ok(Vec::new()), |_| read_ordinary(file))?;
            let text = String::from_utf8_lossy(&bytes);
            self.sessions =
                text.lines().filter_map(|line| Some(line.split_once(' ')?.1.to_owned())).collect();
            self.read = now;
        }
        Ok(())
    }

    /// Whether an event is of such a session.
    pub fn has(&self, message: &HookMessage) -> bool {
        if self.sessions.is_empty() {
            return false;
        }
        match message.parsed() {
            Ok(event) => self.sessions.contains(event.session.as_str()),
            // Cut: what is left of it may hold the person's words all the same.
            Err(_) => {
                let text = String::from_utf8_lossy(&message.payload);
                self.sessions.iter().any(|session| text.contains(&**session))
            }
        }
    }
}
