//! The dependencies between the crates, as ARCHITECTURE.md draws them.

use std::collections::{BTreeMap, BTreeSet};

use crate::metadata::Metadata;
use crate::{metadata, no_complaints, root};

/// Each crate of the tree, and the crates of the tree that it may use outside tests.
const ARROWS: &[(&str, &[&str])] = &[
    ("watchbill-core", &[]),
    ("watchbill-protocol", &["watchbill-core"]),
    ("watchbill-platform", &["watchbill-core"]),
    ("watchbill-agents", &["watchbill-core", "watchbill-protocol"]),
    ("watchbill-watch", &["watchbill-core", "watchbill-agents", "watchbill-platform"]),
    ("watchbill-hooks", &["watchbill-core", "watchbill-agents", "watchbill-platform"]),
    ("watchbill-store", &["watchbill-core", "watchbill-platform"]),
    ("watchbill-terminal", &["watchbill-core", "watchbill-agents", "watchbill-platform"]),
    ("watchbill-drive", &["watchbill-core", "watchbill-agents", "watchbill-platform", "watchbill-protocol"]),
    ("watchbill-mcp", &["watchbill-core", "watchbill-protocol"]),
    (
        "watchbill-host",
        &[
            "watchbill-core",
            "watchbill-agents",
            "watchbill-drive",
            "watchbill-hooks",
            "watchbill-platform",
            "watchbill-protocol",
        ],
    ),
    ("watchbill-model-client", &["watchbill-protocol"]),
    (
        "watchbill-service",
        &[
            "watchbill-engine",
            "watchbill-hooks",
            "watchbill-platform",
            "watchbill-protocol",
            "watchbill-settings",
        ],
    ),
    (
        "watchbill-settings",
        &["watchbill-core", "watchbill-agents", "watchbill-protocol", "watchbill-watch", "watchbill-hooks"],
    ),
    (
        "watchbill-history",
        &[
            "watchbill-core",
            "watchbill-agents",
            "watchbill-platform",
            "watchbill-protocol",
            "watchbill-watch",
            "watchbill-hooks",
            "watchbill-settings",
            "watchbill-store",
        ],
    ),
    (
        "watchbill-engine",
        &[
            "watchbill-core",
            "watchbill-agents",
            "watchbill-platform",
            "watchbill-drive",
            "watchbill-history",
            "watchbill-protocol",
            "watchbill-watch",
            "watchbill-hooks",
            "watchbill-settings",
            "watchbill-store",
            "watchbill-terminal",
        ],
    ),
    (
        "watchbill",
        &[
            "watchbill-agents",
            "watchbill-platform",
            "watchbill-drive",
            "watchbill-engine",
            "watchbill-history",
            "watchbill-mcp",
            "watchbill-service",
            "watchbill-settings",
            "watchbill-protocol",
            "watchbill-hooks",
        ],
    ),
    (
        "watchbill-shell",
        &[
            "watchbill-agents",
            "watchbill-drive",
            "watchbill-engine",
            "watchbill-service",
            "watchbill-settings",
            "watchbill-protocol",
        ],
    ),
    ("watchbill-desktop", &["watchbill-shell"]),
    ("watchbill-testkit", &[]),
    ("xtask", &[]),
];

/// Crates that only tests use, in any crate.
const FOR_TESTS: &[&str] = &["watchbill-testkit"];
/// Below what they test with: the core's integration tests fold what the agents' parsers read.
const TESTED_WITH: &[(&str, &str)] = &[("watchbill-core", "watchbill-agents")];

/// Outside crates that only some of our crates may name, in any role. A trailing `*` stands for the rest of a name.
const RESERVED: &[(&str, &[&str], &str)] = &[
    ("notify*", &["watchbill-watch"], "one crate handles file events, which are only hints"),
    ("walkdir", &["watchbill-watch"], "one crate walks folders"),
    ("interprocess", &["watchbill-platform"], "one crate opens local sockets with lines"),
    ("tauri*", &["watchbill-shell", "watchbill-desktop"], "nearly all tests build without a web view"),
    ("wry", &[], "Tauri is the only way to the web view"),
    ("tray-icon", &["watchbill-shell"], "the tray belongs to the shell"),
    ("statig", &["watchbill-core"], "the session machine is pure"),
    (
        "rusqlite*",
        &["watchbill-store", "watchbill-engine"],
        "one crate knows databases; the engine's tests play an agent that writes one",
    ),
    ("x11rb*", &["watchbill-terminal"], "one crate searches windows of other programs"),
    (
        "tungstenite",
        &["watchbill-watch", "watchbill-engine"],
        "one crate carries messages of agents' servers; the engine's tests play a server",
    ),
    ("axum", &["watchbill-service"], "one crate listens for HTTP"),
    ("ureq", &["watchbill-model-client"], "one program has an HTTP client"),
    ("rustls*", &["watchbill-model-client"], "one program has an HTTP client"),
    ("hyper*", &["watchbill-service", "watchbill-testkit"], "one crate listens for HTTP"),
    ("ts-rs", &["watchbill-protocol"], "only what leaves the process has types for the window"),
    ("clap*", &["watchbill", "watchbill-shell"], "only programs have a command line"),
];

