//! Sessions of your own: `run`, `prompt`, `queue`, `interrupt`, `stop`, `resume`, `fork` and `attach`.
//!
//! These commands talk to the host of a session themselves, so they need no running Watchbill.

mod attach;
mod events;
mod host_commands;
mod resume;
mod run;
mod switch;
mod target;
#[cfg(unix)]
mod terminal;

pub use attach::attach;
pub use host_commands::{interrupt, prompt, queue, stop};
pub use resume::{fork, resume};
pub use run::run;
pub use target::found_row;
