//! Windows Terminal: only its window, because it has no way to choose a tab from outside (microsoft/terminal#19783).

use super::{FocusPlan, Program, Raise, Role};
use crate::call::ProgramCall;
use crate::place::NestLevel;
use crate::world::World;

/// Windows Terminal.
pub const PROGRAM: Program = Program {
    kind: "windows_terminal",
    name: "Windows Terminal",
    processes: &["WindowsTerminal.exe", "WindowsTerminal"],
    role: Role::Terminal { plan, shown },
};

/// No outside value becomes part of the script.
const SCRIPT: &str = "$t = Get-Process WindowsTerminal -ErrorAction Stop | Select-Object -First 1; \
    if (-not (New-Object -ComObject WScript.Shell).AppActivate($t.Id)) { exit 1 }";

fn plan(_: &NestLevel) -> FocusPlan {
    let powershell =
        ProgramCall::new("powershell.exe", ["-NoProfile", "-NonInteractive", "-Command", SCRIPT]);
    let lacking = "Windows Terminal has no way to choose a tab from outside.";
    FocusPlan {
        select: Vec::new(),
        no_tab_reason: Some(lacking.into()),
        raise: Raise::Calls(vec![powershell]),
    }
}

fn shown(_: &NestLevel, _: &dyn World) -> Option<bool> {
    None
}
