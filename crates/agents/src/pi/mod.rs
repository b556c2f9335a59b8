//! pi, and Oh My Pi, whose sessions have the same form. [`records`] reads their lines.

pub mod hooks;
pub mod install;
pub mod layout;
pub mod records;

use crate::{HookTraits, Layout, Traits};

/// What pi is.
pub const TRAITS: Traits = Traits {
    title: "pi",
    program: "pi",
    folder: ".pi/agent",
    folder_variable: Some(("PI_CODING_AGENT_DIR", "")),
    resume: "pi --session",
    layout: &LAYOUT,
    hooks: Some(&HOOKS),
    ..Traits::OF_FILES
};

/// How pi runs hooks: by an extension of ours.
pub const HOOKS: HookTraits = HookTraits {
    alone_tell: Some("dialogs"),
    parse: hooks::parse_payload,
    settings: install::SETTINGS,
    project_folder: ".pi",
    plugin: Some(install::EXTENSION),
    events: install::EVENTS,
    note: Some(install::NOTE),
    ..HookTraits::OF_SETTINGS
};

/// How pi's files lie.
pub const LAYOUT: Layout = Layout {
    folders: layout::FOLDERS,
    classify: layout::classify,
    may_hold: layout::may_hold,
    find: layout::find,
    parse_line: records::parse_line,
    ..Layout::OF_FILES
};
