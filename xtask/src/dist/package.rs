//! What the makers of packages share: the folder, the version, the maintainer, and which build is packed.

use anyhow::{Context, Result};

use crate::tree::Tree;

/// The reserved domain says that there is no such address.
pub const MAINTAINER: &str = "Watchbill contributors <watchbill@example.invalid>";
/// Everything `dist` makes lies here, below the build folder.
pub const FOLDER: &str = "dist";

/// What goes into the packages.
pub struct Build {
    /// Which of cargo's folders the programs lie in.
    pub profile: &'static str,
    /// The time that everything bears, in seconds since 1970.
    pub epoch: u64,
}

/// The version that stands in `tauri.conf.json`.
pub fn version(tree: &Tree) -> Result<String> {
    let path = tree.path("tauri.conf.json");
    let text =
        std::fs::read_to_string(&path).with_context(|| format!("could not read {}", path.display()))?;
    let config: serde_json::Value =
        serde_json::from_str(&text).with_context(|| format!("{} is no JSON", path.display()))?;
    config["version"].as_str().map(str::to_owned).context("tauri.conf.json names no version")
}
