//! No process stays: this one ends with its input, and what it started ends with it.

use std::io::Read as _;

/// Ends this process and all that it started when the input closes: then the program that started it has ended, or has
/// given up.
pub fn end_with_input() {
    // A process that leads a group already cannot make a session, and needs none.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setsid();
    std::thread::spawn(|| {
        let mut rest = [0; 64];
        let mut input = std::io::stdin().lock();
        while input.read(&mut rest).is_ok_and(|read| read > 0) {}
        #[cfg(target_os = "linux")]
        end();
        std::process::exit(1);
    });
}

/// Ends this process and all that it started.
#[cfg(target_os = "linux")]
pub fn end() {
    use rustix::process::{Signal, getpgrp, getpid, kill_process_group};

    if getpgrp() == getpid() {
        let _ = kill_process_group(getpid(), Signal::KILL);
    }
}

/// The first argument of the process that becomes the agent. Then come this process's id, the program and its arguments.
pub const EXEC: &str = "--exec";

/// Becomes a program that the system kills when this program's process dies.
#[cfg(target_os = "linux")]
#[allow(clippy::print_stderr, reason = "these are the last words of the process")]
pub fn exec(mut args: impl Iterator<Item = std::ffi::OsString>) -> std::process::ExitCode {
    use std::os::unix::process::{CommandExt as _, parent_id};

    use rustix::process::{Signal, set_parent_process_death_signal};

    let (parent, program) = (args.next().unwrap_or_default(), args.next().unwrap_or_default());
    let set = set_parent_process_death_signal(Some(Signal::KILL));
    if set.is_err() || parent != *parent_id().to_string() {
        return std::process::ExitCode::FAILURE;
    }
    let error = std::process::Command::new(&program).args(args).exec();
    eprintln!("{}: {error}", program.to_string_lossy());
    std::process::ExitCode::from(127)
}
