//! The settings files that the agent reads.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use watchbill_agents::{Agent, hook_traits, settings_folder};

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
    /// The path of the settings file, from the agent's folder and the project's. `None`: the agent has no such settings.
    pub fn file(self, agent: Agent, root: &Path, project: &Path) -> Option<PathBuf> {
        let hooks = hook_traits(agent);
        let of_project = project.join(hooks.project_folder);
        match self {
            Self::User => {
                Some(settings_folder(agent, root, &|name| std::env::var_os(name))?.join(hooks.settings))
            }
            Self::Project => Some(of_project.join(hooks.settings)),
            Self::Local => hooks.local_settings.map(|name| of_project.join(name)),
            Self::Managed => hooks.managed_settings.map(PathBuf::from),
        }
    }
}
