//! Zellij: `action focus-pane-id` (zellij.dev/documentation/cli-actions, 0.44 and later) in the session that the
//! pane's variables name. It does not tell where its clients run, so this file looks for them among the processes.

use super::{EnterResult, FocusFailure, Program, Role};
use crate::call::{CallResult, ProgramCall};
use crate::place::NestLevel;
use crate::world::World;
use watchbill_agents::resume::quoted;

/// Zellij.
pub const PROGRAM: Program = Program {
    kind: "zellij",
    name: "Zellij",
    processes: &["zellij"],
    role: Role::Multiplexer { enter, shown },
};

fn enter(place: &NestLevel, world: &dyn World) -> EnterResult {
    let missed = match focus(place) {
        None => Some("Zellij's session or pane is not known, so it cannot be chosen.".to_owned()),
        Some(call) => match world.run(&call) {
            CallResult::Done(_) => None,
            CallResult::Failed(error_text)
                if error_text.contains("unrecognized") || error_text.contains("wasn't recognized") =>
            {
                Some("This Zellij cannot choose a pane by its id; 0.44 can.".to_owned())
            }
            other => Some(format!("The pane could not be chosen: {}.", other.failure_text("zellij"))),
        },
    };
    let stuck = |why: String, attach| EnterResult { missed: None, outer: Err(FocusFailure { why, attach }) };
    let attach = place.word("ZELLIJ_SESSION_NAME").map(|name| format!("zellij attach {}", quoted(name)));
    let clients = clients(place, world);
    match clients.as_slice() {
        [] => stuck("No terminal shows the Zellij session.".into(), attach),
        [pid] => match place.of_client(*pid, None, world) {
            Some(outer) => EnterResult { missed, outer: Ok(outer) },
            None => stuck("The process that shows the Zellij session cannot be read.".into(), None),
        },
        _ => stuck(
            "Several terminals show Zellij, and it does not tell which shows this session.".into(),
            None,
        ),
    }
}

/// Zellij does not tell which pane is visible.
fn shown(_: &NestLevel, _: &dyn World) -> Option<Vec<NestLevel>> {
    None
}

fn focus(place: &NestLevel) -> Option<ProgramCall> {
    let pane = format!("terminal_{}", place.number("ZELLIJ_PANE_ID")?);
    Some(ProgramCall::new(
        "zellij",
        ["--session", place.word("ZELLIJ_SESSION_NAME")?, "action", "focus-pane-id", &pane],
    ))
}

/// Clients with the session's name on their command line, or else those without any session's name.
fn clients(place: &NestLevel, world: &dyn World) -> Vec<u32> {
    let name = place.word("ZELLIJ_SESSION_NAME").unwrap_or_default();
    let all = world.named("zellij");
    let all = all.iter().filter(|(_, args)| !args.iter().any(|arg| arg == "--server" || arg == "action"));
    let (named, unnamed): (Vec<_>, Vec<_>) =
        all.partition(|(_, args)| args.iter().skip(1).any(|arg| arg == name));
    let names_another = |args: &[String]| {
        args.iter().skip(1).any(|arg| matches!(arg.as_str(), "attach" | "a" | "-s" | "--session"))
    };
    let chosen: Vec<u32> = named.iter().map(|(pid, _)| *pid).collect();
    if !chosen.is_empty() {
        return chosen;
    }
    let free = |(pid, args): &(u32, Vec<String>)| (!names_another(args) || args.len() == 2).then_some(*pid);
    unnamed.into_iter().filter_map(free).collect()
}
