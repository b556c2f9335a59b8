//! Records and what they carry, the same for each agent, and the timeline that is built from them. Agents parse the lines.

pub mod bounded_text;
pub mod denial;
mod entry;
pub mod inherited;
pub mod json;
pub mod line_splitter;
pub mod origin;
pub mod payloads;
pub mod record;
pub mod report;
pub mod timeline;
mod tokens;
