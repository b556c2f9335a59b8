//! The settings files that the agent reads.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
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
    /// The scopes whose settings can be changed.
    pub const OURS: [Self; 3] = [Self::User, Self::Project, Self::Local];

    /// The path of the settings file, from the agent's folder and the project's.
    pub fn file(self, claude_dir: &Path, project: &Path) -> PathBuf {
        match self {
            Self::User => claude_dir.join("settings.json"),
            Self::Project => project.join(traits(Agent::default()).folder).join("settings.json"),
            Self::Local => project.join(traits(Agent::default()).folder).join("settings.local.json"),
            Self::Managed if cfg!(target_os = "macos") => {
                PathBuf::from("/Library/Application Support/ClaudeCode/managed-settings.json")
            }
            Self::Managed if cfg!(windows) => {
                PathBuf::from(r"C:\Program Files\ClaudeCode\managed-settings.json")
            }
            Self::Managed => PathBuf::from("/etc/claude-code/managed-settings.json"),
        }
    }
}
