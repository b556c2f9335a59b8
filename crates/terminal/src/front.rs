//! Whether the terminal of a session is what the person looks at.

use crate::focus::DEEPEST;
use crate::place::Place;
use crate::seat::Seat;
use crate::terminals::{Program, Role, is_remote, program_of};
use crate::windows;
use crate::world::{Platform, World};

/// Whether the tab or pane of a session shows in the window that is in front. `None` when it cannot be told: who asks in
/// order to be silent must not be, then.
///
/// Blocks for as long as the programs take that are asked, each two seconds at most.
pub fn in_front(seat: &Seat, world: &dyn World) -> Option<bool> {
    let place = Place::of(seat, world).ok()?;
    shows(&place, world, DEEPEST)
}

fn shows(place: &Place, world: &dyn World, depth: usize) -> Option<bool> {
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
            // No program needs to be asked about a tab in a window that is behind others.
            false => Some(false),
            true => shown(place, world),
        },
    }
}

/// Whether the window in front belongs to the terminal.
fn is_window_in_front(place: &Place, program: &Program, world: &dyn World) -> Option<bool> {
    if place.platform != Platform::Linux {
        // The scripts of these two tell both at once. Of any other there nobody says whether its window is in front.
        return matches!(program.kind, "iterm2" | "apple_terminal").then_some(true);
    }
    if windows::wayland::compositor(place, world).is_some() {
        return None;
    }
    let front = windows::in_front(place, world)?;
    // Which window is the session's is decided as for bringing it to the front: a terminal that was started from another
    // one may have inherited that one's WINDOWID, and who looks at the other one does not see the session.
    let all = world.windows(&windows::display(place, world)?)?;
    let hint = windows::Hint { id: place.number("WINDOWID"), ..Default::default() };
    match windows::choose(place, &hint, &all) {
        Some((id, windows::Raised::Right)) => Some(id == front.id),
        // One of several of the same process, in front of which may be another one. A tab that shows in its own window says
        // nothing then; WezTerm alone names the pane that has the keys among all its windows.
        Some((_, windows::Raised::Guessed)) if place.pids().any(|pid| front.pid == Some(pid)) => {
            (program.kind == "wezterm").then_some(true)
        }
        Some((_, windows::Raised::Guessed)) => Some(false),
        None => None,
    }
}
