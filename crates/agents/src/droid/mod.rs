//! Droid. [`records`] reads its session files.

pub mod layout;
pub mod records;

use crate::{Layout, Traits};

/// What Droid is.
pub const TRAITS: Traits = Traits {
    title: "Droid",
    program: "droid",
    folder: ".factory",
    folder_variable: Some(("FACTORY_HOME_OVERRIDE", ".factory")),
    resume: "droid --resume",
    layout: &LAYOUT,
    ..Traits::OF_FILES
};

/// How Droid's files lie.
pub const LAYOUT: Layout = Layout {
    folders: layout::FOLDERS,
    classify: layout::classify,
    may_hold: layout::may_hold,
    find: layout::find,
    parse_line: records::parse_line,
    ..Layout::OF_FILES
};
