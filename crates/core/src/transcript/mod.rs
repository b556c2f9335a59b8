//! From bytes to records: splitting lines, parsing them, reading them in full for the timeline.

mod attached;
pub(crate) mod bounded_text;
mod commands;
mod entry;
mod fields;
pub mod full;
pub mod json;
pub mod line_splitter;
pub mod parse;
pub(crate) mod prompt_source;
pub mod record;
pub mod target;
pub mod timeline;
pub(crate) mod user;
mod words;
