//! The folder of a running demo: its store, and the repositories of its sessions.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use watchbill_platform::files::private_dir;
use watchbill_platform::program::{CallResult, git, run};

use crate::socket::access::CommandId;

/// How the name of such a folder begins.
const PREFIX: &str = "watchbill-demo-";

/// Locked in such a folder while its demo runs.
const LOCK: &str = "lock";

/// Removes the folders of demos that were killed. One without a lock of ours is not a demo's.
fn remove_left() {
    let entries = std::fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten();
    let is_named = |name: &OsStr| name.to_str().is_some_and(|name| name.starts_with(PREFIX));
    for entry in entries.filter(|entry| is_named(&entry.file_name())) {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let lock = File::options().write(true).open(entry.path().join(LOCK));
        if is_folder && lock.is_ok_and(|lock| lock.try_lock().is_ok()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// A folder that is removed with everything in it when this value is dropped.
#[derive(Debug)]
pub struct DemoFolder {
    path: PathBuf,
    lock: Option<File>,
}

impl DemoFolder {
    /// Makes it, for this user alone.
    ///
    /// # Errors
    /// When the system's temporary folder takes none.
    pub fn make() -> io::Result<Self> {
        remove_left();
        let path = std::env::temp_dir().join(format!("{PREFIX}{}", CommandId::new()));
        private_dir(&path)?;
        let mut made = Self { path, lock: None };
        let lock = File::create_new(made.path.join(LOCK))?;
        lock.try_lock()?;
        made.lock = Some(lock);
        std::fs::create_dir(made.data_dir())?;
        made.repository(&made.path.join("api-server"));
        Ok(made)
    }

    /// Where the store lies.
    pub fn data_dir(&self) -> PathBuf {
        self.path.join("data")
    }

    /// The folder of the made-up projects, as it stands in records.
    pub fn home(&self) -> String {
        self.path.to_string_lossy().replace('\\', "/") + "/"
    }

    /// Makes a repository with a change. If git is missing, the tab Changes says that.
    fn repository(&self, root: &Path) {
        let page = root.join("docs").join("config-migration.md");
        let write = |text: &str| std::fs::write(&page, text);
        let git = |words: &[&str]| {
            let mut git = git();
            // Nothing of the user's own settings, such as hooks or templates.
            git.env("GIT_CONFIG_GLOBAL", self.path.join("none")).env("GIT_CONFIG_NOSYSTEM", "1");
            for who in ["AUTHOR", "COMMITTER"] {
                git.env(format!("GIT_{who}_NAME"), "Dev");
                git.env(format!("GIT_{who}_EMAIL"), "dev@example.invalid");
                git.env(format!("GIT_{who}_DATE"), "2026-01-05T09:00:00Z");
            }
            matches!(run(git.current_dir(root).args(words), None), CallResult::Done(_))
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
        // Some systems remove no open file.
        self.lock = None;
        if let Err(error) = std::fs::remove_dir_all(&self.path) {
            tracing::debug!(%error, "a folder of the demo stays");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_killed_demo_goes_with_the_next_start_and_that_of_a_running_one_stays() {
        let folder = |name: &str| {
            let path = std::env::temp_dir().join(format!("{PREFIX}{name}-{}", CommandId::new()));
            std::fs::create_dir_all(path.join("data")).unwrap();
            path
        };
        let (left, others) = (folder("left"), folder("others"));
        std::fs::write(left.join(LOCK), "").unwrap();
        let (one, two) = (DemoFolder::make().unwrap(), DemoFolder::make().unwrap());
        assert!(!left.exists() && one.data_dir().is_dir() && two.data_dir().is_dir());
        assert!(others.is_dir(), "it is not known to be a demo's");
        std::fs::remove_dir_all(others).unwrap();
    }
}
