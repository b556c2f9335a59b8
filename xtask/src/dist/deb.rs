//! Turns the bundler's .deb into a tree of files for any package, and into a .deb by Debian's rules: true
//! dependencies, owners, times and checksums, the same bytes each time.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::package::{FOLDER, MAINTAINER, version};
use crate::call::Call;
use crate::tree::Tree;

const PROGRAMS: [&str; 4] = [
    "usr/bin/watchbill",
    "usr/bin/watchbill-desktop",
    "usr/libexec/watchbill/watchbill-host",
    "usr/libexec/watchbill/watchbill-model-client",
];

/// The user does not start these: one keeps an own session, one asks a model, and the others start them.
const INNER: [&str; 2] = ["watchbill-host", "watchbill-model-client"];

/// Unpacks the bundler's package, and gives every file and folder its mode and its time. Returns the folder.
pub fn lay_out(tree: &Tree, bundled: &Path, epoch: u64) -> Result<PathBuf> {
    let root = tree.target(FOLDER).join("deb-root");
    if root.exists() {
        fs::remove_dir_all(&root).with_context(|| format!("could not empty {}", root.display()))?;
    }
    Call::new(tree.root(), "dpkg-deb").args(["--raw-extract"]).args([bundled, &root]).run()?;
    fs::create_dir_all(root.join("usr/libexec/watchbill"))?;
    for name in INNER {
        let bundled = root.join("usr/bin").join(name);
        fs::rename(&bundled, root.join("usr/libexec/watchbill").join(name))
            .with_context(|| format!("could not move {}", bundled.display()))?;
    }
    for file in files_below(&root, &root)? {
        let is_program = PROGRAMS.iter().any(|program| file == Path::new(program));
        set_mode(&root.join(&file), if is_program { 0o755 } else { 0o644 })?;
    }
    set_times(&root, epoch)?;
    Ok(root)
}

/// Packs the laid-out files; returns the package.
pub fn pack(tree: &Tree, root: &Path, epoch: u64) -> Result<PathBuf> {
    let files = files_below(root, root)?;
    let control = root.join("DEBIAN/control");
    let (version, architecture) = (version(tree)?, quiet(tree, "dpkg", &["--print-architecture"])?);
    let architecture = architecture.trim();
    let depends = depends(tree, root)?;
    fs::write(&control, control_text(&version, architecture, size(root, &files)?, &depends))?;
    fs::write(root.join("DEBIAN/md5sums"), md5sums(root, &files)?)?;
    set_times(root, epoch)?;
    let package = tree.target(FOLDER).join(format!("watchbill_{version}_{architecture}.deb"));
    // Packing takes a minute; an interrupted one must not leave a package.
    let fresh = package.with_extension("fresh");
    Call::new(tree.root(), "dpkg-deb")
        .args(["--root-owner-group", "-Zxz", "--build"])
        .args([root, &fresh])
        .env("SOURCE_DATE_EPOCH", epoch.to_string())
        .run()?;
    fs::rename(&fresh, &package).with_context(|| format!("could not write {}", package.display()))?;
    run_lintian(tree, &package)?;
    Ok(package)
}

/// Gives every file and folder this time.
fn set_times(root: &Path, epoch: u64) -> Result<()> {
    let touch = Call::new(root, "find").args([".", "-exec", "touch", "--no-dereference", "--date"]);
    touch.args([format!("@{epoch}"), "{}".into(), "+".into()]).run()
}

/// The libraries of the programs, in the needed versions: `dpkg-shlibdeps` reads them from the programs.
fn depends(tree: &Tree, root: &Path) -> Result<String> {
    let folder = tree.target(FOLDER).join("shlibdeps");
    // It must run where a source package lies.
    fs::create_dir_all(folder.join("debian"))?;
    fs::write(folder.join("debian/control"), "Source: watchbill\n\nPackage: watchbill\nArchitecture: any\n")?;
    let call =
        Call::new(&folder, "dpkg-shlibdeps").args(["-O"]).args(PROGRAMS.map(|program| root.join(program)));
    let printed = call.quiet_output().with_context(|| format!("`{}` failed", call.line()))?;
    let depends = printed.lines().find_map(|line| line.strip_prefix("shlibs:Depends="));
    Ok(depends.context("`dpkg-shlibdeps` named no packages")?.to_owned())
}

fn control_text(version: &str, architecture: &str, kib: u64, depends: &str) -> String {
    format!(
        "Package: watchbill\nVersion: {version}\nArchitecture: {architecture}\nMaintainer: {MAINTAINER}\n\
         Installed-Size: {kib}\nDepends: {depends}\nSuggests: gnome-shell-extension-appindicator\n\
         Section: devel\nPriority: optional\n\
         Description: roster of the coding agents on this machine\n \
         Shows every session of your coding agents in one small window and in\n \
         the tray: what each one is doing, since when, and which one needs you. The\n \
         command line \"watchbill\" tells the same to scripts and status bars.\n .\n \
         Nothing leaves the machine by itself: there is no account and no telemetry.\n"
    )
}

/// In KiB, each file rounded up, as in Debian's policy (5.6.20).
fn size(root: &Path, files: &[PathBuf]) -> Result<u64> {
    let mut kib = 0;
    for file in files {
        kib += fs::metadata(root.join(file))?.len().div_ceil(1024);
    }
    Ok(kib)
}

fn md5sums(root: &Path, files: &[PathBuf]) -> Result<String> {
    let call = Call::new(root, "md5sum").args(files);
    call.quiet_output().with_context(|| format!("`{}` failed", call.line()))
}

/// The package's files, relative to its root and sorted, without control files.
pub fn files_below(folder: &Path, root: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("could not list {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            set_mode(&path, 0o755)?;
            if path != root.join("DEBIAN") {
                files.extend(files_below(&path, root)?);
            }
        } else {
            files.push(path.strip_prefix(root)?.to_owned());
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> Result<()> {
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
    fs::set_permissions(path, permissions).with_context(|| format!("could not change {}", path.display()))
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: u32) -> Result<()> {
    Ok(())
}

/// Runs lintian. Its complaints are shown; only errors end the task.
fn run_lintian(tree: &Tree, package: &Path) -> Result<()> {
    Call::new(tree.root(), "lintian")
        .args(["--allow-root", "--tag-display-limit", "0", "--fail-on", "error"])
        .args([package])
        .run()
}

fn quiet(tree: &Tree, program: &str, words: &[&str]) -> Result<String> {
    let call = Call::new(tree.root(), program).args(words.iter().copied());
    call.quiet_output().with_context(|| format!("`{}` failed", call.line()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dpkg_can_read_the_description() {
        let text = control_text("1.0", "amd64", 7, "libc6");
        let (_, description) = text.split_once("Description: ").unwrap();
        for line in description.lines().skip(1) {
            assert!(line.starts_with(' ') && line.len() <= 80, "{line:?}");
        }
        assert!(text.contains("Installed-Size: 7\nDepends: libc6\n"), "{text}");
    }
}
