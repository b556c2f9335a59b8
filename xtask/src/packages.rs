//! The packages that a build needs: named first, then installed, with apt if there is apt.

use std::collections::BTreeSet;
use std::io::IsTerminal;

use anyhow::{Context, Result, bail};

use crate::call::Call;
use crate::node;
use crate::options::SetupOptions;
use crate::steps::Need;
use crate::tree::{Tree, on_path};

/// Debian's and Ubuntu's names, found by building for each need on a bare system.
const COMPILE: &[&str] = &["build-essential", "pkg-config", "libwebkit2gtk-4.1-dev", "libgtk-3-dev"];
const HEADLESS: &[&str] = &[
    "xvfb",
    "xauth",
    "dbus",
    "webkit2gtk-driver",
    "openbox",
    "imagemagick",
    "xdotool",
    "wmctrl",
    "x11-utils",
    "at-spi2-core",
    "fonts-dejavu-core",
    "fonts-noto-color-emoji",
];
/// Konsole would install half of KDE, 140 MB; its test runs if it is installed anyway.
const TERMINALS: &[&str] = &[
    "xterm",
    "tmux",
    "kitty",
    "alacritty",
    "gnome-terminal",
    "foot",
    "sway",
    "dbus-bin",
    "libglib2.0-bin",
    "util-linux",
];
/// The browser, and the fonts of the pictures.
const BROWSER: &[&str] = &["chromium", "fonts-dejavu-core"];
const NODE: &[&str] = &["nodejs", "npm"];
const RIG: &[&str] = &["python3", "iproute2", "tmux", "util-linux"];
const BENCH: &[&str] = &["python3"];
/// A compiler whose source of the standard library is a package, so that it can check for other systems.
const CROSS: &[&str] = &[
    "rustc-web",
    "cargo-web",
    "rust-web-src",
    "rust-web-clippy",
    "gcc-mingw-w64-x86-64",
    "g++-mingw-w64-x86-64",
];
const PACKAGES: &[&str] = &["dpkg-dev", "lintian", "rpm", "zip"];
const WINE: &[&str] = &["python3", "wine", "wine64"];
const CLEAN_ROOT: &[&str] = &["mmdebstrap", "desktop-file-utils", "appstream"];

/// Only installs: `cargo xtask setup`.
pub fn setup(tree: &Tree, purpose: &SetupOptions) -> Result<()> {
    let needs: &[Need] = match purpose {
        SetupOptions::Run => &[Need::Compile, Need::Node],
        SetupOptions::Test => &[
            Need::Compile,
            Need::Node,
            Need::Headless,
            Need::Terminals,
            Need::Browser,
            Need::Rig,
            Need::Cross,
        ],
        SetupOptions::Bench => &[Need::Compile, Need::Node, Need::Bench],
    };
    provide(tree, needs)?;
    println!("nothing is missing for `cargo xtask {}`", format!("{purpose:?}").to_lowercase());
    Ok(())
}

/// Makes sure that the needed programs are installed. Prints what it installs and how, before it does.
pub fn provide(tree: &Tree, needs: &[Need]) -> Result<()> {
    let needs: BTreeSet<Need> = needs.iter().copied().collect();
    let missing = missing(tree, &needs);
    if !missing.is_empty() {
        install(tree, &missing)?;
    }
    if needs.contains(&Need::Node) && !node::is_new_enough(tree) {
        node::install(tree)?;
    }
    Ok(())
}

/// The Chromium for browser tests, if there is one.
pub fn chromium() -> Option<std::path::PathBuf> {
    if let Some(named) = std::env::var_os("CHROMIUM").map(std::path::PathBuf::from) {
        return named.is_file().then_some(named);
    }
    let search_path = std::env::var_os("PATH").unwrap_or_default();
    ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"]
        .iter()
        .flat_map(|name| std::env::split_paths(&search_path).map(move |folder| folder.join(name)))
        .find(|program| program.is_file() && !is_snap(program))
}

/// Ubuntu's `chromium-browser` is a shell script that starts a snap, or asks for one.
fn is_snap(program: &std::path::Path) -> bool {
    let resolved = program.canonicalize().unwrap_or_else(|_| program.to_owned());
    if resolved.starts_with("/snap") || resolved.ends_with("snap") {
        return true;
    }
    let small = std::fs::metadata(&resolved).is_ok_and(|metadata| metadata.len() < 100_000);
    small && std::fs::read_to_string(&resolved).is_ok_and(|text| text.contains("/snap/bin"))
}

fn missing(tree: &Tree, needs: &BTreeSet<Need>) -> Vec<String> {
    if !cfg!(target_os = "linux") {
        return Vec::new();
    }
    let mut wanted: Vec<&str> = Vec::new();
    for need in needs {
        match need {
            Need::Compile => wanted.extend(COMPILE),
            Need::Headless => wanted.extend(HEADLESS),
            Need::Terminals => wanted.extend(TERMINALS),
            // Node may come from another source than apt; apt's package must not be put beside it.
            Need::Node if node::is_new_enough(tree) || node::has_npm(tree) => {}
            Need::Node => wanted.extend(NODE),
            Need::Browser if chromium().is_some() => wanted.extend(&BROWSER[1..]),
            Need::Browser if !offers_chromium() => {}
            Need::Browser => wanted.extend(BROWSER),
            Need::Cross if !offers_cross() => {}
            Need::Cross => wanted.extend(CROSS),
            Need::Rig => wanted.extend(RIG.iter().filter(|name| !is_program_on_path(name))),
            Need::Packages => wanted.extend(PACKAGES),
            Need::CleanRoot => wanted.extend(CLEAN_ROOT),
            Need::Wine => wanted.extend(WINE.iter().filter(|name| !is_program_on_path(name))),
            Need::Bench => wanted.extend(BENCH.iter().filter(|name| !is_program_on_path(name))),
        }
    }
    let installed = installed(tree, &wanted);
    wanted.iter().filter(|name| !installed.contains(**name)).map(|name| (*name).to_owned()).collect()
}

