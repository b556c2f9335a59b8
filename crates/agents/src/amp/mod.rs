//! Amp. It keeps each session, a *thread*, as one document ([`crate::document`]); [`records`] reads its lines.

pub mod layout;
pub mod records;

use crate::{Layout, Traits};

/// What Amp is.
pub const TRAITS: Traits = Traits {
    title: "Amp",
    program: "amp",
    folder: ".local/share/amp",
    folder_variable: Some(("XDG_DATA_HOME", "amp")),
    resume: "amp threads continue",
    layout: &LAYOUT,
    instructions: &["AGENTS.md"],
    ..Traits::OF_FILES
};

/// How Amp's files lie.
pub const LAYOUT: Layout = Layout {
    folders: layout::FOLDERS,
    classify: layout::classify,
    find: layout::find,
    parse_line: records::parse_line,
    ..Layout::OF_FILES
};
