//! Copilot CLI.

pub mod layout;
pub mod records;

use crate::{Layout, Traits};

/// What Copilot CLI is.
pub const TRAITS: Traits = Traits {
    title: "Copilot",
    program: "copilot",
    folder: ".copilot",
    folder_variable: Some(("COPILOT_HOME", "")),
    resume: "copilot --resume=",
    layout: &LAYOUT,
    ..Traits::OF_FILES
};

/// How Copilot's files lie.
pub const LAYOUT: Layout = Layout {
    folders: layout::FOLDERS,
    classify: layout::classify,
    may_hold: layout::may_hold,
    find: layout::find,
    parse_line: records::parse_line,
    ..Layout::OF_FILES
};
