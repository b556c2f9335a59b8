//! Gemini CLI. Its driver speaks the Agent Client Protocol ([`crate::acp`]).

pub mod launch;

use crate::Traits;

/// What Gemini CLI is.
pub const TRAITS: Traits = Traits {
    title: "Gemini",
    program: "gemini",
    folder: ".gemini",
    folder_variable: None,
    resume: "gemini --resume",
    takes_session_id: false,
    layout: None,
    hooks: None,
    writes_transcripts: false,
    expects_registry: |_, _| false,
    pid_variable: None,
    project_variable: None,
    without_dialogs: None,
    instructions: &["GEMINI.md"],
};
