//! From bytes to records: splitting lines, parsing them, reading them in full for the timeline.

mod commands;
mod fields;
pub mod full;
mod json;
pub mod line_splitter;
pub mod parse;
pub mod record;
mod target;
pub mod timeline;
mod user;
mod words;
