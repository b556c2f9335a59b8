//! Reports tests that this machine could not run, so that their success is not taken for a proof.

use std::io::Write;

/// Names the file for skipped tests, one a line. `cargo xtask test` prints it at the end of its report.
const FILE: &str = "WATCHBILL_TESTS_LEFT_OUT";

/// Prints the line to the error output, and adds it to the report.
///
/// # Panics
/// When the report was requested and cannot be written.
#[allow(clippy::print_stderr, clippy::expect_used, reason = "what a test says, and how it ends")]
pub fn skipped(words: &str) {
    let line = format!("{}\n", words.split_whitespace().collect::<Vec<_>>().join(" "));
    eprint!("{line}");
    let Some(file) = std::env::var_os(FILE) else { return };
    let file = std::fs::OpenOptions::new().create(true).append(true).open(file);
    file.and_then(|mut file| file.write_all(line.as_bytes())).expect("what was left out could not be noted");
}
