//! The settings files that the agent reads.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use watchbill_agents::install::{LOCAL_SETTINGS, MANAGED_SETTINGS, SETTINGS};
use watchbill_agents::{Agent, traits};

/// The sessions that a settings file applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// All sessions of this user.
    User,
    /// All users who work on a project. They usually share the file.
    Project,
    /// This user's sessions in a project.
    Local,
    /// All users of this machine. Its administrator writes the file; Watchbill only reads it.
    Managed,
}

impl Scope {
    /// The path of the settings file, from the agent's folder and the project's.
    pub fn file(self, root: &Path, project: &Path) -> PathBuf {
        let of_project = || project.join(traits(Agent::default()).folder);
        match self {
            Self::User => root.join(SETTINGS),
            Self::Project => of_project().join(SETTINGS),
            Self::Local => of_project().join(LOCAL_SETTINGS),
            Self::Managed => PathBuf::from(MANAGED_SETTINGS),
        }
    }
}
