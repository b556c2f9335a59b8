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
    layout: &LAYOUT,
    ..Traits::OF_FILES
};

/// How Cursor's files lie.
pub const LAYOUT: Layout = Layout {
    folders: layout::FOLDERS,
    classify: layout::classify,
    may_hold: layout::may_hold,
    find: layout::find,
    parse_line: records::parse_line,
    ..Layout::OF_FILES
};
