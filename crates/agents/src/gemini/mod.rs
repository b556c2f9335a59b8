//! Gemini CLI. Its driver speaks the Agent Client Protocol ([`crate::acp`]).

pub mod launch;

use crate::Traits;

/// What Gemini CLI is.
pub const TRAITS: Traits = Traits {
    title: "Gemini",
    program: "gemini",
    folder: ".gemini",
    resume: "gemini --resume",
    layout: None,
    instructions: &["GEMINI.md"],
    ..Traits::OF_FILES
};
