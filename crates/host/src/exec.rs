//! The last step before the agent runs: the host starts itself anew, and that process becomes the agent by exec.
//!
//! The steps between fork and exec need no unsafe code this way: a session and a terminal of its own, and a signal when
//! the host dies. The process id stays, so no shell stands between.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use rustix::process::Signal;

/// The first argument of such a process. Then come the kind, the host's process id, the program and its arguments.
pub const WORD: &str = "--exec";
/// The kind for pipes.
pub const PIPES: &str = "pipes";
/// The kind for a terminal, which is standard input.
pub const TERMINAL: &str = "terminal";

/// The exit code if the program cannot be started, as shells have it.
const CANNOT: u8 = 127;

/// Becomes the program. Comes back only if that fails.
pub fn exec(mut args: impl Iterator<Item = OsString>) -> ExitCode {
    let (kind, host) = (args.next().unwrap_or_default(), args.next().unwrap_or_default());
    let program = args.next().unwrap_or_default();
    let on_terminal = kind == TERMINAL;
    let failed = |what: &str, error: &dyn std::fmt::Display| {
        fault(&format!("cannot {what} {}: {error}", program.to_string_lossy()));
        ExitCode::from(CANNOT)
    };
    if let Err(error) = rustix::process::setsid() {
        return failed("make a session for", &error);
    }
    if on_terminal && let Err(error) = rustix::process::ioctl_tiocsctty(std::io::stdin()) {
        return failed("give a terminal to", &error);
    }
    // Only for the case that the host is killed: the agent then ends as if its terminal was closed.
    let signal = if on_terminal { Signal::HUP } else { Signal::TERM };
    let set = rustix::process::set_parent_process_death_signal(Some(signal));
    let parent = std::os::unix::process::parent_id().to_string();
    if set.is_err() || host != *parent {
        return failed("start", &"the host of the session has ended");
    }
    let error = Command::new(&program).args(args).exec();
    if error.kind() == io::ErrorKind::NotFound {
        return failed("start", &not_found(&program));
    }
    failed("start", &error)
}

/// What was looked for, and where. A desktop often gives its programs a shorter `PATH` than a terminal does.
fn not_found(program: &OsStr) -> String {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places: Vec<PathBuf> = match Path::new(program).components().count() {
        1 => std::env::split_paths(&path).map(|folder| folder.join(program)).collect(),
        _ => vec![program.into()],
    };
    places.retain(|place| place.is_file());
    match places.first() {
        Some(found) => format!("{} is there, but not the program that its first line names", found.display()),
        None => format!("no such program; PATH is {}", path.to_string_lossy()),
    }
}

#[allow(clippy::print_stderr, reason = "these are the last words of the agent's process")]
fn fault(text: &str) {
    eprintln!("{text}");
}
