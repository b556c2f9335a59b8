//! The output of `cargo metadata`, as far as the checks use it.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

/// All packages that our crates link, and their dependencies.
#[derive(Deserialize)]
pub struct Metadata {
    /// Our own packages and those of others.
    pub packages: Vec<Package>,
    workspace_members: Vec<String>,
    resolve: Resolve,
}

/// One package.
#[derive(Deserialize)]
pub struct Package {
    pub id: String,
    pub name: String,
    pub version: String,
    /// An SPDX expression.
    pub license: Option<String>,
    /// The registry that it was fetched from; nothing for our own.
    pub source: Option<String>,
    pub dependencies: Vec<Dependency>,
    pub targets: Vec<Target>,
}

/// A dependency in a manifest.
#[derive(Deserialize)]
pub struct Dependency {
    pub name: String,
    kind: Option<String>,
}

impl Dependency {
    /// True if only tests use it.
    pub fn is_for_tests(&self) -> bool {
        self.kind.as_deref() == Some("dev")
    }
}

/// A library, program, test or build script.
#[derive(Deserialize)]
pub struct Target {
    pub src_path: PathBuf,
    kind: Vec<String>,
}

impl Package {
    /// True if it builds a program.
    pub fn has_program(&self) -> bool {
        self.targets.iter().any(|target| target.kind.iter().any(|kind| kind == "bin"))
    }
}

impl Target {
    /// True for a target that is part of a program, or runs during its build.
    pub fn is_shipped(&self) -> bool {
        self.kind.iter().all(|kind| !["test", "bench", "example"].contains(&kind.as_str()))
    }
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Link>,
}

#[derive(Deserialize)]
struct Link {
    pkg: String,
    dep_kinds: Vec<LinkKind>,
}

#[derive(Deserialize)]
struct LinkKind {
    kind: Option<String>,
}

impl Metadata {
    /// Runs cargo: for one platform, or for all at once.
    pub fn load(root: &Path, platform: Option<&str>) -> Self {
        let output = Command::new(env!("CARGO"))
            .args(["metadata", "--format-version", "1", "--locked"])
            .args(platform.map(|platform| ["--filter-platform", platform]).into_iter().flatten())
            .current_dir(root)
            .output()
            .expect("cargo can be started");
        assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("cargo metadata prints what it documents")
    }

    /// The packages of this tree.
    pub fn workspace_packages(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| self.workspace_members.contains(&package.id))
    }

    /// The packages that a package links directly, without tests and build scripts.
    pub fn linked_by(&self, package: &Package) -> Vec<&Package> {
        let node =
            self.resolve.nodes.iter().find(|node| node.id == package.id).expect("every package is resolved");
        let links = node.deps.iter().filter(|link| link.dep_kinds.iter().any(|kind| kind.kind.is_none()));
        links.filter_map(|link| self.packages.iter().find(|package| package.id == link.pkg)).collect()
    }
}
