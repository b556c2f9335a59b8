//! Where the agent looks for settings.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Whom settings are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// All sessions of this person.
    User,
    /// Everybody who works on a project: the file is usually shared with them.
    Project,
    /// This person's sessions in a project.
    Local,
    /// Everybody on this machine; its administrator writes them, and we only look.
    Managed,
}

impl Scope {
    /// The scopes whose settings can be changed.
    pub const OURS: [Self; 3] = [Self::User, Self::Project, Self::Local];

    /// The settings file, given the agent's folder and the project's.
    pub fn file(self, claude_dir: &Path, project: &Path) -> PathBuf {
        match self {
            Self::User => claude_dir.join("settings.json"),
            Self::Project => project.join(".claude").join("settings.json"),
            Self::Local => project.join(".claude").join("settings.local.json"),
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
