//! WezTerm: `wezterm cli activate-pane` (wezterm.org/cli/cli/activate-pane), over the socket that the pane's
//! variables name.

use super::{Plan, Program, Role, raise};
use crate::call::Call;
use crate::place::NestLevel;
use crate::world::World;

/// WezTerm.
pub const PROGRAM: Program = Program {
    kind: "wezterm",
    name: "WezTerm",
    processes: &["wezterm-gui", "wezterm"],
    role: Role::Terminal { plan, shown },
};

fn plan(place: &NestLevel) -> Plan {
    let raise = raise(place, "WezTerm");
    match place.number("WEZTERM_PANE") {
        Some(pane) => {
            let pane = pane.to_string();
            let select = vec![cli(place, &["activate-pane", "--pane-id", &pane])];
            Plan { select, no_tab_reason: None, raise }
        }
        None => Plan {
            select: Vec::new(),
            no_tab_reason: Some("WezTerm's pane is not known (WEZTERM_PANE), so it cannot be chosen.".into()),
            raise,
        },
    }
}

fn shown(place: &NestLevel, world: &dyn World) -> Option<bool> {
    let pane = place.number("WEZTERM_PANE")?;
    let out = world.run(&cli(place, &["list-clients", "--format", "json"])).done()?;
    let clients: serde_json::Value = serde_json::from_str(&out).ok()?;
    Some(clients.as_array()?.iter().any(|client| client["focused_pane_id"] == pane))
}

fn cli(place: &NestLevel, args: &[&str]) -> Call {
    // Without this option the program would start a server of its own.
    let call = Call::new("wezterm", ["cli", "--no-auto-start"].into_iter().chain(args.iter().copied()));
    match place.path("WEZTERM_UNIX_SOCKET") {
        Some(socket) => call.env("WEZTERM_UNIX_SOCKET", socket),
        None => call,
    }
}
