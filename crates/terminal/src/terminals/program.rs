//! What a program that shows a session is asked, and what it may answer.

use crate::call::Call;
use crate::place::Place;
use crate::windows::Hint;
use crate::world::{Platform, World};

/// A program that shows what runs in it.
#[derive(Debug)]
pub struct Program {
    /// Its word in [`TerminalContext::kind`](watchbill_core::hook::TerminalContext::kind).
    pub kind: &'static str,
    /// Its name for the person; empty where the process says more.
    pub name: &'static str,
    /// The short names of its processes. Linux cuts them after 15 bytes.
    pub processes: &'static [&'static str],
    /// What it is.
    pub role: Role,
}

/// What a program is in the nest of programs.
#[derive(Debug)]
pub enum Role {
    /// It runs within other terminals.
    Multiplexer {
        /// Brings the pane to the front and finds who shows it.
        enter: fn(&Place, &dyn World) -> Entered,
        /// Whether the pane is the one shown, and the places of the clients that show it; `None` when it cannot be told.
        shown: fn(&Place, &dyn World) -> Option<Vec<Place>>,
    },
    /// It has windows.
    Terminal {
        /// What it is asked.
        plan: fn(&Place) -> Plan,
        /// Whether the tab is the one that shows in its window; `None` when that cannot be told.
        shown: fn(&Place, &dyn World) -> Option<bool>,
    },
}

/// What a terminal is asked, in this order. Facts alone make it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Brings the tab to the front in its window. They all do the same: the first whose program is there is run.
    pub select: Vec<Call>,
    /// Why the tab cannot be chosen, as a sentence; `None` where a window has no tabs. Where there is something in `select`:
    /// what the person can do when that is refused.
    pub lacking: Option<String>,
    /// Brings the window to the front.
    pub raise: Raise,
}

/// How a window comes to the front.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Raise {
    /// The desktop is asked for it.
    Window(Hint),
    /// The terminal has done it with the tab, where the desktop lets it; where not, the desktop is asked.
    WithTab(Hint),
    /// These do it: the first whose program is there is run.
    Calls(Vec<Call>),
    /// `select` has done it, and nobody can be asked whether it did.
    Select,
}

/// What became of a multiplexer.
#[derive(Debug)]
pub struct Entered {
    /// Why the pane could not be brought to the front, as a sentence.
    pub missed: Option<String>,
    /// Where the client that shows it runs.
    pub outer: Result<Place, Stuck>,
}

/// The way outwards ends here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stuck {
    /// Why, as a sentence.
    pub why: String,
    /// A line for a shell that shows the session.
    pub attach: Option<String>,
}

/// The hint that every terminal gives.
pub(super) fn window(place: &Place) -> Hint {
    Hint { id: place.number("WINDOWID"), ..Hint::default() }
}

/// Raising for terminals whose own request for a tab leaves the window where it is.
pub(super) fn raise(place: &Place, mac_application: &str) -> Raise {
    match place.platform {
        Platform::MacOs => Raise::Calls(vec![Call::new("open", ["-a", mac_application])]),
        _ => Raise::Window(window(place)),
    }
}

/// A script of AppleScript with arguments: values never become part of the script.
pub(super) fn osascript(script: &str, args: &[&str]) -> Call {
    Call::new("osascript", ["-e", script].into_iter().chain(args.iter().copied()))
}
