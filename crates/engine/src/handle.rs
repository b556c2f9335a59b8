//! The engine on a thread of its own: its start, and the handle that other threads hold.

mod running;
mod start;

pub use running::Handle;
pub use start::{real_sources, start, start_in};
