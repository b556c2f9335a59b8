//! The common facts of all parts of the benchmark.

use std::path::PathBuf;

use anyhow::Result;

use crate::call::Call;
use crate::tree::Tree;

/// The common facts of all parts.
pub struct Bench<'a> {
    pub tree: &'a Tree,
    pub rounds: usize,
    pub small: bool,
    pub program: PathBuf,
}

impl Bench<'_> {
    /// `watchbill` with a private home and a data folder of this name, so that no setting of the developer has an
    /// effect.
    pub fn watchbill_on(&self, words: &[&str], claude_dir: &std::path::Path, data: &str) -> Result<Call> {
        self.watchbill_in(words, claude_dir, &self.tree.target("bench-home").join(data))
    }

    /// Removes the stored data: the next start is a first one.
    pub fn forget(&self, data: &str) -> Result<()> {
        let folder = self.tree.target("bench-home").join(data);
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        Ok(())
    }

    /// The same with any data folder.
    pub fn watchbill_in(
        &self,
        words: &[&str],
        claude_dir: &std::path::Path,
        data_dir: &std::path::Path,
    ) -> Result<Call> {
        let home = self.tree.target("bench-home");
        std::fs::create_dir_all(&home)?;
        Ok(Call::new(self.tree.root(), &self.program)
            .without_own_settings()
            .env("HOME", &home)
            .env("XDG_CONFIG_HOME", home.join(".config"))
            .env("XDG_DATA_HOME", home.join(".local/share"))
            .args(words)
            .args(["--claude-dir"])
            .args([claude_dir])
            .args(["--data-dir"])
            .args([data_dir]))
    }
}
