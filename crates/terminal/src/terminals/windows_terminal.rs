//! Windows Terminal: only its window, because it has no way to choose a tab from outside (microsoft/terminal#19783).

use super::{FocusPlan, Program, Raise, Role, unknown_tab};
use crate::call::ProgramCall;
use crate::place::NestLevel;

/// Windows Terminal.
pub const PROGRAM: Program = Program {
    kind: "windows_terminal",
    name: "Windows Terminal",
    processes: &["WindowsTerminal.exe", "WindowsTerminal"],
    role: Role::Terminal { plan, shown: unknown_tab },
};

/// No outside value becomes part of the script.
const SCRIPT: &str = "$t = Get-Process WindowsTerminal -ErrorAction Stop | Select-Object -First 1; \
    if (-not (New-Object -ComObject WScript.Shell).AppActivate($t.Id)) { exit 1 }";

fn plan(_: &NestLevel) -> FocusPlan {
    let powershell =
        ProgramCall::new("powershell.exe", ["-NoProfile", "-NonInteractive", "-Command", SCRIPT]);
    let lacking = "Windows Terminal has no way to choose a tab from outside.";
    FocusPlan::of_window(lacking, Raise::Calls(vec![powershell]))
}
