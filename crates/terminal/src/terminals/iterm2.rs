//! iTerm2: AppleScript by the session's unique id, the end of `ITERM_SESSION_ID`, or else by its device
//! (iterm2.com/documentation-scripting.html). macOS asks the user once for the permission.

use super::{FocusPlan, Program, Raise, Role, osascript};
use crate::call::ProgramCall;
use crate::place::NestLevel;
use crate::world::World;

/// iTerm2.
pub const PROGRAM: Program = Program {
    kind: "iterm2",
    name: "iTerm2",
    processes: &["iTerm2", "iTerm"],
    role: Role::Terminal { plan, shown },
};

const SCRIPT: &str = r#"on run argv
  tell application "iTerm2"
    repeat with w in windows
      repeat with t in tabs of w
        repeat with s in sessions of t
          if (unique id of s is (item 1 of argv)) or (tty of s is (item 2 of argv)) then
            select w
            select t
            select s
            activate
            return
          end if
        end repeat
      end repeat
    end repeat
    error "no session of iTerm2 has this device"
  end tell
end run"#;

const SHOWN: &str = r#"on run argv
  tell application "iTerm2"
    if not frontmost then return "no"
    set s to current session of current tab of current window
    if (unique id of s is (item 1 of argv)) or (tty of s is (item 2 of argv)) then return "yes"
    return "no"
  end tell
end run"#;

fn plan(place: &NestLevel) -> FocusPlan {
    match names(place) {
        Some((id, tty)) => FocusPlan::of_tab(vec![osascript(SCRIPT, &[id, tty])], Raise::Select),
        None => FocusPlan::of_window(
            "Neither the device nor the id of iTerm2's session is known.",
            Raise::Calls(vec![ProgramCall::new("open", ["-a", "iTerm"])]),
        ),
    }
}

fn shown(place: &NestLevel, world: &dyn World) -> Option<bool> {
    let (id, tty) = names(place)?;
    let out = world.run(&osascript(SHOWN, &[id, tty])).done()?;
    Some(out.trim() == "yes")
}

/// The unique id and the device. A missing one is `none`, which matches nothing.
fn names(place: &NestLevel) -> Option<(&str, &str)> {
    let id = place.id("ITERM_SESSION_ID").and_then(|id| id.rsplit(':').next());
    (id.is_some() || place.tty().is_some()).then(|| (id.unwrap_or("none"), place.tty().unwrap_or("none")))
}
