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
    parse: hooks::parse_payload,
    other_form: None,
    are_of_process: true,
    settings: install::SETTINGS,
    settings_folder: None,
    project_folder: ".pi",
    plugin: Some(install::EXTENSION),
    local_settings: None,
    managed_settings: None,
    is_plain_json: true,
    second: 1,
    events: install::EVENTS,
    answer_event: None,
    answer_wait: None,
    takes_rules: false,
    context_events: &[],
    note: Some(install::NOTE),
    trust: None,
};

/// How pi's files lie.
pub const LAYOUT: Layout = Layout {
    folders: layout::FOLDERS,
    classify: layout::classify,
    kind_of: layout::kind_of,
    may_hold: layout::may_hold,
    find: layout::find,
    parse_line: records::parse_line,
    ..Layout::OF_FILES
};
