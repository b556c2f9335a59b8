//! Warp: it gives each pane an address, and opening the address brings the pane to the front.

use super::{FocusPlan, Program, Raise, Role, raise};
use crate::call::ProgramCall;
use crate::place::NestLevel;
use crate::world::{Platform, World};

/// Warp.
pub const PROGRAM: Program = Program {
    kind: "warp",
    name: "Warp",
    processes: &["warp", "warp-terminal", "Warp"],
    role: Role::Terminal { plan, shown },
};

fn plan(place: &NestLevel) -> FocusPlan {
    let Some(address) = address(place) else {
        return FocusPlan {
            select: Vec::new(),
            no_tab_reason: Some(
                "Warp has not named the pane (WARP_FOCUS_URL); versions since May 2026 do.".into(),
            ),
            raise: raise(place, "Warp"),
        };
    };
    let select = match place.platform {
        Platform::MacOs => ProgramCall::new("open", [address]),
        Platform::Linux => ProgramCall::new("xdg-open", [address]),
        Platform::Windows => ProgramCall::new("explorer.exe", [address]),
    };
    FocusPlan { select: vec![select], no_tab_reason: None, raise: Raise::Select }
}

fn shown(_: &NestLevel, _: &dyn World) -> Option<bool> {
    None
}

/// An address of Warp's own scheme that cannot lead elsewhere.
fn address(place: &NestLevel) -> Option<&str> {
    let address = place.word("WARP_FOCUS_URL")?;
    let allowed = |c: char| c.is_ascii_alphanumeric() || "_-./?=&:".contains(c);
    let scheme = address.split_once("://")?.0;
    (matches!(scheme, "warp" | "warppreview" | "warpdev") && address.chars().all(allowed)).then_some(address)
}
