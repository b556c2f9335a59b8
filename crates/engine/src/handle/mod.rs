//! The engine on a thread of its own: its start, and the handle that other threads hold.

pub mod doctor;
pub(crate) mod file_looks;
pub mod focus;
pub mod hook_setup;
pub(crate) mod named_files;
pub mod pressed;
pub(crate) mod prompt;
mod running;
pub(crate) mod start;

pub use running::Handle;
pub use start::{real_sources, start, start_in};