/// Crates that the pure crates may not name outside its tests: each would bring in a clock, files, threads or
/// randomness.
const NOT_IN_CORE: &[&str] = &[
    "tokio*",
    "notify*",
    "walkdir",
    "rusqlite*",
    "tauri*",
    "rand*",
    "getrandom",
    "serde_json",
    "rustix",
    "libc",
    "tracing*",
    "directories",
    "async-*",
    "rayon",
    "crossbeam*",
    "parking_lot",
];

/// Crates that `watchbill` must not contain at any depth: it starts in a few milliseconds and links no web view.
const NOT_IN_COMMAND_LINE: &[&str] = &["tauri*", "wry", "tao", "gtk", "webkit2gtk*", "zbus"];

/// Crates that no program that runs by itself may contain on any of these platforms: no data leaves the machine.
const NOT_IN_PROGRAMS: &[&str] = &[
    "reqwest",
    "ureq",
    "curl*",
    "hyper-rustls",
    "hyper-tls",
    "h2",
    "rustls*",
    "native-tls",
    "openssl*",
    "quinn*",
    "tokio-tungstenite",
    "async-tungstenite",
];
/// The program that may hold a client: it starts only when the user has named a model, and speaks to that alone.
const CLIENT: &str = "watchbill-model-client";
/// The crates of its client. It may contain no other one.
const OF_CLIENT: &[&str] = &["ureq", "rustls", "rustls-pki-types", "rustls-webpki"];
/// Crates that listen, or carry messages over a given stream. A feature whose name begins so would let them connect as well.
const UNCONNECTED: &[(&str, &str)] =
    &[("hyper", "client"), ("hyper-util", "client"), ("tungstenite", "handshake")];
const PROGRAMS: &[&str] = &["watchbill", "watchbill-desktop", "watchbill-host"];
/// Programs of the tree that are no part of what a user installs.
const NOT_INSTALLED: &[&str] = &["xtask", "watchbill-testkit", "watchbill-shell"];
const PLATFORMS: &[&str] = &["x86_64-unknown-linux-gnu", "aarch64-apple-darwin", "x86_64-pc-windows-msvc"];

fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    }
}

#[test]
fn crates_use_only_the_crates_that_their_arrows_allow() {
    let allowed: BTreeMap<&str, &[&str]> = ARROWS.iter().copied().collect();
    let ours: BTreeSet<&str> = metadata().workspace_packages().map(|package| package.name.as_str()).collect();
    let mut complaints = Vec::new();
    for package in metadata().workspace_packages() {
        let name = package.name.as_str();
        let Some(arrows) = allowed.get(name) else {
            complaints.push(format!("{name} is new: give it a row in ARROWS and a place in ARCHITECTURE.md"));
            continue;
        };
        for dependency in package.dependencies.iter().filter(|other| ours.contains(other.name.as_str())) {
            let other = dependency.name.as_str();
            let for_tests = dependency.is_for_tests()
                && (FOR_TESTS.contains(&other) || other == name || TESTED_WITH.contains(&(name, other)));
            if !arrows.contains(&other) && !for_tests {
                complaints.push(format!(
                    "{name} -> {other}: no such arrow. Move the code, or change ARCHITECTURE.md and ARROWS together"
                ));
            }
        }
    }
    complaints.extend(
        allowed
            .keys()
            .filter(|name| !ours.contains(**name))
            .map(|name| format!("{name} is in ARROWS but not in the tree")),
    );
    no_complaints(complaints);
}

#[test]
fn reserved_crates_are_named_only_by_their_owners() {
    let mut complaints = Vec::new();
    for package in metadata().workspace_packages() {
        for dependency in &package.dependencies {
            for (pattern, owners, reason) in RESERVED {
                if matches(pattern, &dependency.name) && !owners.contains(&package.name.as_str()) {
                    complaints.push(format!("{} names {}: {reason}", package.name, dependency.name));
                }
            }
        }
    }
    no_complaints(complaints);
}

