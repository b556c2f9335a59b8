//! What tests could not do on this machine: they note it, a line each, in a file that is read out with their step.

use std::path::PathBuf;

use crate::tree::Tree;

/// The variable that names the file to the tests, as `crates/testkit/src/left_out.rs` has it.
pub const NAME: &str = "WATCHBILL_TESTS_LEFT_OUT";

/// The file. Another run of ours has another one.
pub fn file(tree: &Tree) -> PathBuf {
    tree.target("left-out").join(format!("{}.txt", std::process::id()))
}

/// What has been noted since the last time.
pub fn take(tree: &Tree) -> Vec<String> {
    let file = file(tree);
    let noted = std::fs::read_to_string(&file).unwrap_or_default();
    // Usually there is none.
    let _ = std::fs::remove_file(&file);
    noted.lines().map(str::to_owned).collect()
}
