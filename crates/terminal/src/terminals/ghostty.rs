//! Ghostty: AppleScript on macOS since 1.3, by the folder, because no variable names a tab; elsewhere only its
//! window.

use super::{FocusPlan, Program, Raise, Role, osascript, unknown_tab, window};
use crate::call::ProgramCall;
use crate::place::NestLevel;
use crate::windows::WindowHint;
use crate::world::Platform;

/// Ghostty.
pub const PROGRAM: Program = Program {
    kind: "ghostty",
    name: "Ghostty",
    processes: &["ghostty", ".ghostty-wrappe", "Ghostty"],
    role: Role::Terminal { plan, shown: unknown_tab },
};

/// If several terminals are in the folder, the right one is unknown.
const SCRIPT: &str = r#"on run argv
  tell application "Ghostty"
    set found to every terminal whose working directory is (item 1 of argv)
    if (count of found) is not 1 then error "several tabs, or none, are in this folder"
    focus (item 1 of found)
    activate
  end tell
end run"#;

fn plan(place: &NestLevel) -> FocusPlan {
    match (place.platform, place.folder()) {
        (Platform::MacOs, Some(folder)) => FocusPlan::of_tab(
            vec![osascript(SCRIPT, &[folder])],
            Raise::Calls(vec![ProgramCall::new("open", ["-a", "Ghostty"])]),
        ),
        (Platform::MacOs, None) => FocusPlan::of_window(
            "Ghostty finds its tabs by their folder, and the session's is not known.",
            Raise::Calls(vec![ProgramCall::new("open", ["-a", "Ghostty"])]),
        ),
        _ => FocusPlan::of_window(
            "Ghostty has no way to choose a tab on this system.",
            Raise::Window(WindowHint { titles: folder_names(place), ..window(place) }),
        ),
    }
}

/// The folder's name, which shells write into titles.
fn folder_names(place: &NestLevel) -> Vec<String> {
    let name = place.folder().and_then(|folder| folder.rsplit('/').find(|name| !name.is_empty()));
    name.map(str::to_owned).into_iter().collect()
}
