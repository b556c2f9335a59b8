//! Qwen Code. [`records`] reads its chats.

pub mod layout;
pub mod records;

use crate::{Layout, Traits};

/// What Qwen Code is.
pub const TRAITS: Traits = Traits {
    title: "Qwen",
    program: "qwen",
    folder: ".qwen",
    folder_variable: Some(("QWEN_HOME", "")),
    resume: "qwen --resume",
    layout: &LAYOUT,
    ..Traits::OF_FILES
};

/// How Qwen's files lie.
pub const LAYOUT: Layout = Layout {
    folders: layout::FOLDERS,
    classify: layout::classify,
    may_hold: layout::may_hold,
    find: layout::find,
    parse_line: records::parse_line,
    ..Layout::OF_FILES
};
