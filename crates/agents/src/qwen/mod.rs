//! Qwen Code.

use crate::Traits;

/// What Qwen Code is.
pub const TRAITS: Traits = Traits {
    title: "Qwen",
    program: "qwen",
    folder: ".qwen",
    folder_variable: Some(("QWEN_HOME", "")),
    resume: "qwen --resume",
    ..Traits::OF_FILES
};
