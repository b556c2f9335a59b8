//! Cursor CLI. [`records`] reads its transcripts.

pub mod layout;
pub mod records;

use crate::{Layout, Traits};

/// What Cursor CLI is.
pub const TRAITS: Traits = Traits {
    title: "Cursor",
    program: "cursor-agent",
    folder: ".cursor",
    folder_variable: Some(("CURSOR_CONFIG_DIR", "")),
    resume: "cursor-agent --resume",
    takes_session_id: false,
    layout: Some(&LAYOUT),
    hooks: None,
    writes_transcripts: false,
    expects_registry: |_, _| false,
    pid_variable: None,
    project_variable: None,
    without_dialogs: None,
    instructions: &["AGENTS.md"],
};

/// How Cursor's files lie.
pub const LAYOUT: Layout = Layout {
    folders: layout::FOLDERS,
    registry: None,
    lock_of: None,
    server: None,
    database: None,
    names: None,
    classify: layout::classify,
    kind_of: layout::kind_of,
    may_hold: layout::may_hold,
    may_miss: |_| false,
    is_copy: |_| false,
    find: layout::find,
    names_projects: false,
    removes_old: false,
    parse_line: records::parse_line,
};
