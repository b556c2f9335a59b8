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
    takes_session_id: false,
    terminal_takes_session_id: false,
    layout: &LAYOUT,
    hooks: Some(&HOOKS),
    writes_transcripts: false,
    // The first version in which the locks were measured. The version is the one that began the session.
    expects_registry: |version, _| is_since(version, (0, 169, 0)),
    pid_variable: None,
    project_variable: None,
    without_dialogs: None,
    instructions: &["AGENTS.md"],
};

/// How Codex runs hooks.
pub const HOOKS: HookTraits = HookTraits {
    parse: hooks::parse_payload,
    other_form: None,
    are_of_process: false,
    settings: install::SETTINGS,
    settings_folder: None,
    project_folder: ".codex",
    plugin: None,
    local_settings: None,
    managed_settings: None,
    is_plain_json: true,
    second: 1,
    events: install::EVENTS,
    answer_event: Some(&install::ANSWER_EVENT),
    answer_wait: Some(install::ANSWER_WAIT),
    takes_rules: false,
    context_events: &[],
    note: None,
    trust: Some(&install::TRUST),
};

/// How Codex's files lie.
pub const LAYOUT: Layout = Layout {
    folders: layout::FOLDERS,
    registry: Some(layout::LOCKS),
    lock_of: Some(layout::lock_of),
    server: Some(&status::SERVER),
    database: None,
    names: Some(&names::NAMES),
    classify: layout::classify,
    kind_of: layout::kind_of,
    may_hold: |_| true,
    may_miss: |_| false,
    is_copy: |_| false,
    find: layout::find,
    name_of: |id| id,
    working_folder: |_| None,
    names_projects: false,
    removes_old: false,
    parse_line: records::parse_line,
};
