//! A temporary Debian system on which the package is installed, tried as a plain user, and removed.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use super::package::FOLDER;
use crate::call::Call;
use crate::tree::Tree;

/// The script that runs inside; it prints a line for each check.
const SCRIPT: &str = "tests/package/inside";

/// Makes the system, runs the script in it, and removes it.
pub fn check(tree: &Tree, package: &Path) -> Result<()> {
    let start = Instant::now();
    let root = tree.target(FOLDER).join("root");
    remove(tree, &root)?;
    debian(tree, &root)?;
    println!("== a clean Debian: {:.0} s", start.elapsed().as_secs_f64());
    let inside = root.join("watchbill-check");
    fs::create_dir_all(&inside)?;
    for (from, to) in [(package.to_owned(), "watchbill.deb"), (tree.path(SCRIPT), "inside")] {
        fs::copy(&from, inside.join(to)).with_context(|| format!("could not copy {}", from.display()))?;
    }
    // A mount and process table of its own: /proc is needed, and every process that is started there ends with it.
    let result = Call::new(tree.root(), "unshare")
        .args(["--mount", "--pid", "--fork", "--kill-child", "--root"])
        .args([&root])
        .args(["--mount-proc", "/usr/bin/env", "-i", "/bin/sh", "/watchbill-check/inside"])
        .run();
    let picture = inside.join("window.png");
    if picture.is_file() {
        let kept = tree.target(FOLDER).join("installed.png");
        fs::copy(&picture, &kept)?;
        println!("  a picture of the installed window: {}", kept.display());
    }
    result.context("the package failed its checks on a clean system")?;
    remove(tree, &root)?;
    println!("== clean system: {:.0} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// Uses the package sources of this machine; no mirror is named in the tree.
fn debian(tree: &Tree, root: &Path) -> Result<()> {
    let sources = sources()?;
    Call::new(tree.root(), "mmdebstrap")
        .args(["--variant=apt", "--mode=root", "--quiet"])
        .args(machine_settings().iter().flat_map(|file| {
            // Settings that use a proxy or a helper must be inside too.
            let (from, to) = (file.display().to_string(), file.display().to_string());
            [format!("--setup-hook=mkdir -p \"$1\"/etc/apt/apt.conf.d && cp '{from}' \"$1\"'{to}'")]
        }))
        .args([codename()?])
        .args([root])
        .args(sources)
        .run()
}

/// The lists of package sources of this machine.
fn sources() -> Result<Vec<PathBuf>> {
    let mut found = vec![PathBuf::from("/etc/apt/sources.list")];
    if let Ok(entries) = fs::read_dir("/etc/apt/sources.list.d") {
        found.extend(entries.flatten().map(|entry| entry.path()));
    }
    found.retain(|path| path.is_file() && path.extension().is_some_and(|e| e == "list" || e == "sources"));
    found.sort();
    if found.is_empty() {
        bail!("this machine has no package sources from which a clean system could be made");
    }
    Ok(found)
}

/// The machine's proxy settings, if it has any.
fn machine_settings() -> Vec<PathBuf> {
    let entries = fs::read_dir("/etc/apt/apt.conf.d").into_iter().flatten().flatten();
    let names_proxy =
        |path: &PathBuf| fs::read_to_string(path).is_ok_and(|text| text.to_lowercase().contains("::proxy"));
    entries.map(|entry| entry.path()).filter(names_proxy).collect()
}

fn codename() -> Result<String> {
    let release = fs::read_to_string("/etc/os-release").context("could not read /etc/os-release")?;
    let name = release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    Ok(name.context("/etc/os-release names no VERSION_CODENAME")?.trim_matches('"').to_owned())
}

fn remove(tree: &Tree, root: &Path) -> Result<()> {
    if root.exists() {
        // One file system only: anything mounted below must not be emptied.
        Call::new(tree.root(), "rm").args(["-r", "--force", "--one-file-system"]).args([root]).run()?;
    }
    Ok(())
}
