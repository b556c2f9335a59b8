//! Claude Code.

pub mod driver;
pub mod launch;
pub mod layout;
pub mod process;
pub mod registry;
pub mod requests;

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
    instructions: &["CLAUDE.md", ".claude/CLAUDE.md"],
};
