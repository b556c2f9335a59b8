//! Cursor CLI. [`records`] reads its transcripts.

pub mod hooks;
pub mod install;
pub mod layout;
pub mod records;

use crate::{HookTraits, Layout, OtherForm, Traits};

/// What Cursor CLI is.
pub const TRAITS: Traits = Traits {
    title: "Cursor",
    program: "cursor-agent",
    folder: ".cursor",
    folder_variable: Some(("CURSOR_CONFIG_DIR", "")),
    resume: "cursor-agent --resume",
    layout: &LAYOUT,
    hooks: Some(&HOOKS),
    ..Traits::OF_FILES
};

/// How Cursor runs hooks.
pub const HOOKS: HookTraits = HookTraits {
    alone_tell: Some("the beginnings and ends of turns"),
    parse: hooks::parse_payload,
    other_form: Some(&OtherForm {
        head: "\"version\" : 1",
        translate: hooks::translate,
        context_field: "additional_context",
    }),
    settings: install::SETTINGS,
    project_folder: ".cursor",
    managed_settings: Some(install::MANAGED_SETTINGS),
    events: install::EVENTS,
    context_events: install::CONTEXT_EVENTS,
    note: Some(
        "A version of Cursor that does not know one of these events (before 2026) leaves out the whole file.",
    ),
    ..HookTraits::OF_SETTINGS
};

/// How Cursor's files lie.
pub const LAYOUT: Layout = Layout {
    folders: layout::FOLDERS,
    classify: layout::classify,
    may_hold: layout::may_hold,
    find: layout::find,
    parse_line: records::parse_line,
    ..Layout::OF_FILES
};
