//! GNOME Terminal: the search provider that shows its tabs in GNOME's overview. A result has the name of a screen,
//! and its activation switches to the tab and presents its window (gnome-terminal since 3.10, with the setting
//! `shell-integration-enabled`).

use super::{FocusPlan, Program, Raise, Role, unknown_tab, window};
use crate::call::ProgramCall;
use crate::place::NestLevel;

/// The setting is off by default in Debian. The server reads it when it starts.
const SETTING: &str = "To let other programs choose GNOME Terminal's tabs, run `gsettings set \
                       org.gnome.Terminal.Legacy.Settings shell-integration-enabled true` and start it again.";

/// GNOME Terminal.
pub const PROGRAM: Program = Program {
    kind: "gnome_terminal",
    name: "GNOME Terminal",
    processes: &["gnome-terminal-", "gnome-terminal"],
    role: Role::Terminal { plan, shown: unknown_tab },
};

const PATH: &str = "/org/gnome/Terminal/SearchProvider";
const METHOD: &str = "org.gnome.Shell.SearchProvider2.ActivateResult";

fn plan(place: &NestLevel) -> FocusPlan {
    let raise = Raise::WithTab(window(place));
    let Some((service, screen)) = names(place) else {
        let lacking = "GNOME Terminal's tab is not known (GNOME_TERMINAL_SCREEN), so it cannot be chosen.";
        return FocusPlan::of_window(lacking, Raise::Window(window(place)));
    };
    let quoted = format!("'{screen}'");
    let gdbus = ["call", "--session", "--dest", service, "--object-path", PATH, "--method", METHOD, &quoted];
    let (destination, name) = (format!("--dest={service}"), format!("string:{screen}"));
    let send = ["--session", "--print-reply", "--reply-timeout=1500", &destination, PATH, METHOD, &name];
    FocusPlan {
        select: vec![
            ProgramCall::new("gdbus", gdbus.into_iter().chain(["@as []", "0"])),
            ProgramCall::new("dbus-send", send.into_iter().chain(["array:string:", "uint32:0"])),
        ],
        no_tab_reason: Some(SETTING.into()),
        raise,
    }
}

/// GNOME Terminal does not tell which of its tabs is visible.
/// The service and the screen's name. `/org/gnome/Terminal/screen/7d0f6e3c_…` has underscores for the name's hyphens.
fn names(place: &NestLevel) -> Option<(&str, String)> {
    let screen = place.id("GNOME_TERMINAL_SCREEN")?.strip_prefix("/org/gnome/Terminal/screen/")?;
    let is_name = screen.chars().all(|c| c.is_ascii_hexdigit() || c == '_' || c == '-');
    let service =
        place.id("GNOME_TERMINAL_SERVICE").filter(|name| name.starts_with([':', 'o']) && !name.contains('/'));
    is_name.then(|| (service.unwrap_or("org.gnome.Terminal"), screen.replace('_', "-")))
}
