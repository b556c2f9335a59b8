//! Requests of the client: read from its hook payload, and decided in its words.

mod output;
mod payload;

pub use output::hook_output;
pub use payload::read_request;
