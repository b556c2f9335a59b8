//! Terminals within VS Code and its relatives: only the window, because no request from outside chooses a terminal.

use super::{FocusPlan, Program, Raise, Role, unknown_tab, window};
use crate::call::ProgramCall;
use crate::place::NestLevel;
use crate::windows::WindowHint;
use crate::world::Platform;

/// VS Code, Cursor, VSCodium, Windsurf.
pub const PROGRAM: Program = Program {
    kind: "vscode",
    name: "VS Code",
    processes: &[
        "code",
        "code-insiders",
        "codium",
        "cursor",
        "windsurf",
        "Code",
        "Cursor",
        "Windsurf",
        "VSCodium",
    ],
    role: Role::Terminal { plan, shown: unknown_tab },
};

fn plan(place: &NestLevel) -> FocusPlan {
    let raise = match place.platform {
        // One process has all the windows. A title contains the name of the open folder.
        Platform::Linux => Raise::Window(WindowHint {
            pid: place.number("VSCODE_PID"),
            titles: folders(place),
            ..window(place)
        }),
        Platform::MacOs => Raise::Calls(vec![ProgramCall::new("open", ["-a", mac_name(place)])]),
        // The program passes the folder to the window that has it open.
        Platform::Windows => Raise::Calls(
            place.folder().map(|folder| ProgramCall::new("code.cmd", [folder])).into_iter().collect(),
        ),
    };
    let lacking = "Editors do not let another program choose one of their terminals.";
    FocusPlan::of_window(lacking, raise)
}

/// The names of the folder and the folders above it, innermost first. Any of them may be the open one.
pub fn folders(place: &NestLevel) -> Vec<String> {
    let names = place.folder().unwrap_or_default().rsplit('/').filter(|name| name.len() > 1);
    // The user's own name in `/home/…` may be in any title.
    let names: Vec<String> = names.map(str::to_owned).collect();
    let most = names.len().saturating_sub(2).max(1);
    names.into_iter().take(most).collect()
}

fn mac_name(place: &NestLevel) -> &'static str {
    let runs = |name: &str| place.above.iter().any(|process| process.name.starts_with(name));
    match () {
        () if runs("Cursor") => "Cursor",
        () if runs("Windsurf") => "Windsurf",
        () if runs("VSCodium") => "VSCodium",
        () => "Visual Studio Code",
    }
}
