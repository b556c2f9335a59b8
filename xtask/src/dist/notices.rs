//! The licences of all code that is linked into the programs or shown in the window: most of them must be passed on.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::call::Call;
use crate::tree::Tree;

/// npm packages with code in the window's page; the others only build it.
const IN_THE_WINDOW: [&str; 9] = [
    "@tauri-apps/api",
    "@xterm/addon-fit",
    "@xterm/addon-unicode11",
    "@xterm/xterm",
    "devlop",
    "highlight.js",
    "lowlight",
    "marked",
    "svelte",
];

/// One text: each licence once, below the names of its projects. `system`: another one than this, as the compiler names it.
pub fn collect(tree: &Tree, system: Option<&str>) -> Result<String> {
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, folder) in crates(tree, system)?.iter().chain(&window(tree)) {
        for text in licences_in(folder) {
            texts.entry(text).or_default().insert(name.clone());
        }
    }
    let mut blocks: Vec<(BTreeSet<String>, String)> =
        texts.into_iter().map(|(text, names)| (names, text)).collect();
    blocks.sort();
    let mut whole = String::from("Parts of Watchbill come from these projects, under these licences.\n");
    for (names, text) in blocks {
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        whole.push_str(&format!("\n{}\n{names}\n\n{}\n", "=".repeat(80), text.trim()));
    }
    Ok(whole)
}

/// Name with version, and folder, of each crate that is linked there.
fn crates(tree: &Tree, system: Option<&str>) -> Result<Vec<(String, std::path::PathBuf)>> {
    // A flat list with each dependency's name and version.
    let call = Call::new(tree.root(), "cargo").args([
        "tree",
        "--locked",
        "--package",
        "watchbill-desktop",
        "--package",
        "watchbill",
        "--package",
        "watchbill-host",
        "--package",
        "watchbill-model-client",
        "--edges",
        "normal",
        "--prefix",
        "none",
        "--no-dedupe",
        "--format",
        "{p}",
    ]);
    let call = call.args(system.iter().flat_map(|system| ["--target", system]));
    let listing = call.quiet_output().with_context(|| format!("`{}` failed", call.line()))?;
    let linked: BTreeSet<(String, String)> = listing.lines().filter_map(name_and_version).collect();
    let call = Call::new(tree.root(), "cargo").args(["metadata", "--locked", "--format-version", "1"]);
    let metadata = call.quiet_output().with_context(|| format!("`{}` failed", call.line()))?;
    let metadata: Value = serde_json::from_str(&metadata).context("`cargo metadata` printed no JSON")?;
    let mut found = Vec::new();
    for package in
        metadata["packages"].as_array().into_iter().flatten().filter(|package| !package["source"].is_null())
    {
        let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
        let (name, version) = (text("name"), text("version"));
        let manifest = text("manifest_path");
        if let (true, Some(folder)) =
            (linked.contains(&(name.clone(), version.clone())), Path::new(&manifest).parent())
        {
            found.push((format!("{name} {version}"), folder.to_owned()));
        }
    }
    Ok(found)
}

/// From `serde v1.0.229 (proc-macro)`.
fn name_and_version(line: &str) -> Option<(String, String)> {
    let mut words = line.split_whitespace();
    Some((words.next()?.to_owned(), words.next()?.strip_prefix('v')?.to_owned()))
}

fn window(tree: &Tree) -> Vec<(String, std::path::PathBuf)> {
    let modules = tree.path("ui/node_modules");
    IN_THE_WINDOW.iter().map(|name| ((*name).to_owned(), modules.join(name))).collect()
}

/// The texts beside a manifest that look like a licence, in the order of their names.
fn licences_in(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let is_licence = |name: &str| {
        let name = name.to_ascii_uppercase();
        ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"]
            .iter()
            .any(|word| name.starts_with(word))
    };
    let mut paths: Vec<_> = entries
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(is_licence))
        .map(|entry| entry.path())
        .collect();
    paths.sort();
    paths
        .iter()
        .filter_map(|path| fs::read_to_string(path).ok())
        .map(|text| text.replace("\r\n", "\n"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_cargo_tree_is_a_name_and_a_version() {
        let pair = |line| name_and_version(line).map(|(name, version)| format!("{name}={version}"));
        assert_eq!(pair("serde_derive v1.0.229 (proc-macro)").as_deref(), Some("serde_derive=1.0.229"));
        assert_eq!(pair(""), None);
    }

    #[test]
    fn linked_crates_have_licences() {
        let tree = Tree::find().unwrap();
        let crates = crates(&tree, None).unwrap();
        let names: Vec<&str> = crates.iter().filter_map(|(name, _)| name.split(' ').next()).collect();
        assert!(names.contains(&"tauri") && names.contains(&"rusqlite"), "{names:?}");
        assert!(
            !names.contains(&"insta") && !names.contains(&"tauri-build"),
            "only what is linked: {names:?}"
        );
        let tauri = crates.iter().find(|(name, _)| name.starts_with("tauri ")).unwrap();
        assert!(!licences_in(&tauri.1).is_empty());
    }
}
