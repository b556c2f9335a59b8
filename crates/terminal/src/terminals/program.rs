//! The description of a program that shows a session: its names, its requests and their results.

use crate::call::ProgramCall;
use crate::place::NestLevel;
use crate::windows::WindowHint;
use crate::world::{Platform, World};

/// A program that shows the programs that run in it.
#[derive(Debug)]
pub struct Program {
    /// Its value in [`TerminalContext::kind`](watchbill_core::hook::TerminalContext::kind).
    pub kind: &'static str,
    /// Its name for the user; empty if the process name is better.
    pub name: &'static str,
    /// The short names of its processes. Linux cuts them after 15 bytes.
    pub processes: &'static [&'static str],
    /// Its role.
    pub role: Role,
}

/// The role of a program in the nest of programs.
#[derive(Debug)]
pub enum Role {
    /// It runs within other terminals.
    Multiplexer {
        /// Brings the pane to the front and finds the client that shows it.
        enter: fn(&NestLevel, &dyn World) -> EnterResult,
        /// The places of the clients that show the pane, empty if none does; `None` if that is unknown.
        shown: fn(&NestLevel, &dyn World) -> Option<Vec<NestLevel>>,
    },
    /// It has windows.
    Terminal {
        /// Plans the requests to it.
        plan: fn(&NestLevel) -> FocusPlan,
        /// Whether its window shows the tab; `None` if that is unknown.
        shown: fn(&NestLevel, &dyn World) -> Option<bool>,
    },
}

/// The requests to a terminal, in this order, made from facts alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FocusPlan {
    /// Bring the tab to the front in its window. All calls do the same; the first one whose program exists is run.
    pub select: Vec<ProgramCall>,
    /// Why the tab cannot be chosen, as a sentence; `None` for windows without tabs. If `select` has calls: what the
    /// user can do when they are refused.
    pub no_tab_reason: Option<String>,
    /// Brings the window to the front.
    pub raise: Raise,
}

impl FocusPlan {
    /// The tab can be chosen.
    pub(super) fn of_tab(select: Vec<ProgramCall>, raise: Raise) -> Self {
        Self { select, no_tab_reason: None, raise }
    }

    /// Only the window can be brought to the front.
    pub(super) fn of_window(no_tab_reason: &str, raise: Raise) -> Self {
        Self { select: Vec::new(), no_tab_reason: Some(no_tab_reason.to_owned()), raise }
    }
}

/// For programs that do not tell which tab their window shows.
pub(super) fn unknown_tab(_: &NestLevel, _: &dyn World) -> Option<bool> {
    None
}

/// How to bring a window to the front.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Raise {
    /// By the desktop.
    Window(WindowHint),
    /// The terminal raises it with the tab, if the desktop allows that; otherwise by the desktop.
    WithTab(WindowHint),
    /// By the first of these calls whose program exists.
    Calls(Vec<ProgramCall>),
    /// `select` raises it too, and no program can tell whether that worked.
    Select,
}

/// How a program puts keys into one of its panes. Every call names the pane by its exact id.
#[derive(Debug)]
pub struct Typing {
    /// Whether the pane shows the session's process and passes keys on to it alone. The error is the reason, a sentence.
    pub takes: fn(&NestLevel, &dyn World) -> Result<(), String>,
    /// The calls that write a text, as keys or as a paste, at least one. They are run in order, and the last one writes.
    pub write: fn(&NestLevel, &str, Form) -> Vec<ProgramCall>,
    /// The call that presses Enter.
    pub enter: fn(&NestLevel) -> ProgramCall,
}

/// How a text goes into a pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As keys.
    Keys,
    /// As one bracketed paste: line feeds in it are text.
    Paste,
}

/// The text with the brackets of a paste (xterm's control sequences, "Bracketed Paste Mode").
pub(super) fn bracketed(text: &str, form: Form) -> String {
    match form {
        Form::Keys => text.to_owned(),
        Form::Paste => format!("\u{1b}[200~{text}\u{1b}[201~"),
    }
}

/// The result of a request to a multiplexer.
#[derive(Debug)]
pub struct EnterResult {
    /// Why the pane could not be brought to the front, as a sentence.
    pub missed: Option<String>,
    /// The place of the client that shows it.
    pub outer: Result<NestLevel, FocusFailure>,
}

/// The way outwards ends here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FocusFailure {
    /// Why, as a sentence.
    pub why: String,
    /// A shell command that shows the session.
    pub attach: Option<String>,
}

/// The hint that every place gives.
pub(super) fn window(place: &NestLevel) -> WindowHint {
    WindowHint { id: place.number("WINDOWID"), ..WindowHint::default() }
}

/// How to raise the window of a terminal whose own request for a tab does not raise it.
pub(super) fn raise(place: &NestLevel, mac_application: &str) -> Raise {
    match place.platform {
        Platform::MacOs => Raise::Calls(vec![ProgramCall::new("open", ["-a", mac_application])]),
        _ => Raise::Window(window(place)),
    }
}

/// An AppleScript with arguments. Values never become part of the script.
pub(super) fn osascript(script: &str, args: &[&str]) -> ProgramCall {
    ProgramCall::new("osascript", ["-e", script].into_iter().chain(args.iter().copied()))
}
