//! Grok Build. [`records`] reads the updates and the events of its sessions.

pub mod layout;
pub mod records;

use crate::{Layout, Traits};

/// What Grok Build is.
pub const TRAITS: Traits = Traits {
    title: "Grok",
    program: "grok",
    folder: ".grok",
    folder_variable: Some(("GROK_HOME", "")),
    resume: "grok --resume",
    layout: &LAYOUT,
    ..Traits::OF_FILES
};

/// How Grok's files lie.
pub const LAYOUT: Layout = Layout {
    folders: layout::FOLDERS,
    classify: layout::classify,
    may_hold: layout::may_hold,
    find: layout::find,
    parse_line: records::parse_line,
    ..Layout::OF_FILES
};
