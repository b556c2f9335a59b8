//! pi, and Oh My Pi, whose sessions have the same form. [`records`] reads their lines.

pub mod layout;
pub mod records;

use crate::{Layout, Traits};

/// What pi is.
pub const TRAITS: Traits = Traits {
    title: "pi",
    program: "pi",
    folder: ".pi/agent",
    folder_variable: Some(("PI_CODING_AGENT_DIR", "")),
    resume: "pi --session",
    layout: Some(&LAYOUT),
    ..Traits::OF_FILES
};

/// How pi's files lie.
pub const LAYOUT: Layout = Layout {
    folders: layout::FOLDERS,
    classify: layout::classify,
    kind_of: layout::kind_of,
    may_hold: layout::may_hold,
    find: layout::find,
    parse_line: records::parse_line,
    ..Layout::OF_FILES
};
