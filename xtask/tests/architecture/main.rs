//! Rules of the tree itself, each a table and a check: dependencies between crates, licences, and the form of source
//! files.
#![forbid(unsafe_code)]
// A test may panic when the tree cannot be read; clippy does not know that these functions belong to tests.
#![allow(clippy::expect_used)]

mod agents;
mod cases;
mod dependencies;
mod documents;
mod import_cycles;
mod imports;
mod licences;
mod locks;
mod metadata;
mod sentences;
mod sources;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use metadata::Metadata;

/// The top of the source tree.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the tree")
}

/// Cargo's metadata of the tree, read once.
fn metadata() -> &'static Metadata {
    static METADATA: OnceLock<Metadata> = OnceLock::new();
    METADATA.get_or_init(|| Metadata::load(root(), None))
}

/// Every file that is committed or would be, relative to the top.
fn tracked() -> &'static [PathBuf] {
    static TRACKED: OnceLock<Vec<PathBuf>> = OnceLock::new();
    TRACKED.get_or_init(|| {
        let output = std::process::Command::new("git")
            // If the checkout belongs to another user, git would refuse to read it.
            .args(["-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(root())
            .output()
            .expect("git is installed");
        assert!(output.status.success(), "git ls-files: {}", String::from_utf8_lossy(&output.stderr));
        let listing = String::from_utf8(output.stdout).expect("file names are UTF-8");
        let mut files: Vec<PathBuf> =
            listing.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from).collect();
        // A removed file is listed until the removal is committed.
        files.retain(|file| root().join(file).is_file());
        files
    })
}

/// The text of a tracked file, or `None` for pictures and other binary files.
fn text(file: &Path) -> Option<String> {
    String::from_utf8(std::fs::read(root().join(file)).expect("a listed file can be read")).ok()
}

/// Fails with all complaints at once, so that one run shows all of them.
#[track_caller]
fn no_complaints(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}
