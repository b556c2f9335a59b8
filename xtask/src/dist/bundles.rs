//! Tauri's bundler, fetched once from the npm registry into the build folder, and its packages for this platform.
//!
//! On Linux it only lays the files out, as a .deb; `deb`, `rpm` and `archive` pack them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::json;

use super::package::{Build, FOLDER};
use super::staging::SHARE;
use super::{archive, deb, rpm, windows};
use crate::call::Call;
use crate::node;
use crate::tree::Tree;

/// The newest version with published programs for every platform.
const CLI: &str = "@tauri-apps/cli@2.12.3";

/// The programs beside the main one.
const PROGRAMS: [&str; 3] = ["watchbill", "watchbill-host", "watchbill-model-client"];

/// Makes every package of this platform and returns their paths.
pub fn make(tree: &Tree, asked: &[String], build: &Build) -> Result<Vec<PathBuf>> {
    let folder = tree.target(FOLDER);
    let config = folder.join("tauri.bundle.json");
    let text =
        serde_json::to_string_pretty(&config_for(tree, build)?).context("the bundler's configuration")?;
    fs::create_dir_all(&folder)
        .and_then(|()| fs::write(&config, text))
        .with_context(|| format!("could not write {}", config.display()))?;
    let bundler = bundler(tree)?;
    // The bundler writes the kind of package into the program; cargo's own output stays unchanged.
    let kinds: Vec<&str> =
        if asked.is_empty() { usual_kinds().to_vec() } else { asked.iter().map(String::as_str).collect() };
    for kind in bundled(&kinds) {
        Call::new(tree.root(), &bundler)
            .args(["bundle", "--ci", "--no-binary-patching", "--bundles", kind, "--config"])
            .args([&config])
            .args((build.profile == "debug").then_some("--debug"))
            .env("SOURCE_DATE_EPOCH", build.epoch.to_string())
            .env("PATH", node::search_path(tree))
            .run()?;
    }
    let mut made = collect(tree, &kinds, build)?;
    if kinds.contains(&"windows") {
        made.extend(windows::pack(tree, build)?);
    }
    Ok(made)
}

/// The kinds that the bundler itself makes.
fn bundled<'a>(kinds: &[&'a str]) -> Vec<&'a str> {
    let mut bundled: Vec<&str> = Vec::new();
    // The archive for Windows has nothing of this platform.
    for kind in kinds.iter().filter(|kind| **kind != "windows") {
        let kind = if ["rpm", "archive"].contains(kind) { "deb" } else { kind };
        if !bundled.contains(&kind) {
            bundled.push(kind);
        }
    }
    bundled
}

/// An AppImage needs programs that the bundler fetches from the web, so it is made only on request.
fn usual_kinds() -> &'static [&'static str] {
    match std::env::consts::OS {
        "linux" => &["deb", "rpm", "archive", "windows"],
        "macos" => &["app", "dmg"],
        _ => &["nsis"],
    }
}

/// The differences to `tauri.conf.json`: files that exist only after the build.
fn config_for(tree: &Tree, build: &Build) -> Result<serde_json::Value> {
    let host = Call::new(tree.root(), "rustc").args(["-vV"]).quiet_output().context("`rustc -vV` failed")?;
    let host =
        host.lines().find_map(|line| line.strip_prefix("host: ")).context("`rustc -vV` names no host")?;
    // The bundler expects the platform in the name of a program beside the main one.
    for name in PROGRAMS {
        let beside = tree.target(FOLDER).join(format!("{name}-{host}{}", std::env::consts::EXE_SUFFIX));
        let own = tree.program(build.profile, name);
        fs::create_dir_all(tree.target(FOLDER))
            .and_then(|()| fs::copy(&own, &beside))
            .with_context(|| format!("could not copy {}", own.display()))?;
    }
    let share = tree.target(FOLDER).join(SHARE);
    let template = tree.path("dist/linux/watchbill.desktop.hbs");
    let deb = json!({ "files": { "/usr/share": share }, "desktopTemplate": template });
    let appimage = json!({ "files": { "/usr/share/metainfo": share.join("metainfo") } });
    Ok(json!({
        "bundle": {
            "externalBin": PROGRAMS.map(|name| tree.target(FOLDER).join(name)),
            "linux": { "deb": deb, "appimage": appimage },
        }
    }))
}

fn bundler(tree: &Tree) -> Result<PathBuf> {
    let folder = tree.target("tauri-cli");
    let program = folder.join("node_modules/.bin").join(if cfg!(windows) { "tauri.cmd" } else { "tauri" });
    let stamp = folder.join("version");
    if program.is_file() && fs::read_to_string(&stamp).is_ok_and(|found| found == CLI) {
        return Ok(program);
    }
    println!("The bundler of Tauri, {CLI}, is installed now with npm, into {} only.", folder.display());
    fs::create_dir_all(&folder)?;
    // Without a manifest there, npm would search one in the folders above.
    fs::write(folder.join("package.json"), "{ \"private\": true }\n")?;
    node::npm(tree)
        .args(["install", "--prefix"])
        .args([&folder])
        .args(["--no-audit", "--no-fund", "--no-save", "--ignore-scripts", CLI])
        .run()?;
    if !program.is_file() {
        bail!("npm has put no {} there", program.display());
    }
    fs::write(&stamp, CLI)?;
    Ok(program)
}

/// Takes the packages out of the bundler's folders; those of Linux are packed on the way.
fn collect(tree: &Tree, kinds: &[&str], build: &Build) -> Result<Vec<PathBuf>> {
    let bundles = tree.target(build.profile).join("bundle");
    let mut made = Vec::new();
    for kind in bundled(kinds) {
        for path in newest_in(&bundles.join(if kind == "app" { "macos" } else { kind }), kind)? {
            let name = path.file_name().context("a package has a name")?;
            let to = tree.target(FOLDER).join(name);
            match kind {
                "deb" => {
                    let root = deb::lay_out(tree, &path, build.epoch)?;
                    if kinds.contains(&"rpm") {
                        made.push(rpm::pack(tree, &root, build.epoch)?);
                    }
                    if kinds.contains(&"archive") {
                        made.extend(archive::pack(tree, &root, build.epoch)?);
                    }
                    if kinds.contains(&"deb") {
                        made.push(deb::pack(tree, &root, build.epoch)?);
                    }
                }
                // A bundle for macOS is a folder; the disk image holds it.
                "app" => made.push(path),
                _ => {
                    fs::copy(&path, &to).with_context(|| format!("could not copy {}", path.display()))?;
                    made.push(to);
                }
            }
        }
    }
    Ok(made)
}

/// The newest package of a folder, which may also have older versions.
fn newest_in(folder: &Path, kind: &str) -> Result<Vec<PathBuf>> {
    let extension = match kind {
        "nsis" => "exe",
        "appimage" => "AppImage",
        other => other,
    };
    let entries =
        fs::read_dir(folder).with_context(|| format!("the bundler has made no {}", folder.display()))?;
    let paths = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == extension));
    Ok(paths
        .max_by_key(|path| fs::metadata(path).and_then(|metadata| metadata.modified()).ok())
        .into_iter()
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_each_package_are_laid_out_once_as_a_deb() {
        assert_eq!(bundled(&["deb", "rpm", "archive", "windows"]), ["deb"]);
        assert_eq!(bundled(&["rpm", "appimage"]), ["deb", "appimage"]);
        assert_eq!(bundled(&["app", "dmg"]), ["app", "dmg"]);
    }
}
