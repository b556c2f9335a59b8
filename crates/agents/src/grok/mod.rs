//! Grok Build.

use crate::Traits;

/// What Grok Build is.
pub const TRAITS: Traits = Traits {
    title: "Grok",
    program: "grok",
    folder: ".grok",
    folder_variable: Some(("GROK_HOME", "")),
    resume: "grok --resume",
    ..Traits::OF_FILES
};
