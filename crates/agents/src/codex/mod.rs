//! Codex CLI.

pub mod driver;
pub mod launch;
pub mod records;

use crate::Traits;

/// What Codex CLI is.
pub const TRAITS: Traits = Traits {
    title: "Codex",
    program: "codex",
    folder: ".codex",
    folder_variable: Some("CODEX_HOME"),
    resume: "codex resume",
    takes_session_id: false,
    writes_transcripts: false,
    pid_variable: None,
    project_variable: None,
    without_dialogs: None,
    instructions: &["AGENTS.md"],
};
