//! The archive for Windows: the command line, built on Debian by its second compiler. The window needs a program that only
//! Windows has (WebView2), so it is not in there.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::notices;
use super::package::{Build, FOLDER, version};
use crate::call::Call;
use crate::cross::{WINDOWS, second_compiler};
use crate::packages;
use crate::steps::Need;
use crate::tree::Tree;

/// The script that tries the archive under Wine; it prints a line for each check.
const SCRIPT: &str = "tests/package/under-wine";

/// Files that are copied unchanged.
const COPIED: [&str; 3] = ["README.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// Builds the program and packs it. `None` where no package has a compiler for Windows.
pub fn pack(tree: &Tree, build: &Build) -> Result<Option<PathBuf>> {
    if !packages::offers_cross() {
        println!("NOT MADE: the archive for Windows: this system has no package of a compiler for it");
        return Ok(None);
    }
    packages::provide(tree, &[Need::Cross, Need::Packages])?;
    let target = tree.target("windows");
    second_compiler(Call::new(tree.root(), "/usr/bin/cargo"))
        .args(["build", "--locked", "-Zbuild-std=std,panic_abort,panic_unwind", "--package", "watchbill"])
        .args(["--target", WINDOWS, "--target-dir"])
        .args([&target])
        .args((build.profile == "release").then_some("--release"))
        .env(super::remap_paths::VARIABLE, super::remap_paths::flags(tree)?)
        .run()?;
    let name = format!("watchbill-{}-windows-x86_64", version(tree)?);
    let inside = tree.target(FOLDER).join(&name);
    if inside.exists() {
        fs::remove_dir_all(&inside).with_context(|| format!("could not empty {}", inside.display()))?;
    }
    fs::create_dir_all(&inside).with_context(|| format!("could not create {}", inside.display()))?;
    let program = target.join(WINDOWS).join(build.profile).join("watchbill.exe");
    let copied = COPIED.iter().map(|name| (tree.path(name), *name));
    for (from, to) in copied.chain([(program, "watchbill.exe")]) {
        fs::copy(&from, inside.join(to)).with_context(|| format!("could not copy {}", from.display()))?;
    }
    let completions = Call::new(tree.root(), tree.program(build.profile, "watchbill"));
    let completions = completions.args(["completions", "powershell"]).quiet_output();
    fs::write(inside.join("completions.ps1"), completions.context("no completions for PowerShell")?)?;
    fs::write(inside.join("third-party-licenses.txt"), notices::collect(tree, Some(WINDOWS))?)?;
    let archive = tree.target(FOLDER).join(format!("{name}.zip"));
    zip(&inside, &archive, build.epoch)?;
    Ok(Some(archive))
}

/// Packs the files of a folder, without the folder: package managers look for the program at the top. Names in order, one
/// time and no owners give the same bytes for the same files.
fn zip(folder: &Path, archive: &Path, epoch: u64) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("could not list {}", folder.display()))?;
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    files.sort();
    let stamp = format!("--date=@{epoch}");
    Call::new(folder, "touch").args([stamp]).args(&files).run()?;
    if archive.exists() {
        fs::remove_file(archive).with_context(|| format!("could not remove {}", archive.display()))?;
    }
    // The times inside are local ones.
    Call::new(folder, "zip").env("TZ", "UTC").args(["-X", "-9", "-q"]).args([archive]).args(&files).run()
}

/// Unpacks the archive and tries the program under Wine, beside the program of this system on the same sessions.
pub fn check(tree: &Tree, archive: &Path, profile: &str) -> Result<()> {
    packages::provide(tree, &[Need::Wine])?;
    let folder = tree.target(FOLDER).join("wine");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("could not empty {}", folder.display()))?;
    }
    fs::create_dir_all(&folder)?;
    let call = Call::new(&folder, tree.path(SCRIPT))
        .without_own_settings()
        .args([archive.as_os_str(), tree.program(profile, "watchbill").as_os_str()])
        .args([tree.path("tests/fixtures")]);
    if !call.status()?.success() {
        bail!("the archive for Windows failed its checks under Wine");
    }
    Ok(())
}
