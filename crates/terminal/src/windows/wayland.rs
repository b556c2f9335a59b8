//! Raising windows under Wayland. Some compositors have a program that focuses a window by its process. Without one,
//! only the terminal itself may ask, and is mostly refused.

use super::{Raised, WindowHint};
use crate::call::{CallResult, ProgramCall};
use crate::place::NestLevel;
use crate::world::World;

/// A Wayland desktop, identified by the environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compositor {
    /// Sway.
    Sway,
    /// Hyprland.
    Hyprland,
    /// Niri.
    Niri,
    /// KDE Plasma.
    Plasma,
    /// GNOME.
    Gnome,
    /// Any other.
    Other,
}

/// The compositor that shows a place; `None` without Wayland.
pub fn compositor(place: &NestLevel, world: &dyn World) -> Option<Compositor> {
    let variable = |name: &str| place.word(name).map(str::to_owned).or_else(|| world.variable(name));
    variable("WAYLAND_DISPLAY")?;
    if variable("SWAYSOCK").is_some() {
        return Some(Compositor::Sway);
    }
    if variable("HYPRLAND_INSTANCE_SIGNATURE").is_some() {
        return Some(Compositor::Hyprland);
    }
    if variable("NIRI_SOCKET").is_some() {
        return Some(Compositor::Niri);
    }
    let desktop = world.variable("XDG_CURRENT_DESKTOP").unwrap_or_default().to_lowercase();
    Some(match desktop {
        desktop if desktop.contains("gnome") => Compositor::Gnome,
        desktop if desktop.contains("kde") => Compositor::Plasma,
        _ => Compositor::Other,
    })
}

/// Brings the window of a place to the front through the compositor.
///
/// # Errors
/// When that is not possible. The text is the reason, as a sentence.
pub fn raise(
    compositor: Compositor,
    place: &NestLevel,
    hint: &WindowHint,
    world: &dyn World,
) -> Result<Raised, String> {
    let pids: Vec<u32> = place.pids().chain(hint.pid).collect();
    let with = |call: ProgramCall| {
        [("SWAYSOCK", "SWAYSOCK"), ("NIRI_SOCKET", "NIRI_SOCKET")]
            .into_iter()
            .filter_map(|(name, variable)| Some((variable, place.path(name)?)))
            .fold(call, |call, (name, value)| call.env(name, value))
    };
    let mut trouble = None;
    for pid in pids {
        let done = match compositor {
            Compositor::Sway => {
                ask(world, with(sway(pid)), &mut trouble).is_some_and(|out| sway_succeeded(&out))
            }
            Compositor::Hyprland => {
                let signature = place.id("HYPRLAND_INSTANCE_SIGNATURE");
                ask(world, hyprland(pid, signature), &mut trouble).is_some_and(|out| out.trim() == "ok")
            }
            Compositor::Niri => {
                let list = ProgramCall::new("niri", ["msg", "--json", "windows"]);
                let window = ask(world, with(list), &mut trouble).and_then(|out| niri_window(&out, pid));
                window.is_some_and(|id| ask(world, with(niri(id)), &mut trouble).is_some())
            }
            Compositor::Plasma => ask(world, plasma(pid), &mut trouble).is_some(),
            Compositor::Gnome => {
                return Err("GNOME on Wayland does not let one program raise another's window.".into());
            }
            Compositor::Other => {
                return Err("This Wayland desktop does not let one program raise another's window.".into());
            }
        };
        if done {
            return Ok(Raised::ExactWindow);
        }
        // A missing or hanging program will not answer for the next process either.
        if matches!(trouble, Some((_, true))) {
            break;
        }
    }
    Err(match trouble {
        Some((why, true)) => format!("The window could not be raised: {why}."),
        _ => "No window on this screen belongs to the session's terminal.".into(),
    })
}

/// Runs a call. Notes why it failed, and whether another call would fail too.
fn ask(world: &dyn World, call: ProgramCall, trouble: &mut Option<(String, bool)>) -> Option<String> {
    let ran = world.run(&call);
    match ran {
        CallResult::Done(out) => Some(out),
        other => {
            *trouble = Some((other.failure_text(&call.program), !matches!(other, CallResult::Failed(_))));
            None
        }
    }
}

fn sway(pid: u32) -> ProgramCall {
    ProgramCall::new("swaymsg", [format!("[pid={pid}] focus").as_str()])
}

/// `swaymsg` prints a list of results, without a success if nothing matched.
fn sway_succeeded(out: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(out)
        .ok()
        .and_then(|value| Some(!value.as_array()?.is_empty() && value[0]["success"] == true))
        .unwrap_or(out.trim().is_empty())
}

fn hyprland(pid: u32, signature: Option<&str>) -> ProgramCall {
    let call = ProgramCall::new("hyprctl", ["dispatch", "focuswindow", format!("pid:{pid}").as_str()]);
    signature.map(|signature| call.clone().env("HYPRLAND_INSTANCE_SIGNATURE", signature)).unwrap_or(call)
}

fn niri(id: u64) -> ProgramCall {
    ProgramCall::new("niri", ["msg", "action", "focus-window", "--id", id.to_string().as_str()])
}

fn niri_window(out: &str, pid: u32) -> Option<u64> {
    let windows: serde_json::Value = serde_json::from_str(out).ok()?;
    let window = windows.as_array()?.iter().find(|window| window["pid"] == pid)?;
    window["id"].as_u64()
}

/// `kdotool` is not part of Plasma. If it is installed, it does what `xdotool` does on X11.
fn plasma(pid: u32) -> ProgramCall {
    ProgramCall::new("kdotool", ["search", "--pid", pid.to_string().as_str(), "windowactivate"])
}
