//! What a test could not do on this machine, so that nobody takes its success for a proof.

use std::io::Write;

/// Names the file, a line for each test, that `cargo xtask test` reads out at the end of its report.
const FILE: &str = "WATCHBILL_TESTS_LEFT_OUT";

/// Says it to whoever reads along, and to the report.
///
/// # Panics
/// When the report was asked for and cannot be written.
#[allow(clippy::print_stderr, clippy::expect_used, reason = "what a test says, and how it ends")]
pub fn left_out(words: &str) {
    let line = format!("{}\n", words.split_whitespace().collect::<Vec<_>>().join(" "));
    eprint!("{line}");
    let Some(file) = std::env::var_os(FILE) else { return };
    let file = std::fs::OpenOptions::new().create(true).append(true).open(file);
    file.and_then(|mut file| file.write_all(line.as_bytes())).expect("what was left out could not be noted");
}
