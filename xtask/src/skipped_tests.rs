//! The skipped parts of tests: a test writes them into a file, one a line, and the report shows them with their step.

use std::path::PathBuf;

use crate::tree::Tree;

/// The variable that names the file to the tests, the same as in `crates/testkit/src/skipped.rs`.
pub const SKIPPED_FILE_VARIABLE: &str = "WATCHBILL_TESTS_LEFT_OUT";

/// The file. Each process has its own.
pub fn file(tree: &Tree) -> PathBuf {
    tree.target("left-out").join(format!("{}.txt", std::process::id()))
}

/// The lines since the last call.
pub fn take_skipped(tree: &Tree) -> Vec<String> {
    let file = file(tree);
    let noted = std::fs::read_to_string(&file).unwrap_or_default();
    // Usually there is no file.
    let _ = std::fs::remove_file(&file);
    noted.lines().map(str::to_owned).collect()
}
