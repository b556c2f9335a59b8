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
pub mod supplement;

use crate::Traits;

/// What Claude Code is.
pub const TRAITS: Traits = Traits {
    title: "Claude Code",
    program: "claude",
    folder: ".claude",
    folder_variable: Some("CLAUDE_CONFIG_DIR"),
    resume: "claude --resume",
    takes_session_id: true,
    writes_transcripts: true,
    // Seen in 2.1.329.
    pid_variable: Some("CLAUDE_PID"),
    project_variable: Some("CLAUDE_PROJECT_DIR"),
    // `sdk-cli`, `sdk-ts`; seen in 2.1.329.
    without_dialogs: Some(("CLAUDE_CODE_ENTRYPOINT", "sdk")),
    instructions: &["CLAUDE.md", ".claude/CLAUDE.md"],
};
