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
    parse: hooks::parse_payload,
    other_form: Some(&OtherForm {
        head: "\"version\": 1",
        translate: hooks::translate,
        context_field: "additional_context",
    }),
    are_of_process: true,
    settings: install::SETTINGS,
    settings_folder: None,
    project_folder: ".cursor",
    plugin: None,
    local_settings: None,
    managed_settings: Some(install::MANAGED_SETTINGS),
    is_plain_json: true,
    second: 1,
    events: install::EVENTS,
    answer_event: None,
    answer_wait: None,
    takes_rules: false,
    context_events: install::CONTEXT_EVENTS,
    note: Some(
        "A version of Cursor that does not know one of these events (before 2026) leaves out the whole file.",
    ),
    trust: None,
};

/// How Cursor's files lie.
pub const LAYOUT: Layout = Layout {
    folders: layout::FOLDERS,
    classify: layout::classify,
    kind_of: layout::kind_of,
    may_hold: layout::may_hold,
    find: layout::find,
    parse_line: records::parse_line,
    ..Layout::OF_FILES
};
