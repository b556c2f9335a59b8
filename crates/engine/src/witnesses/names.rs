//! The names that users gave to sessions, by files of agents that hold these alone.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use watchbill_core::ids::SessionId;

/// The names, by their files.
#[derive(Debug, Default)]
pub struct Names(BTreeMap<PathBuf, BTreeMap<SessionId, Arc<str>>>);

impl Names {
    /// Takes in the content of a file. Gives the sessions with another name than before.
    pub fn set(&mut self, path: &Path, names: BTreeMap<SessionId, Arc<str>>) -> Vec<SessionId> {
        let before = self.0.insert(path.to_path_buf(), names).unwrap_or_default();
        let now = &self.0[path];
        let other = |id: &&SessionId| before.get(*id) != now.get(*id);
        before.keys().chain(now.keys()).filter(other).cloned().collect()
    }

    /// The name of a session.
    pub fn of(&self, session: &SessionId) -> Option<&Arc<str>> {
        self.0.values().find_map(|names| names.get(session))
    }
}
