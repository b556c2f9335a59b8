//! Claude Code.

pub mod driver;
pub mod hooks;
pub mod install;
pub mod launch;
pub mod layout;
pub mod private_events;
pub mod records;
pub mod registry;
pub mod reported;
pub mod requests;
pub mod rules;
pub mod status_line;
pub mod supplement;

use crate::{HookTraits, Layout, Traits};

/// What Claude Code is.
pub const TRAITS: Traits = Traits {
    title: "Claude Code",
    program: "claude",
    folder: ".claude",
    folder_variable: Some(("CLAUDE_CONFIG_DIR", "")),
    resume: "claude --resume",
    // Measured in 2.1.329: `--resume` of a background session that runs only names this command.
    attach: "claude attach",
    takes_session_id: true,
    terminal_takes_session_id: true,
    layout: &LAYOUT,
    hooks: Some(&HOOKS),
    transcript_follows_hooks: false,
    writes_transcripts: true,
    expects_registry: registry::expects_registry,
    // Seen in 2.1.329.
    pid_variable: Some("CLAUDE_PID"),
    project_variable: Some("CLAUDE_PROJECT_DIR"),
    // `sdk-cli`, `sdk-ts`; seen in 2.1.329.
    without_dialogs: Some(("CLAUDE_CODE_ENTRYPOINT", "sdk")),
    program_starts: &["sdk"],
    allow_rule: rules::allow_rule,
    instructions: &["CLAUDE.md", ".claude/CLAUDE.md"],
};

/// How Claude Code runs hooks.
pub const HOOKS: HookTraits = HookTraits {
    parse: hooks::parse_payload,
    settings: install::SETTINGS,
    project_folder: ".claude",
    local_settings: Some(install::LOCAL_SETTINGS),
    managed_settings: Some(install::MANAGED_SETTINGS),
    is_plain_json: false,
    events: install::EVENTS,
    answer_event: Some(&install::ANSWER_EVENT),
    takes_rules: true,
    takes_choices: true,
    context_events: install::CONTEXT_EVENTS,
    status_line: Some(status_line::SETTING),
    ..HookTraits::OF_SETTINGS
};

/// How Claude Code's files lie.
pub const LAYOUT: Layout = Layout {
    folders: layout::FOLDERS,
    registry: Some(layout::REGISTRY),
    classify: layout::classify,
    kind_of: Some(layout::kind_of),
    may_hold: layout::may_hold,
    may_miss: layout::may_miss,
    is_copy: layout::is_copy,
    find: layout::find,
    names_projects: true,
    removes_old: true,
    parse_line: records::parse_line,
    ..Layout::OF_FILES
};
