//! From bytes to records: splitting lines, parsing them, reading them in full for the timeline.

pub mod record;
