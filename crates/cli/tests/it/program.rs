//! Runs the program without this machine's environment.

use std::path::Path;
use std::process::{Command, Output};

/// The program with its own home folder and without inherited environment variables.
pub fn watchbill(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_watchbill"));
    command.env_clear().env("HOME", home).env("TZ", "UTC").env("COLUMNS", "100").current_dir(home);
    command
}

/// Builds a program of another package, which lies beside the command line. `cargo xtask test` has built all programs: cargo builds
/// the dependencies of one package alone with other features, so a second time.
pub fn build(package: &str) {
    if std::env::var_os("WATCHBILL_PROGRAMS_BUILT").is_none() {
        let built = Command::new(env!("CARGO")).args(["build", "--quiet", "--package", package]).status();
        assert!(built.unwrap().success(), "{package} is not built");
    }
}

/// The output and the exit code of a run.
pub struct Finished {
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
    /// The exit code.
    pub code: i32,
}

impl From<Output> for Finished {
    fn from(output: Output) -> Self {
        Self {
            out: String::from_utf8(output.stdout).expect("output is UTF-8"),
            err: String::from_utf8(output.stderr).expect("messages are UTF-8"),
            code: output.status.code().unwrap_or(-1),
        }
    }
}

/// Runs it to its end.
pub fn run(command: &mut Command) -> Finished {
    command.output().expect("the program runs").into()
}

/// Runs it with these words, in a new home.
pub fn run_watchbill(words: &[&str]) -> Finished {
    let home = tempfile::tempdir().unwrap();
    run(watchbill(home.path()).args(words))
}