#[test]
fn the_pure_crates_are_pure() {
    let mut complaints = Vec::new();
    // The lines of drivers are any JSON: `agents` keeps them as values.
    for (name, allowed) in [("watchbill-core", ""), ("watchbill-agents", "serde_json")] {
        let pure = metadata().workspace_packages().find(|package| package.name == name);
        let named = pure.expect("the crate is in the tree").dependencies.iter().filter(|dependency| {
            !dependency.is_for_tests()
                && dependency.name != allowed
                && NOT_IN_CORE.iter().any(|pattern| matches(pattern, &dependency.name))
        });
        complaints.extend(
            named.map(|dependency| format!("{name} names {}: facts come in as values", dependency.name)),
        );
    }
    no_complaints(complaints);
}

#[test]
fn the_command_line_contains_no_web_view() {
    let inside = contents_of("watchbill", metadata());
    assert!(inside.contains("watchbill-core"), "the walk found nothing: {inside:?}");
    let complaints = inside
        .iter()
        .filter(|name| NOT_IN_COMMAND_LINE.iter().any(|pattern| matches(pattern, name)))
        .map(|name| format!("watchbill contains {name}; `cargo tree -p watchbill -i {name}` shows the path"))
        .collect();
    no_complaints(complaints);
}

#[test]
fn no_program_can_talk_to_the_network() {
    let mut complaints = Vec::new();
    for platform in PLATFORMS {
        let metadata = Metadata::load(root(), Some(platform));
        for program in PROGRAMS {
            let inside = contents_of(program, &metadata);
            let clients =
                inside.iter().filter(|name| NOT_IN_PROGRAMS.iter().any(|pattern| matches(pattern, name)));
            complaints.extend(clients.map(|name| {
                format!("{program} on {platform} contains {name}; `cargo tree -p {program} -i {name}` shows the path")
            }));
            complaints.extend(client_features(program, platform));
        }
    }
    no_complaints(complaints);
}

#[test]
fn the_one_client_is_in_a_program_of_its_own() {
    let mut complaints = Vec::new();
    for platform in PLATFORMS {
        let metadata = Metadata::load(root(), Some(platform));
        let inside = contents_of(CLIENT, &metadata);
        assert!(inside.contains("ureq"), "the walk found nothing: {inside:?}");
        let others = inside.iter().filter(|name| {
            NOT_IN_PROGRAMS
                .iter()
                .chain(UNCONNECTED.iter().map(|(name, _)| name))
                .any(|pattern| matches(pattern, name))
                && !OF_CLIENT.contains(&name.as_str())
        });
        complaints.extend(others.map(|name| format!("{CLIENT} on {platform} contains {name}")));
    }
    // A program that is in neither list would be checked by no test.
    for package in metadata().workspace_packages().filter(|package| package.has_program()) {
        let name = package.name.as_str();
        if !PROGRAMS.contains(&name) && name != CLIENT && !NOT_INSTALLED.contains(&name) {
            complaints.push(format!("{name} is a program: add it to PROGRAMS"));
        }
    }
    no_complaints(complaints);
}

/// The features of [`UNCONNECTED`] with which a program could connect. The metadata has the features of the whole tree, with
/// those that only tests turn on; `cargo tree` has the ones of this program.
fn client_features(program: &str, platform: &str) -> Vec<String> {
    let output = std::process::Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--edges", "normal", "--prefix", "none", "--format", "{p}\t{f}"])
        .args(["--package", program, "--target", platform])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    let listing = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success() && listing.contains(program),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let features = listing.lines().filter_map(|line| {
        let (package, features) = line.split_once('\t')?;
        let name = package.split(' ').next()?;
        let (_, begin) = UNCONNECTED.iter().find(|(unconnected, _)| *unconnected == name)?;
        let client = features.split(',').find(|feature| feature.starts_with(begin))?;
        Some(format!("{program} on {platform}: {name} has the feature {client}"))
    });
    features.collect()
}

/// The names of all crates that a crate links, without tests and build scripts.
fn contents_of(name: &str, metadata: &Metadata) -> BTreeSet<String> {
    let package =
        metadata.workspace_packages().find(|package| package.name == name).expect("the crate is in the tree");
    let (mut open, mut seen) = (vec![package], BTreeMap::new());
    while let Some(package) = open.pop() {
        if seen.insert(&package.id, &package.name).is_none() {
            open.extend(metadata.linked_by(package));
        }
    }
    seen.into_values().cloned().collect()
}

#[test]
fn a_star_matches_the_rest_of_a_name_only_at_its_end() {
    assert!(matches("tauri*", "tauri"));
    assert!(matches("tauri*", "tauri-plugin-opener"));
    assert!(!matches("tauri", "tauri-build"));
    assert!(!matches("rand*", "brand"));
}
