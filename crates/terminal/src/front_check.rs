//! Whether the user looks at the terminal of a session.

use crate::focus::MAX_NESTING;
use crate::place::NestLevel;
use crate::session_location::SessionLocation;
use crate::terminals::{Program, Role, is_remote, program_of};
use crate::windows;
use crate::world::{Platform, World};

/// Whether the window in front shows the tab or pane of a session. `None` if that is unknown: a caller that wants to
/// know whether it can stay silent must then not be silent.
///
/// Blocks until all called programs have answered, at most two seconds for each.
pub fn in_front(session_location: &SessionLocation, world: &dyn World) -> Option<bool> {
    let place = NestLevel::of(session_location, world).ok()?;
    shows(&place, world, MAX_NESTING)
}

fn shows(place: &NestLevel, world: &dyn World, depth: usize) -> Option<bool> {
    if depth == 0 || is_remote(place) {
        return None;
    }
    let program = program_of(place)?;
    match &program.role {
        Role::Multiplexer { shown, .. } => {
            let clients = shown(place, world)?;
            let answers: Vec<_> = clients.iter().map(|client| shows(client, world, depth - 1)).collect();
            match answers.contains(&Some(true)) {
                true => Some(true),
                false if answers.contains(&None) => None,
                false => Some(false),
            }
        }
        Role::Terminal { shown, .. } => match is_window_in_front(place, program, world)? {
            // A tab in a window behind others is not visible, so no program is called.
            false => Some(false),
            true => shown(place, world),
        },
    }
}

/// Whether the window in front belongs to the terminal.
fn is_window_in_front(place: &NestLevel, program: &Program, world: &dyn World) -> Option<bool> {
    if place.platform != Platform::Linux {
        // The scripts for these two check window and tab together. For any other terminal there, the window in front
        // is unknown.
        return matches!(program.kind, "iterm2" | "apple_terminal").then_some(true);
    }
    if windows::wayland::compositor(place, world).is_some() {
        return None;
    }
    let front = windows::in_front(place, world)?;
    // The session's window is chosen as for raising it. A terminal started from another one may have inherited that
    // one's WINDOWID, and a user who looks at the other terminal does not see the session.
    let all = world.windows(&windows::display(place, world)?)?;
    let hint = windows::WindowHint { id: place.number("WINDOWID"), ..Default::default() };
    match windows::choose(place, &hint, &all) {
        Some((id, windows::Raised::ExactWindow)) => Some(id == front.id),
        // One of several windows of the same process, and another of them may be in front. A tab that its own window
        // shows then proves nothing. Only WezTerm names the pane with the keyboard focus among all its windows.
        Some((_, windows::Raised::Guessed)) if place.pids().any(|pid| front.pid == Some(pid)) => {
            (program.kind == "wezterm").then_some(true)
        }
        Some((_, windows::Raised::Guessed)) => Some(false),
        None => None,
    }
}
