//! Programs that show a session: one file each, with what it is asked.

mod ghostty;
mod gnome_terminal;
mod iterm2;
mod jetbrains;
mod kitty;
mod konsole;
mod plain;
mod program;
mod terminal_app;
mod tmux;
mod vscode;
mod warp;
mod wezterm;
mod windows_terminal;
mod zellij;

use crate::place::Place;

pub use program::{Entered, Plan, Program, Raise, Role, Stuck};
use program::{osascript, raise, window};

/// All of them. Where two share a process's name, the first one counts.
const ALL: &[&Program] = &[
    &tmux::PROGRAM,
    &zellij::PROGRAM,
    &kitty::PROGRAM,
    &wezterm::PROGRAM,
    &ghostty::PROGRAM,
    &iterm2::PROGRAM,
    &terminal_app::PROGRAM,
    &vscode::PROGRAM,
    &jetbrains::PROGRAM,
    &konsole::PROGRAM,
    &gnome_terminal::PROGRAM,
    &windows_terminal::PROGRAM,
    &warp::PROGRAM,
    &plain::SINGLE,
    &plain::TABBED,
];

/// The program that a process runs, by its short name.
pub fn by_process(name: &str) -> Option<&'static Program> {
    ALL.iter().copied().find(|program| program.processes.contains(&name))
}

/// The program that a terminal's variables name.
pub fn by_kind(kind: &str) -> Option<&'static Program> {
    ALL.iter().copied().find(|program| program.kind == kind).or((kind == "tty").then_some(&plain::UNKNOWN))
}

/// A terminal that nobody here knows.
pub const UNKNOWN: &Program = &plain::UNKNOWN;

/// What serves a connection from another machine.
const REMOTE: &[&str] =
    &["sshd", "sshd-session", "sshd-auth", "dropbear", "mosh-server", "et-server", "etterminal"];

/// The innermost program that shows a place. Variables are inherited by every program that is started from a
/// terminal, ancestors are not: where they are known, they decide.
pub fn program_of(place: &Place) -> Option<&'static Program> {
    let by_name = place.above.iter().skip(1).find_map(|process| by_process(&process.name));
    // An editor's extension may start the agent itself.
    by_name.or_else(|| by_kind(&place.terminal.kind))
}

/// Whether the terminal of a place is on another machine, at the near end of a connection to this one.
pub fn is_remote(place: &Place) -> bool {
    for process in &place.above {
        if REMOTE.contains(&process.name.as_str()) {
            return true;
        }
        if by_process(&process.name).is_some() {
            return false;
        }
    }
    place.text("SSH_TTY").is_some_and(|ssh| place.tty().is_some_and(|tty| tty == ssh))
}
