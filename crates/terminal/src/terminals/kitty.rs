//! kitty: `kitten @ focus-window` (remote control; sw.kovidgoyal.net/kitty/remote-control), if kitty listens.

use super::{FocusPlan, Form, Program, Raise, Role, Typing, bracketed, raise, window};
use crate::call::{CallResult, ProgramCall};
use crate::place::NestLevel;
use crate::windows::WindowHint;
use crate::world::{Platform, World};

/// kitty.
pub const PROGRAM: Program =
    Program { kind: "kitty", name: "kitty", processes: &["kitty"], role: Role::Terminal { plan, shown } };

/// Keys go into a window by `kitty @ send-text` (sw.kovidgoyal.net/kitty/remote-control), which leaves them as they are.
pub const TYPING: Typing = Typing { takes, write, enter };

fn takes(place: &NestLevel, world: &dyn World) -> Result<(), String> {
    let Some((address, id)) = listens(place).zip(id(place)) else {
        return Err(
            "kitty does not listen for requests (`allow_remote_control` and `listen_on` in kitty.conf)."
                .into(),
        );
    };
    let out = match world.run(&ProgramCall::new("kitty", ["@", "--to", address, "ls"])) {
        CallResult::Done(out) => out,
        other => return Err(format!("{}.", other.failure_text("kitty"))),
    };
    match place.above.first().is_some_and(|process| runs_in_front(&out, id, process.pid)) {
        true => Ok(()),
        false => Err("kitty's window shows another program than the session's.".into()),
    }
}

/// Whether a process is in the foreground of window `id`.
fn runs_in_front(ls: &str, id: u32, pid: u32) -> bool {
    let all: serde_json::Value = serde_json::from_str(ls).unwrap_or_default();
    let tabs = all.as_array().into_iter().flatten().filter_map(|window| window["tabs"].as_array()).flatten();
    let mut windows = tabs.filter_map(|tab| tab["windows"].as_array()).flatten();
    let shown = windows
        .find(|window| window["id"] == id)
        .and_then(|window| window["foreground_processes"].as_array());
    shown.into_iter().flatten().any(|process| process["pid"] == pid)
}

fn write(place: &NestLevel, text: &str, form: Form) -> Vec<ProgramCall> {
    vec![send(place, &bracketed(text, form))]
}

fn enter(place: &NestLevel) -> ProgramCall {
    send(place, "\r")
}

fn send(place: &NestLevel, keys: &str) -> ProgramCall {
    let window = format!("id:{}", id(place).unwrap_or_default());
    let address = listens(place).unwrap_or_default();
    ProgramCall::new("kitty", ["@", "--to", address, "send-text", "--match", &window, "--stdin"]).input(keys)
}

fn plan(place: &NestLevel) -> FocusPlan {
    let hint = WindowHint { pid: place.number("KITTY_PID"), ..window(place) };
    let Some((address, id)) = listens(place).zip(id(place)) else {
        let lacking = "kitty does not listen for requests (`allow_remote_control` and `listen_on` in kitty.conf), so \
                       its tab cannot be chosen.";
        let raise = match place.platform {
            Platform::Linux => Raise::Window(hint),
            _ => raise(place, "kitty"),
        };
        return FocusPlan::of_window(lacking, raise);
    };
    let matched = format!("id:{id}");
    let focus =
        |program| ProgramCall::new(program, ["@", "--to", address, "focus-window", "--match", &matched]);
    let raise = match place.platform {
        Platform::Linux => Raise::WithTab(hint),
        _ => raise(place, "kitty"),
    };
    // Before 0.27 there was no `kitten`.
    FocusPlan::of_tab(vec![focus("kitten"), focus("kitty")], raise)
}

fn shown(place: &NestLevel, world: &dyn World) -> Option<bool> {
    let (address, id) = listens(place).zip(id(place))?;
    let ls = |program| world.run(&ProgramCall::new(program, ["@", "--to", address, "ls"])).done();
    is_shown(&ls("kitten").or_else(|| ls("kitty"))?, id)
}

/// Whether window `id` is the active one of its tab, and its tab the active one of the system window.
fn is_shown(ls: &str, id: u32) -> Option<bool> {
    let all: serde_json::Value = serde_json::from_str(ls).ok()?;
    for tab in all.as_array()?.iter().filter_map(|window| window["tabs"].as_array()).flatten() {
        if let Some(window) = tab["windows"].as_array()?.iter().find(|window| window["id"] == id) {
            // `is_active` is newer than the window's `is_focused`, which is false in a window behind others.
            let active = window["is_active"].as_bool().or(window["is_focused"].as_bool())?;
            return Some(active && (tab["is_active"].as_bool().or(tab["is_focused"].as_bool())?));
        }
    }
    None
}

fn id(place: &NestLevel) -> Option<u32> {
    place.number("KITTY_WINDOW_ID")
}

/// The address on which kitty listens. Only sockets of this machine are used.
fn listens(place: &NestLevel) -> Option<&str> {
    place.id("KITTY_LISTEN_ON").filter(|address| address.starts_with("unix:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shown_tab_is_found_in_the_output_of_ls() {
        let ls = r#"[{"id":1,"is_focused":true,"tabs":[
            {"id":1,"is_focused":false,"windows":[{"id":1,"is_focused":true}]},
            {"id":2,"is_focused":true,"windows":[{"id":2,"is_focused":true},{"id":3,"is_focused":false}]}]}]"#;
        assert_eq!([1, 2, 3, 4].map(|id| is_shown(ls, id)), [Some(false), Some(true), Some(false), None]);
        assert_eq!(is_shown("no JSON", 1), None);
    }
}
