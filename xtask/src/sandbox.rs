//! A private home for each test program: empty at first, and removed afterwards, so that no test finds the
//! developer's sessions.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::tree::Tree;

/// The setting that makes cargo start test programs through this program.
pub fn runner_setting(host: &str, runner: &str) -> String {
    // A list, not a string: the path may contain spaces.
    format!("target.{host}.runner=[{runner:?},\"sandbox\"]")
}

/// The path of the copy that [`prepare_runner`] makes.
pub fn runner(tree: &Tree) -> PathBuf {
    tree.target("test-runner").join(format!("xtask{}", std::env::consts::EXE_SUFFIX))
}

/// Copies this program, so that test programs start through the copy. Call it before any build: cargo links the
/// original anew when it builds this package's own tests.
pub fn prepare_runner(tree: &Tree) -> Result<()> {
    let own = std::env::current_exe().context("could not find this program's own file")?;
    let folder = tree.target("test-runner");
    std::fs::create_dir_all(&folder).with_context(|| format!("could not create {}", folder.display()))?;
    let runner = runner(tree);
    if same_bytes(&own, &runner) {
        return Ok(());
    }
    // A rename replaces it in one step, since another run may be starting its tests through the old one.
    let fresh = folder.join(format!("fresh-{}", std::process::id()));
    std::fs::copy(&own, &fresh).with_context(|| format!("could not copy {}", own.display()))?;
    std::fs::rename(&fresh, &runner).with_context(|| format!("could not write {}", runner.display()))
}

fn same_bytes(one: &Path, other: &Path) -> bool {
    // An unreadable file counts as different.
    std::fs::read(one).ok().is_some_and(|bytes| std::fs::read(other).is_ok_and(|others| others == bytes))
}

/// Starts a test program in a private home.
pub fn run(tree: &Tree, program: &Path, arguments: &[String]) -> Result<ExitCode> {
    let home = Home::create(&tree.target("test-homes"))?;
    let mut command = Command::new(program);
    command.args(arguments);
    // Tests that call cargo or rustc themselves still need the toolchain of the real home.
    for (name, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
        if let (None, Some(real)) = (std::env::var_os(name), std::env::home_dir()) {
            command.env(name, real.join(folder));
        }
    }
    command.env("HOME", &home.0).env("USERPROFILE", &home.0);
    for (name, folder) in [
        ("XDG_CONFIG_HOME", ".config"),
        ("XDG_DATA_HOME", ".local/share"),
        ("XDG_CACHE_HOME", ".cache"),
        ("XDG_STATE_HOME", ".local/state"),
    ] {
        command.env(name, home.0.join(folder));
    }
    let status = command.status().with_context(|| format!("could not start {}", program.display()))?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}

/// A folder that is removed with this value.
struct Home(PathBuf);

impl Home {
    fn create(under: &Path) -> Result<Self> {
        let folder = under.join(std::process::id().to_string());
        std::fs::create_dir_all(&folder).with_context(|| format!("could not create {}", folder.display()))?;
        Ok(Self(folder))
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // A leftover under the build folder is harmless, so the error is ignored.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runner_setting_survives_spaces_and_backslashes() {
        assert_eq!(
            runner_setting("x86_64-unknown-linux-gnu", r"C:\my tree\xtask"),
            r#"target.x86_64-unknown-linux-gnu.runner=["C:\\my tree\\xtask","sandbox"]"#
        );
    }

    #[test]
    fn files_are_the_same_by_their_bytes_alone() {
        let folder = tempfile::tempdir().unwrap();
        let [one, other, absent] = ["one", "other", "absent"].map(|name| folder.path().join(name));
        std::fs::write(&one, "x").unwrap();
        std::fs::write(&other, "y").unwrap();
        assert!(same_bytes(&one, &one));
        assert!(!same_bytes(&one, &other));
        assert!(!same_bytes(&absent, &absent));
    }

    #[cfg(unix)]
    #[test]
    fn the_home_is_empty_and_gone_afterwards() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::create(folder.path()).unwrap();
        let path = home.0.clone();
        assert_eq!(std::fs::read_dir(&path).unwrap().count(), 0);
        std::fs::write(path.join("left behind"), "").unwrap();
        drop(home);
        assert!(!path.exists());
    }
}
