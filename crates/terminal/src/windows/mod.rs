//! Windows of a desktop: lists them, chooses the one of a place, and brings it to the front.

pub mod wayland;
#[cfg(all(unix, not(target_os = "macos")))]
pub mod x11;
/// There is no X server on these systems.
#[cfg(not(all(unix, not(target_os = "macos"))))]
pub mod x11 {
    use super::Window;

    /// No windows are known.
    pub fn windows(_display: &str) -> Option<Vec<Window>> {
        None
    }

    /// The window in front is unknown.
    pub fn active(_display: &str) -> Option<u32> {
        None
    }

    /// Nothing is brought to the front.
    pub fn activate(_display: &str, _window: u32) -> bool {
        false
    }
}

mod window;

use crate::place::NestLevel;
use crate::world::World;

pub use window::{Raised, Window, WindowHint};

/// Brings the window of a place to the front, on any desktop.
///
/// # Errors
/// When that is not possible. The text is the reason, as a sentence.
pub fn raise(place: &NestLevel, hint: &WindowHint, world: &dyn World) -> Result<Raised, String> {
    if let Some(compositor) = wayland::compositor(place, world) {
        let done = wayland::raise(compositor, place, hint, world);
        // Under Wayland, X11 programs have a display of their own.
        return done.or_else(|why| on_x11(place, hint, world).map_err(|_| why));
    }
    on_x11(place, hint, world)
}

fn on_x11(place: &NestLevel, hint: &WindowHint, world: &dyn World) -> Result<Raised, String> {
    let Some(display) = display(place, world) else {
        return Err("No screen is known: neither DISPLAY nor WAYLAND_DISPLAY is set.".into());
    };
    let Some(windows) = world.windows(&display) else {
        return Err(format!("The display {display} does not answer, or has no window manager."));
    };
    let Some((window, raised)) = choose(place, hint, &windows) else {
        return Err("No window on this screen belongs to the session's terminal.".into());
    };
    match world.activate(&display, window) {
        true => Ok(raised),
        false => Err("The window manager did not bring the terminal's window to the front.".into()),
    }
}

/// The display of a place: its own, or else this program's.
pub fn display(place: &NestLevel, world: &dyn World) -> Option<String> {
    let own = || world.variable("DISPLAY").filter(|display| is_display(display));
    place.word("DISPLAY").filter(|display| is_display(display)).map(str::to_owned).or_else(own)
}

/// Whether the text is a display of this machine: `:0`, `:1.0`.
fn is_display(text: &str) -> bool {
    text.strip_prefix(':').is_some_and(|rest| {
        !rest.is_empty() && rest.len() < 8 && rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    })
}

/// The window that shows a place. `windows` are in stacking order, the topmost last.
pub fn choose(place: &NestLevel, hint: &WindowHint, windows: &[Window]) -> Option<(u32, Raised)> {
    let named = windows.iter().find(|window| Some(window.id) == hint.id);
    let above: Vec<u32> = place.pids().chain(hint.pid).collect();
    for pid in &above {
        let its: Vec<&Window> = windows.iter().filter(|window| window.pid == Some(*pid)).collect();
        if its.is_empty() {
            continue;
        }
        let by_id = named.filter(|named| named.pid == Some(*pid));
        // If two windows have these words, the words do not help: the title of `api-docs` contains `api` too.
        let by_title = || {
            let the_one = |words: &String| {
                let mut holding = its.iter().filter(|window| window.title.contains(words.as_str()));
                holding.next().filter(|_| holding.next().is_none())
            };
            hint.titles.iter().find_map(the_one).copied()
        };
        let alone = || (its.len() == 1).then(|| its[0]);
        return match by_id.or_else(alone).or_else(by_title) {
            Some(right) => Some((right.id, Raised::ExactWindow)),
            None => its.last().map(|top| (top.id, Raised::Guessed)),
        };
    }
    // The named window counts only if it names no process, or if the place's processes are unknown.
    let believed = named.filter(|named| named.pid.is_none() || above.is_empty())?;
    Some((believed.id, Raised::ExactWindow))
}

/// The window in front on the display of a place; `None` if there is none, or if it is unknown.
pub fn in_front(place: &NestLevel, world: &dyn World) -> Option<Window> {
    let display = display(place, world)?;
    let front = world.active(&display)?;
    world.windows(&display)?.into_iter().find(|window| window.id == front)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{Platform, Process};

    fn place(pids: &[u32]) -> NestLevel {
        let above = pids.iter().map(|pid| Process { pid: *pid, ..Process::default() }).collect();
        NestLevel { platform: Platform::Linux, terminal: Default::default(), above, cwd: None }
    }

    fn windows(list: &[(u32, Option<u32>, &str)]) -> Vec<Window> {
        list.iter().map(|(id, pid, title)| Window { id: *id, pid: *pid, title: (*title).into() }).collect()
    }

    #[test]
    fn an_inherited_window_id_counts_only_if_its_process_is_an_ancestor() {
        let all = windows(&[(0xa, Some(7), "outer"), (0xb, Some(5), "one"), (0xc, Some(5), "two")]);
        let with = |id| WindowHint { id: Some(id), ..WindowHint::default() };
        // 5 is a terminal started from 7's window, and has inherited that window's id.
        let inner = place(&[9, 8, 5, 7, 1]);
        assert_eq!(choose(&inner, &with(0xb), &all), Some((0xb, Raised::ExactWindow)));
        assert_eq!(choose(&inner, &with(0xa), &all), Some((0xc, Raised::Guessed)));
        assert_eq!(choose(&place(&[9, 7]), &with(0xb), &all), Some((0xa, Raised::ExactWindow)));
        assert_eq!(choose(&place(&[9]), &with(0xb), &all), None, "a window of another program");
        assert_eq!(
            choose(&place(&[]), &with(0xb), &all),
            Some((0xb, Raised::ExactWindow)),
            "nothing else is known"
        );
    }

    #[test]
    fn the_title_chooses_among_an_editors_windows() {
        let all = windows(&[(1, Some(5), "main.rs - api-server"), (2, Some(5), "notes"), (3, None, "panel")]);
        let hint = |titles: &[&str]| WindowHint {
            titles: titles.iter().map(|title| (*title).to_owned()).collect(),
            ..WindowHint::default()
        };
        let at = place(&[9, 5]);
        assert_eq!(choose(&at, &hint(&["crates", "api-server"]), &all), Some((1, Raised::ExactWindow)));
        assert_eq!(choose(&at, &hint(&["elsewhere"]), &all), Some((2, Raised::Guessed)));
        let alike = windows(&[(1, Some(5), "x - api"), (2, Some(5), "y - api-docs"), (3, None, "panel")]);
        assert_eq!(choose(&at, &hint(&["api"]), &alike), Some((2, Raised::Guessed)), "which of both?");
        assert_eq!(choose(&at, &hint(&["api", "api-docs"]), &alike), Some((2, Raised::ExactWindow)));
        assert_eq!(choose(&place(&[4]), &hint(&["api-server"]), &all), None);
    }

    #[test]
    fn only_displays_of_this_machine_are_displays() {
        let good = [":0", ":12", ":1.0"];
        let bad = ["", ":", "host:0", "localhost:10.0", ":0;x", ":x", "tcp/host:0"];
        assert!(good.iter().all(|text| is_display(text)) && !bad.iter().any(|text| is_display(text)));
    }
}
