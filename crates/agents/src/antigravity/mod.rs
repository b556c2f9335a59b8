//! Antigravity CLI. [`records`] reads its transcripts.

pub mod layout;
pub mod records;

use crate::{Layout, Traits};

/// What Antigravity CLI is.
pub const TRAITS: Traits = Traits {
    title: "Antigravity",
    program: "agy",
    folder: ".gemini/antigravity-cli",
    resume: "agy --conversation",
    layout: &LAYOUT,
    instructions: &["GEMINI.md", "AGENTS.md"],
    ..Traits::OF_FILES
};

/// How Antigravity's files lie.
pub const LAYOUT: Layout = Layout {
    folders: layout::FOLDERS,
    classify: layout::classify,
    may_hold: layout::may_hold,
    find: layout::find,
    parse_line: records::parse_line,
    ..Layout::OF_FILES
};
