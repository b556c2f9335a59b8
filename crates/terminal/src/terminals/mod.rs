//! Programs that show a session: one file each, with its plan.

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

use crate::place::NestLevel;

pub use program::{EnterResult, FocusFailure, FocusPlan, Form, Program, Raise, Role, Typing};
use program::{bracketed, osascript, raise, unknown_tab, window};

/// All programs. If two have the same process name, the first one counts.
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

/// The program of a process, by the process's short name.
pub fn by_process(name: &str) -> Option<&'static Program> {
    ALL.iter().copied().find(|program| program.processes.contains(&name))
}

/// The program that a terminal's variables name.
pub fn by_kind(kind: &str) -> Option<&'static Program> {
    ALL.iter().copied().find(|program| program.kind == kind).or((kind == "tty").then_some(&plain::UNKNOWN))
}

/// How a program takes keys from outside; `None` if it does not.
pub fn typing_of(program: &Program) -> Option<&'static Typing> {
    match program.kind {
        "tmux" => Some(&tmux::TYPING),
        "kitty" => Some(&kitty::TYPING),
        "wezterm" => Some(&wezterm::TYPING),
        _ => None,
    }
}

/// A terminal that is not in the list.
pub const UNKNOWN: &Program = &plain::UNKNOWN;

/// Programs that serve a connection from another machine.
const REMOTE: &[&str] =
    &["sshd", "sshd-session", "sshd-auth", "dropbear", "mosh-server", "et-server", "etterminal"];

/// The innermost program that shows a place. Every program started from a terminal inherits its variables, but not
/// its ancestors. So the ancestors decide if they are known.
pub fn program_of(place: &NestLevel) -> Option<&'static Program> {
    let by_name = place.above.iter().skip(1).find_map(|process| by_process(&process.name));
    // The session's own process is skipped, but an editor's extension may be its parent.
    by_name.or_else(|| by_kind(&place.terminal.kind))
}

/// Whether the terminal of a place is on another machine that is connected to this one.
pub fn is_remote(place: &NestLevel) -> bool {
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
