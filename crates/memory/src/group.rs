//! No process stays: this one ends with its input, and what it started ends with it.

#[cfg(target_os = "linux")]
pub use linux::*;

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::OsString;
    use std::io::Read as _;
    use std::os::unix::process::CommandExt as _;
    use std::process::{Command, ExitCode};

    use rustix::process::{Signal, getpgrp, getpid, kill_process_group, setsid};

    /// The first argument of the process that becomes the agent. Then come this process's id, the program and its arguments.
    pub const EXEC: &str = "--exec";

    /// Ends this process and all that it started when the input closes: then the program that started it has ended, or has
    /// given up.
    pub fn end_with_input() {
        // A process that leads a group already cannot make a session, and needs none.
        let _ = setsid();
        std::thread::spawn(|| {
            let mut rest = [0; 64];
            let mut input = std::io::stdin().lock();
            while input.read(&mut rest).is_ok_and(|read| read > 0) {}
            end();
            std::process::exit(1);
        });
    }

    /// Ends this process and all that it started.
    pub fn end() {
        if getpgrp() == getpid() {
            let _ = kill_process_group(getpid(), Signal::KILL);
        }
    }

    /// Becomes a program that the system kills when this program's process dies.
    #[allow(clippy::print_stderr, reason = "these are the last words of the process")]
    pub fn exec(mut args: impl Iterator<Item = OsString>) -> ExitCode {
        let (parent, program) = (args.next().unwrap_or_default(), args.next().unwrap_or_default());
        let set = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
        if set.is_err() || parent != *std::os::unix::process::parent_id().to_string() {
            return ExitCode::FAILURE;
        }
        let error = Command::new(&program).args(args).exec();
        eprintln!("{}: {error}", program.to_string_lossy());
        ExitCode::from(127)
    }
}

#[cfg(not(target_os = "linux"))]
pub use elsewhere::*;

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use std::ffi::OsString;
    use std::io::Read as _;
    use std::process::ExitCode;

    /// The first argument of the process that becomes the agent.
    pub const EXEC: &str = "--exec";

    /// Ends this process when the input closes. It starts no other one here.
    pub fn end_with_input() {
        std::thread::spawn(|| {
            let mut rest = [0; 64];
            let mut input = std::io::stdin().lock();
            while input.read(&mut rest).is_ok_and(|read| read > 0) {}
            std::process::exit(1);
        });
    }

    /// It started nothing here.
    pub fn end() {}

    /// No agent is started here.
    pub fn exec(_: impl Iterator<Item = OsString>) -> ExitCode {
        ExitCode::FAILURE
    }
}