/// Programs that serve as well without their package.
fn is_program_on_path(package: &str) -> bool {
    let program = match package {
        "iproute2" => "ip",
        "util-linux" => "unshare",
        other => other,
    };
    on_path(&std::env::var_os("PATH").unwrap_or_default(), program)
}

/// Ubuntu has Chromium only as a snap, which a container cannot start.
fn offers_chromium() -> bool {
    let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    !release.lines().any(|line| line == "ID=ubuntu")
}

/// Debian 12 alone packs a second compiler that is new enough, with the source of its standard library.
pub fn offers_cross() -> bool {
    let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    release.lines().any(|line| line == "ID=debian") && release.lines().any(|line| line == "VERSION_ID=\"12\"")
}

fn installed(tree: &Tree, packages: &[&str]) -> BTreeSet<String> {
    // dpkg-query fails when it does not know one of the names, but still prints the others.
    let output = Call::new(tree.root(), "dpkg-query")
        .args(["-W", "-f", "${Package} ${db:Status-Status}\\n"])
        .args(packages.iter().copied())
        .command()
        .env("LC_ALL", "C")
        .output();
    let Ok(output) = output else { return BTreeSet::new() };
    parse_installed(&String::from_utf8_lossy(&output.stdout))
}

fn parse_installed(listing: &str) -> BTreeSet<String> {
    listing
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter(|(_, status)| *status == "installed")
        .map(|(package, _)| package.to_owned())
        .collect()
}

fn install(tree: &Tree, missing: &[String]) -> Result<()> {
    let search_path = std::env::var_os("PATH").unwrap_or_default();
    if !on_path(&search_path, "apt-get") {
        println!(
            "This system has no apt, so nothing is installed. Debian's names of packages that may be missing:\n  {}",
            missing.join(" ")
        );
        // The build itself will report missing programs.
        return Ok(());
    }
    println!("Missing, and installed now with apt: {}", missing.join(" "));
    let privilege = privilege(&search_path).with_context(|| {
        format!("these packages are missing; as root, run: apt-get install {}", missing.join(" "))
    })?;
    let archives = archive_folder(&std::env::temp_dir())?;
    let cache = format!("Dir::Cache::archives={}", archives.display());
    let apt = |words: &[&str]| {
        let mut line: Vec<&str> = privilege.clone();
        line.extend(["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q"]);
        line.extend(["-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::Retries=3", "-o", &cache]);
        line.extend(words);
        Call::new(tree.root(), line[0]).args(line[1..].iter().copied()).run()
    };
    apt(&["update"])?;
    let mut words = vec!["install", "-y", "--no-install-recommends"];
    words.extend(missing.iter().map(String::as_str));
    let result = apt(&words);
    // Only cache is left there; root may own it, and then the system cleans it up.
    let _ = std::fs::remove_dir_all(&archives);
    result
}

/// An archive folder of our own. In containers that clean apt's folder after every update, one apt deletes the
/// packages of another. The folder must be new: apt installs, as root, any file there with the right name and size.
/// In a folder that another user had prepared, it would install that user's files.
fn archive_folder(temporary: &std::path::Path) -> Result<std::path::PathBuf> {
    let folder = temporary.join(format!("watchbill-apt-{}", std::process::id()));
    std::fs::create_dir(&folder)
        .and_then(|()| std::fs::create_dir(folder.join("partial")))
        .with_context(|| format!("could not create {}; if it is there, remove it", folder.display()))?;
    Ok(folder)
}

/// The command prefix for programs that only root may run.
fn privilege(search_path: &std::ffi::OsStr) -> Result<Vec<&'static str>> {
    let root = std::fs::metadata("/proc/self").is_ok_and(|own| is_root(&own));
    if root {
        return Ok(Vec::new());
    }
    if !on_path(search_path, "sudo") {
        bail!("you are not root and there is no sudo");
    }
    // Without a terminal no password can be typed, and sudo must fail rather than wait.
    Ok(if std::io::stdin().is_terminal() { vec!["sudo"] } else { vec!["sudo", "-n"] })
}

#[cfg(unix)]
fn is_root(own: &std::fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::uid(own) == 0
}

#[cfg(not(unix))]
fn is_root(_: &std::fs::Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_that_was_removed_counts_as_missing() {
        let listing = "xvfb installed\nopenbox config-files\ndbus installed\nnpm not-installed\n";
        let installed = parse_installed(listing);
        assert_eq!(installed.iter().map(String::as_str).collect::<Vec<_>>(), ["dbus", "xvfb"]);
    }

    #[test]
    fn packages_are_never_taken_from_an_existing_folder() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = archive_folder(temporary.path()).unwrap();
        assert!(folder.join("partial").is_dir());
        let error = archive_folder(temporary.path()).unwrap_err().to_string();
        assert!(error.contains("remove it"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_script_that_starts_a_snap_is_no_browser() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("chromium-browser");
        std::fs::write(&script, "#!/bin/sh\nexec /snap/bin/chromium \"$@\"\n").unwrap();
        assert!(is_snap(&script));
        std::fs::write(&script, "#!/bin/sh\nexec /usr/lib/chromium/chromium \"$@\"\n").unwrap();
        assert!(!is_snap(&script));
    }
}
