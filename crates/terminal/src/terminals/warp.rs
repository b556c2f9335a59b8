//! Warp: it gives each pane an address, and opening the address brings the pane to the front.

use super::{FocusPlan, Program, Raise, Role, raise, unknown_tab};
use crate::call::ProgramCall;
use crate::place::NestLevel;
use crate::world::Platform;

/// Warp.
pub const PROGRAM: Program = Program {
    kind: "warp",
    name: "Warp",
    processes: &["warp", "warp-terminal", "Warp"],
    role: Role::Terminal { plan, shown: unknown_tab },
};

fn plan(place: &NestLevel) -> FocusPlan {
    let Some(address) = address(place) else {
        return FocusPlan::of_window(
            "Warp has not named the pane (WARP_FOCUS_URL); versions since May 2026 do.",
            raise(place, "Warp"),
        );
    };
    let select = match place.platform {
        Platform::MacOs => ProgramCall::new("open", [address]),
        Platform::Linux => ProgramCall::new("xdg-open", [address]),
        Platform::Windows => ProgramCall::new("explorer.exe", [address]),
    };
    FocusPlan::of_tab(vec![select], Raise::Select)
}

/// An address of Warp's own scheme that cannot lead elsewhere.
fn address(place: &NestLevel) -> Option<&str> {
    let address = place.word("WARP_FOCUS_URL")?;
    let allowed = |c: char| c.is_ascii_alphanumeric() || "_-./?=&:".contains(c);
    let scheme = address.split_once("://")?.0;
    (matches!(scheme, "warp" | "warppreview" | "warpdev") && address.chars().all(allowed)).then_some(address)
}
