//! The common facts of all packages: the folder, the version, the maintainer, and the packed build.

use std::path::Path;

use anyhow::{Context, Result};

use crate::call::Call;
use crate::tree::Tree;

/// The reserved domain shows that no such address exists.
pub const MAINTAINER: &str = "Watchbill contributors <watchbill@example.invalid>";
/// The folder of everything that `dist` makes, below the build folder.
pub const FOLDER: &str = "dist";

/// The build that goes into the packages.
pub struct Build {
    /// The profile folder of cargo with the programs.
    pub profile: &'static str,
    /// The time of every file, in seconds since 1970.
    pub epoch: u64,
}

/// The version in `tauri.conf.json`.
pub fn version(tree: &Tree) -> Result<String> {
    let path = tree.path("tauri.conf.json");
    let text =
        std::fs::read_to_string(&path).with_context(|| format!("could not read {}", path.display()))?;
    let config: serde_json::Value =
        serde_json::from_str(&text).with_context(|| format!("{} is no JSON", path.display()))?;
    config["version"].as_str().map(str::to_owned).context("tauri.conf.json names no version")
}

/// The SHA-256 of a file in hexadecimal digits, by the program that this system has for it.
pub fn sha256(path: &Path) -> Option<String> {
    let folder = path.parent()?;
    let printed = ["sha256sum", "shasum"].iter().find_map(|program| {
        let words: &[&str] = if *program == "shasum" { &["-a", "256"] } else { &[] };
        Call::new(folder, *program).args(words.iter().copied()).args([path]).quiet_output()
    })?;
    printed.split_whitespace().next().map(str::to_owned)
}
