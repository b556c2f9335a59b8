//! WezTerm: `wezterm cli activate-pane` (wezterm.org/cli/cli/activate-pane), over the socket that the pane's
//! variables name.

use super::{FocusPlan, Form, Program, Role, Typing, bracketed, raise};
use crate::call::{CallResult, ProgramCall};
use crate::place::NestLevel;
use crate::world::World;

/// WezTerm.
pub const PROGRAM: Program = Program {
    kind: "wezterm",
    name: "WezTerm",
    processes: &["wezterm-gui", "wezterm"],
    role: Role::Terminal { plan, shown },
};

/// Keys go into a pane by `wezterm cli send-text` (wezterm.org/cli/cli/send-text). Untried with the real program.
pub const TYPING: Typing = Typing { takes, write, enter };

fn takes(place: &NestLevel, world: &dyn World) -> Result<(), String> {
    let pane = place.number("WEZTERM_PANE").ok_or("WezTerm's pane is not known (WEZTERM_PANE).")?;
    let listed = world.run(&cli(place, &["list", "--format", "json"]));
    let out = match listed {
        CallResult::Done(out) => out,
        other => return Err(format!("{}.", other.failure_text("wezterm"))),
    };
    let panes: serde_json::Value = serde_json::from_str(&out).unwrap_or_default();
    let mut panes = panes.as_array().into_iter().flatten();
    let shown = panes.find(|one| one["pane_id"] == pane).and_then(|one| one["tty_name"].as_str());
    let own = place.above.first().and_then(|process| process.tty.as_deref());
    match shown.is_some() && shown == own {
        true => Ok(()),
        false => Err("WezTerm's pane shows another terminal than the session's.".into()),
    }
}

fn write(place: &NestLevel, text: &str, form: Form) -> Vec<ProgramCall> {
    vec![send(place, &bracketed(text, form))]
}

fn enter(place: &NestLevel) -> ProgramCall {
    send(place, "\r")
}

fn send(place: &NestLevel, keys: &str) -> ProgramCall {
    let pane = place.number("WEZTERM_PANE").unwrap_or_default().to_string();
    cli(place, &["send-text", "--pane-id", &pane, "--no-paste"]).input(keys)
}

fn plan(place: &NestLevel) -> FocusPlan {
    let raise = raise(place, "WezTerm");
    match place.number("WEZTERM_PANE") {
        Some(pane) => {
            FocusPlan::of_tab(vec![cli(place, &["activate-pane", "--pane-id", &pane.to_string()])], raise)
        }
        None => {
            FocusPlan::of_window("WezTerm's pane is not known (WEZTERM_PANE), so it cannot be chosen.", raise)
        }
    }
}

fn shown(place: &NestLevel, world: &dyn World) -> Option<bool> {
    let pane = place.number("WEZTERM_PANE")?;
    let out = world.run(&cli(place, &["list-clients", "--format", "json"])).done()?;
    let clients: serde_json::Value = serde_json::from_str(&out).ok()?;
    Some(clients.as_array()?.iter().any(|client| client["focused_pane_id"] == pane))
}

fn cli(place: &NestLevel, args: &[&str]) -> ProgramCall {
    // Without this option the program would start a server of its own.
    let call =
        ProgramCall::new("wezterm", ["cli", "--no-auto-start"].into_iter().chain(args.iter().copied()));
    match place.path("WEZTERM_UNIX_SOCKET") {
        Some(socket) => call.env("WEZTERM_UNIX_SOCKET", socket),
        None => call,
    }
}
