//! Codex CLI.

pub mod driver;
pub mod hooks;
pub mod install;
pub mod launch;
pub mod layout;
pub mod names;
pub mod records;
pub mod status;

use crate::traits::is_since;
use crate::{HookTraits, Layout, Traits};

/// What Codex CLI is.
pub const TRAITS: Traits = Traits {
    title: "Codex",
    program: "codex",
    folder: ".codex",
    folder_variable: Some(("CODEX_HOME", "")),
    resume: "codex resume",
    layout: &LAYOUT,
    hooks: Some(&HOOKS),
    // The first version in which the locks were measured. The version is the one that began the session.
    expects_registry: |version, _| is_since(version, (0, 169, 0)),
    program_starts: &["exec", "mcp"],
    ..Traits::OF_FILES
};

/// How Codex runs hooks.
pub const HOOKS: HookTraits = HookTraits {
    parse: hooks::parse_payload,
    are_of_process: false,
    settings: install::SETTINGS,
    project_folder: ".codex",
    events: install::EVENTS,
    answer_event: Some(&install::ANSWER_EVENT),
    answer_wait: Some(install::ANSWER_WAIT),
    trust: Some(&install::TRUST),
    ..HookTraits::OF_SETTINGS
};

/// How Codex's files lie.
pub const LAYOUT: Layout = Layout {
    folders: layout::FOLDERS,
    registry: Some(layout::LOCKS),
    lock_of: Some(layout::lock_of),
    server: Some(&status::SERVER),
    names: Some(&names::NAMES),
    classify: layout::classify,
    find: layout::find,
    parse_line: records::parse_line,
    ..Layout::OF_FILES
};
