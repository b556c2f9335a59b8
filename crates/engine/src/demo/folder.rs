//! The folder of a running demo: its store, and the repositories of its sessions.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::socket::access::CommandId;

/// A folder that is removed with everything in it when this value is dropped.
#[derive(Debug)]
pub struct DemoFolder(PathBuf);

impl DemoFolder {
    /// Makes it, for this user alone.
    ///
    /// # Errors
    /// When the system's temporary folder takes none.
    pub fn make() -> io::Result<Self> {
        let path = std::env::temp_dir().join(format!("watchbill-demo-{}", CommandId::new()));
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&path)?;
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
