//! Gemini CLI. Its driver speaks the Agent Client Protocol ([`crate::acp`]); [`records`] reads the chats of its terminals.

pub mod hooks;
pub mod install;
pub mod launch;
pub mod layout;
pub mod records;

use crate::{HookTraits, Layout, Traits};

/// What Gemini CLI is.
pub const TRAITS: Traits = Traits {
    title: "Gemini",
    program: "gemini",
    folder: ".gemini",
    folder_variable: Some(("GEMINI_CLI_HOME", ".gemini")),
    resume: "gemini --resume",
    terminal_takes_session_id: true,
    layout: &LAYOUT,
    hooks: Some(&HOOKS),
    instructions: &["GEMINI.md"],
    ..Traits::OF_FILES
};

/// How Gemini runs hooks.
pub const HOOKS: HookTraits = HookTraits {
    alone_tell: Some("requests, questions and the ends of turns"),
    parse: hooks::parse_payload,
    settings: install::SETTINGS,
    project_folder: ".gemini",
    managed_settings: Some(install::MANAGED_SETTINGS),
    is_plain_json: false,
    second: 1_000,
    events: install::EVENTS,
    context_events: install::CONTEXT_EVENTS,
    ..HookTraits::OF_SETTINGS
};

/// How Gemini's files lie.
pub const LAYOUT: Layout = Layout {
    folders: layout::FOLDERS,
    classify: layout::classify,
    may_hold: layout::may_hold,
    find: layout::find,
    name_of: layout::short,
    working_folder: layout::working_folder,
    removes_old: true,
    parse_line: records::parse_line,
    ..Layout::OF_FILES
};
