//! The lock files: all packages come from the public registries, no mirror is named, and their number is bounded.

use crate::{metadata, no_complaints, root, text, tracked};

/// A higher number of other projects' packages in Cargo.lock must be a decision.
const MAX_PACKAGES: usize = 654;

/// The one source of crates, as cargo writes it.
const SOURCE: &str = "registry+https://github.com/rust-lang/crates.io-index";

#[test]
fn the_number_of_crates_stays_bounded() {
    let lock = text("Cargo.lock".as_ref()).expect("Cargo.lock is text");
    // A crate of the workspace has no source.
    let packages = lock.lines().filter(|line| line.starts_with("source = ")).count();
    assert!(packages > 100, "Cargo.lock was not understood: {packages} packages");
    assert!(
        packages <= MAX_PACKAGES,
        "Cargo.lock has {packages} packages of others, {MAX_PACKAGES} are allowed: is the new one worth its dependencies? \
         `cargo tree -i NAME` shows what needs it; if it is worth it, raise MAX_PACKAGES"
    );
}

#[test]
fn crates_come_from_one_source() {
    let complaints = metadata()
        .packages
        .iter()
        .filter_map(|package| package.source.as_ref().map(|source| (package, source)))
        .filter(|(_, source)| *source != SOURCE)
        .map(|(package, source)| format!("{} comes from {source}", package.name))
        .collect();
    no_complaints(complaints);
}

#[test]
fn no_lock_or_setting_names_a_mirror() {
    // In pieces, since this test reads this file too.
    let names: [String; 6] = [
        ["registry.", "npmjs.org"],
        ["registry.", "yarnpkg.com"],
        ["static.", "crates.io"],
        ["index.", "crates.io"],
        ["deb.", "debian.org"],
        ["files.", "pythonhosted.org"],
    ]
    .map(|pieces| pieces.concat());
    let mut complaints = Vec::new();
    for file in tracked() {
        let name = file.to_string_lossy();
        // Recordings contain a client's output; nothing downloads from there.
        if name.starts_with("tests/fixtures/") {
            continue;
        }
        let Some(text) = text(file) else { continue };
        complaints.extend(
            names
                .iter()
                .filter(|host| text.contains(host.as_str()))
                .map(|host| format!("{name} names the host {host}")),
        );
        if name.ends_with("package-lock.json") && text.contains("\"resolved\": \"http") {
            complaints.push(format!(
                "{name} says where packages were fetched from; write it anew with `omit-lockfile-registry-resolved=true`"
            ));
        }
        if name.ends_with(".npmrc") && text.contains("registry=") {
            complaints.push(format!("{name} names a registry"));
        }
        if name.ends_with(".cargo/config.toml") && (text.contains("[source") || text.contains("[registr")) {
            complaints.push(format!("{name} replaces the source of crates"));
        }
    }
    no_complaints(complaints);
}

#[test]
fn the_packages_of_the_window_are_locked_exactly() {
    let lock = root().join("ui/package-lock.json");
    let lock = std::fs::read_to_string(lock).expect("ui/package-lock.json is committed");
    let lock: serde_json::Value = serde_json::from_str(&lock).expect("ui/package-lock.json is JSON");
    let packages = lock["packages"].as_object().expect("ui/package-lock.json lists packages");
    let complaints = packages
        .iter()
        .filter(|(name, package)| !name.is_empty() && package["link"] != true)
        .filter(|(_, package)| package["integrity"].is_null() && package["inBundle"] != true)
        .map(|(name, _)| format!("{name} is locked without a checksum"))
        .collect();
    no_complaints(complaints);
}

/// Most runs do not build the fuzz targets, so this test checks their lock file.
#[test]
fn the_fuzz_targets_are_locked_with_what_our_crates_need() {
    let lock = text("fuzz/Cargo.lock".as_ref()).expect("fuzz/Cargo.lock is text");
    let (mut found, mut complaints) = (0, Vec::new());
    for package in metadata().workspace_packages() {
        let head = format!("[[package]]\nname = \"{}\"\n", package.name);
        let Some((_, locked)) = lock.split_once(&head) else { continue };
        let locked = locked.split("[[package]]").next().unwrap_or_default();
        found += 1;
        for needed in package.dependencies.iter().filter(|needed| !needed.is_for_tests()) {
            // With two locked versions the name is followed by one of them.
            if !["\"", " "].iter().any(|end| locked.contains(&format!(" \"{}{end}", needed.name))) {
                complaints.push(format!(
                    "fuzz/Cargo.lock does not know that {} needs {}: run `cargo metadata` in fuzz",
                    package.name, needed.name
                ));
            }
        }
    }
    assert!(found >= 2, "fuzz/Cargo.lock was not understood: {found} of our crates");
    no_complaints(complaints);
}
