//! Kimi Code. [`records`] reads its wire files.

pub mod layout;
pub mod records;

use crate::{Layout, Traits};

/// What Kimi Code is.
pub const TRAITS: Traits = Traits {
    title: "Kimi",
    program: "kimi",
    folder: ".kimi-code",
    folder_variable: Some(("KIMI_CODE_HOME", "")),
    resume: "kimi --session",
    layout: &LAYOUT,
    ..Traits::OF_FILES
};

/// How Kimi's files lie.
pub const LAYOUT: Layout = Layout {
    folders: layout::FOLDERS,
    classify: layout::classify,
    may_hold: layout::may_hold,
    find: layout::find,
    parse_line: records::parse_line,
    ..Layout::OF_FILES
};
