//! Terminals that take no requests: only the desktop can raise their windows.

use super::{FocusPlan, Program, Raise, Role, unknown_tab, window};
use crate::place::NestLevel;
use crate::world::World;

/// Terminals without tabs, so that the window is enough.
pub const SINGLE: Program = Program {
    kind: "single",
    name: "",
    processes: &[
        "xterm",
        "uxterm",
        "alacritty",
        "foot",
        "footclient",
        "st",
        "urxvt",
        "urxvtd",
        "rxvt",
        "mlterm",
        "zutty",
        "cool-retro-te",
    ],
    role: Role::Terminal { plan: whole, shown: always },
};

/// Terminals with tabs that no other program can choose.
pub const TABBED: Program = Program {
    kind: "tabbed",
    name: "",
    processes: &[
        "xfce4-terminal",
        "mate-terminal",
        "lxterminal",
        "qterminal",
        "tilix",
        "terminator",
        "kgx",
        "ptyxis",
        "ptyxis-agent",
        "yakuake",
        "guake",
        "deepin-terminal",
        "io.elementary.t",
        "rio",
        "tabby",
    ],
    role: Role::Terminal { plan: tabbed, shown: unknown_tab },
};

/// Terminals that are not in the list.
pub const UNKNOWN: Program = Program {
    kind: "tty",
    name: "",
    processes: &[],
    role: Role::Terminal { plan: unknown, shown: unknown_tab },
};

fn whole(place: &NestLevel) -> FocusPlan {
    FocusPlan { select: Vec::new(), no_tab_reason: None, raise: Raise::Window(window(place)) }
}

fn tabbed(place: &NestLevel) -> FocusPlan {
    let lacking = "This terminal does not let another program choose one of its tabs.";
    FocusPlan::of_window(lacking, Raise::Window(window(place)))
}

fn unknown(place: &NestLevel) -> FocusPlan {
    FocusPlan::of_window("It is not known whether this terminal has tabs.", Raise::Window(window(place)))
}

fn always(_: &NestLevel, _: &dyn World) -> Option<bool> {
    Some(true)
}
