//! Copilot CLI.

pub mod hooks;
pub mod layout;
pub mod records;

use crate::{HookTraits, Layout, Traits};

/// What Copilot CLI is.
pub const TRAITS: Traits = Traits {
    title: "Copilot",
    program: "copilot",
    folder: ".copilot",
    folder_variable: Some(("COPILOT_HOME", "")),
    resume: "copilot --resume=",
    layout: &LAYOUT,
    hooks: Some(&HOOKS),
    transcript_follows_hooks: true,
    pid_variable: Some("COPILOT_LOADER_PID"),
    ..Traits::OF_FILES
};

/// How Copilot runs hooks.
pub const HOOKS: HookTraits = HookTraits {
    parse: hooks::parse_payload,
    settings: hooks::SETTINGS,
    project_folder: ".github",
    events: hooks::EVENTS,
    ..HookTraits::OF_SETTINGS
};

/// How Copilot's files lie.
pub const LAYOUT: Layout = Layout {
    folders: layout::FOLDERS,
    classify: layout::classify,
    may_hold: layout::may_hold,
    find: layout::find,
    parse_line: records::parse_line,
    ..Layout::OF_FILES
};
