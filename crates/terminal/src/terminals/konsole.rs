//! Konsole: its D-Bus interface. Konsole gives the names to every process that runs in it (docs.kde.org, Konsole,
//! Scripting).

use super::{FocusPlan, Program, Raise, Role, window};
use crate::call::ProgramCall;
use crate::place::{NestLevel, number};
use crate::world::World;

/// Konsole.
pub const PROGRAM: Program = Program {
    kind: "konsole",
    name: "Konsole",
    processes: &["konsole"],
    role: Role::Terminal { plan, shown },
};

fn plan(place: &NestLevel) -> FocusPlan {
    let raise = Raise::Window(window(place));
    let Some((service, path, session)) = names(place) else {
        let lacking = "Konsole's session is not known (KONSOLE_DBUS_SESSION), so its tab cannot be chosen.";
        return FocusPlan::of_window(lacking, raise);
    };
    let id = session.to_string();
    FocusPlan::of_tab(calls(service, path, "setCurrentSession", Some(&id)), raise)
}

fn shown(place: &NestLevel, world: &dyn World) -> Option<bool> {
    let (service, path, session) = names(place)?;
    let calls = calls(service, path, "currentSession", None);
    let out = calls.iter().find_map(|call| world.run(call).done())?;
    // `(3,)`, `int32 3`, `3`: each program prints the number in its own form, at the end.
    let digits = out.trim().trim_end_matches([',', ')']);
    let current = digits.rsplit(|c: char| !c.is_ascii_digit()).next().and_then(number)?;
    Some(current == session)
}

/// The service, the window's path, the session's number. Versions before 20.12 did not name the window; it is mostly
/// the first.
fn names(place: &NestLevel) -> Option<(&str, &str, u32)> {
    let service = place
        .id("KONSOLE_DBUS_SERVICE")
        .filter(|name| name.starts_with([':', 'o']) && !name.contains('/'))?;
    let window = match place.id("KONSOLE_DBUS_WINDOW") {
        Some(window) => window.strip_prefix("/Windows/").and_then(number).map(|_| window)?,
        None => "/Windows/1",
    };
    let session = place.id("KONSOLE_DBUS_SESSION")?.strip_prefix("/Sessions/").and_then(number)?;
    Some((service, window, session))
}

/// One method of the window, for each program that can call it.
fn calls(service: &str, path: &str, method: &str, number: Option<&str>) -> Vec<ProgramCall> {
    let name = format!("org.kde.konsole.Window.{method}");
    let gdbus = ["call", "--session", "--dest", service, "--object-path", path, "--method", &name];
    let typed = number.map(|number| format!("int32:{number}"));
    let destination = format!("--dest={service}");
    let send = ["--session", "--print-reply", "--reply-timeout=1500", &destination, path, &name];
    vec![
        ProgramCall::new("gdbus", gdbus.into_iter().chain(number)),
        ProgramCall::new("dbus-send", send.into_iter().chain(typed.as_deref())),
        ProgramCall::new("qdbus", [service, path, &name].into_iter().chain(number)),
    ]
}
