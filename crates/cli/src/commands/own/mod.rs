//! Sessions of your own: `run`, `prompt`, `queue`, `interrupt`, `stop`, `resume`, `fork` and `attach`.
//!
//! These commands talk to the host of a session themselves, so they need no running Watchbill.

mod attach;
mod events;
mod resume;
mod run;
mod steer;
mod switch;
mod target;
#[cfg(unix)]
mod terminal;

pub use attach::attach;
pub use resume::{fork, resume};
pub use run::run;
pub use steer::{interrupt, prompt, queue, stop};
