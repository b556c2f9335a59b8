//! Terminal.app of macOS: AppleScript by the tab's device. macOS asks the user once for the permission.

use super::{FocusPlan, Program, Raise, Role, osascript};
use crate::call::ProgramCall;
use crate::place::NestLevel;
use crate::world::World;

/// Terminal.app.
pub const PROGRAM: Program = Program {
    kind: "apple_terminal",
    name: "Terminal",
    processes: &["Terminal"],
    role: Role::Terminal { plan, shown },
};

const SCRIPT: &str = r#"on run argv
  tell application "Terminal"
    repeat with w in windows
      repeat with t in tabs of w
        if tty of t is (item 1 of argv) then
          set selected of t to true
          set index of w to 1
          activate
          return
        end if
      end repeat
    end repeat
    error "no tab of Terminal has this device"
  end tell
end run"#;

const SHOWN: &str = r#"on run argv
  tell application "Terminal"
    if not frontmost then return "no"
    if tty of selected tab of front window is (item 1 of argv) then return "yes"
    return "no"
  end tell
end run"#;

fn plan(place: &NestLevel) -> FocusPlan {
    match place.tty() {
        Some(tty) => FocusPlan::of_tab(vec![osascript(SCRIPT, &[tty])], Raise::Select),
        None => FocusPlan::of_window(
            "The device of the tab is not known.",
            Raise::Calls(vec![ProgramCall::new("open", ["-a", "Terminal"])]),
        ),
    }
}

fn shown(place: &NestLevel, world: &dyn World) -> Option<bool> {
    let out = world.run(&osascript(SHOWN, &[place.tty()?])).done()?;
    Some(out.trim() == "yes")
}
