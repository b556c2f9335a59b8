//! What the engine stands on: settings, roots, files, processes, hints, the time, and problems with them.

pub mod archive;
pub(crate) mod counter;
pub(crate) mod environment;
pub mod mute;
pub mod problems;
pub mod source;
