//! The sessions that the user has forgotten. Their agents may still run and send events.
//!
//! The store's writer keeps their list in a file beside the store. The journal's writer may be another program, so it
//! reads the file again before it keeps any event.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::SystemTime;

use watchbill_agents::hooks::payload_of;
use watchbill_core::hook::HookMessage;

use watchbill_platform::files::read_ordinary;

/// The list as it was read last.
#[derive(Debug, Default)]
pub(super) struct Forgotten {
    file: Option<PathBuf>,
    sessions: HashSet<String>,
    /// Identifies the file that was read. The file is always replaced as a whole.
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
    /// A list from a file. Each line has the time of forgetting and the session.
    pub fn by(file: Option<PathBuf>) -> Self {
        Self { file, ..Self::default() }
    }

    /// Reads the list if it has changed. A missing file counts as an empty list.
    ///
    /// # Errors
    /// When the file exists and cannot be read. Then the caller does not know which events it may keep.
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

    /// Whether an event is of a forgotten session.
    pub fn has(&self, message: &HookMessage) -> bool {
        if self.sessions.is_empty() {
            return false;
        }
        match payload_of(message) {
            Ok(event) => self.sessions.contains(event.session.as_str()),
            // A shortened payload may still hold the user's text.
            Err(_) => {
                let text = String::from_utf8_lossy(&message.payload);
                self.sessions.iter().any(|session| text.contains(&**session))
            }
        }
    }
}
