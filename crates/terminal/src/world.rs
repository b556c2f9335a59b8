//! What is asked of the system: programs to run, processes to look at, windows to raise.

use watchbill_core::hook::TerminalContext;

use crate::call::{Call, Ran};
use crate::windows::Window;

/// Kinds of systems, as far as terminals differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Platform {
    /// Linux and other systems with X11 or Wayland.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

impl Platform {
    /// The one that this program was built for.
    pub const fn own() -> Self {
        if cfg!(target_os = "macos") {
            Self::MacOs
        } else if cfg!(windows) {
            Self::Windows
        } else {
            Self::Linux
        }
    }
}

/// One process, as the system tells it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// The id of the process that started it; 0 when there is none.
    pub parent: u32,
    /// The program's short name.
    pub name: String,
    /// When it began, in the system's own words: tells it from another with the same id.
    pub start: String,
    /// The terminal device that controls it, such as `/dev/pts/4`.
    pub tty: Option<String>,
}

/// The system, or a recording of one.
pub trait World {
    /// Which kind of system it is.
    fn platform(&self) -> Platform;

    /// A variable of this program's own environment.
    fn variable(&self, name: &str) -> Option<String>;

    /// Runs a program to its end, for at most two seconds.
    fn run(&self, call: &Call) -> Ran;

    /// Looks at a process; `None` when there is none, or it cannot be seen.
    fn process(&self, pid: u32) -> Option<Process>;

    /// The terminal that a process's environment names, by the fixed list of names alone; nothing is kept.
    fn terminal_of(&self, pid: u32) -> Option<TerminalContext>;

    /// The processes of this person whose short name is `name`, with their arguments.
    fn named(&self, name: &str) -> Vec<(u32, Vec<String>)>;

    /// The windows on an X display, in stacking order, the topmost last; `None` when there is no such display.
    fn windows(&self, display: &str) -> Option<Vec<Window>>;

    /// The window in front on an X display.
    fn active(&self, display: &str) -> Option<u32>;

    /// Asks the window manager of an X display to bring a window to the front; whether it then was in front.
    fn activate(&self, display: &str, window: u32) -> bool;
}
