//! The folder of a running demo: its store, and the repositories of its sessions.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use watchbill_core::evidence::registry::Liveness;
use watchbill_core::ids::Instance;
use watchbill_platform::files::private_dir;
use watchbill_watch::process::{Processes, SystemProcesses};

use crate::socket::access::CommandId;

/// The name of such a folder, before the id of its process.
const PREFIX: &str = "watchbill-demo-";

/// Removes the folders of demos that were killed. Those of other users stay.
fn remove_left() {
    let entries = std::fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split('-').next()?.parse().ok());
        let is_gone = |pid| {
            let instance = Instance { pid, proc_start: None };
            SystemProcesses::new().probe(&instance, None) == Liveness::Dead
        };
        if pid.is_some_and(is_gone) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// A folder that is removed with everything in it when this value is dropped.
#[derive(Debug)]
pub struct DemoFolder(PathBuf);

impl DemoFolder {
    /// Makes it, for this user alone.
    ///
    /// # Errors
    /// When the system's temporary folder takes none.
    pub fn make() -> io::Result<Self> {
        remove_left();
        let path = std::env::temp_dir().join(format!("{PREFIX}{}-{}", std::process::id(), CommandId::new()));
        private_dir(&path)?;
        let made = Self(path);
        std::fs::create_dir(made.data_dir())?;
        made.repository(&made.0.join("api-server"));
        Ok(made)
    }

    /// Where the store lies.
    pub fn data_dir(&self) -> PathBuf {
        self.0.join("data")
    }

    /// The folder of the made-up projects, as it stands in records.
    pub fn home(&self) -> String {
        self.0.to_string_lossy().replace('\\', "/") + "/"
    }

    /// A repository with a change. Without git there is none, and the window says so.
    fn repository(&self, root: &Path) {
        let page = root.join("docs").join("config-migration.md");
        let write = |text: &str| std::fs::write(&page, text);
        let git = |words: &[&str]| {
            let mut git = Command::new("git");
            git.args([
                "-c",
                "user.name=Dev",
                "-c",
                "user.email=dev@example.invalid",
                "-c",
                "commit.gpgsign=false",
            ]);
            // Nothing of the user's own settings, such as hooks or templates.
            git.env("GIT_CONFIG_GLOBAL", self.0.join("none")).env("GIT_CONFIG_NOSYSTEM", "1");
            git.env("GIT_COMMITTER_DATE", "2026-01-05T09:00:00Z")
                .env("GIT_AUTHOR_DATE", "2026-01-05T09:00:00Z");
            git.current_dir(root)
                .args(words)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .stdin(Stdio::null());
            git.status().is_ok_and(|status| status.success())
        };
        // What the session of the recording edits.
        let made = std::fs::create_dir_all(root.join("docs"))
            .and_then(|()| write("listen-address\nlisten-port\nlog.level\n"))
            .is_ok()
            && git(&["init", "--quiet"])
            && git(&["add", "."])
            && git(&["commit", "--quiet", "--no-verify", "-m", "The first version"]);
        if made {
            let _ = write("listen.address\nlisten.port_number\nlog.level\n");
        }
    }
}

impl Drop for DemoFolder {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            tracing::debug!(%error, "a folder of the demo stays");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_killed_demo_goes_with_the_next_start_and_that_of_a_running_one_stays() {
        let mut ended = Command::new(std::env::current_exe().unwrap());
        let mut ended = ended.arg("--list").stdout(Stdio::null()).spawn().unwrap();
        ended.wait().unwrap();
        let left = std::env::temp_dir().join(format!("{PREFIX}{}-left", ended.id()));
        std::fs::create_dir_all(left.join("data")).unwrap();
        let (one, two) = (DemoFolder::make().unwrap(), DemoFolder::make().unwrap());
        assert!(!left.exists() && one.data_dir().is_dir() && two.data_dir().is_dir());
    }
}
