//! The queries and requests to the system: programs to run, processes to read, windows to raise.

use watchbill_core::hook::TerminalContext;
pub use watchbill_platform::process::Process;

use crate::call::{CallResult, ProgramCall};
use crate::windows::Window;

/// Kinds of systems between which terminals differ.
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
    /// The system for which this program was built.
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

/// The system, or a recording of one.
pub trait World {
    /// The kind of this system.
    fn platform(&self) -> Platform;

    /// A variable of this program's own environment.
    fn variable(&self, name: &str) -> Option<String>;

    /// Runs a program to its end, for at most two seconds.
    fn run(&self, call: &ProgramCall) -> CallResult;

    /// Reads a process; `None` if there is none, or if it is hidden.
    fn process(&self, pid: u32) -> Option<Process>;

    /// The terminal in a process's environment, by a fixed list of variable names. No other value is kept.
    fn terminal_of(&self, pid: u32) -> Option<TerminalContext>;

    /// The user's processes with the short name `name`, with their arguments.
    fn named(&self, name: &str) -> Vec<(u32, Vec<String>)>;

    /// The windows on an X display, in stacking order, the topmost last; `None` if there is no such display.
    fn windows(&self, display: &str) -> Option<Vec<Window>>;

    /// The window in front on an X display.
    fn active(&self, display: &str) -> Option<u32>;

    /// Asks the window manager of an X display to bring a window to the front. Returns whether it then was in front.
    fn activate(&self, display: &str, window: u32) -> bool;
}
