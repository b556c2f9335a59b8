//! The engine of Watchbill: the one loop that ties reading, state, chains and publishing together.
//!
//! [`engine`] is the loop's body, synchronous and without a runtime. `run` runs it on a thread of its own. The window
//! and the command line hold a [`handle`]. [`single_look`] looks once without watching.

#![forbid(unsafe_code)]

pub mod answers;
pub mod archive;
mod counter;
pub mod demo;
pub mod doctor;
mod environment;
mod file_looks;
pub mod first_scan;
pub mod focus;
pub mod forget;
pub mod handle;
pub mod hook_setup;
pub mod index;
pub mod input;
mod live_state;
pub mod memory;
pub mod model;
pub mod mute;
mod named_files;
mod own_hosts;
pub mod persist;
pub mod pressed;
pub mod problems;
mod prompt;
pub mod publish;
pub mod replay;
pub mod router;
mod run;
pub mod single_look;
pub mod socket;
pub mod source;
pub mod stage;
mod step;
pub mod transcripts;
pub mod user_commands;
pub mod witnesses;
pub mod worktree;

pub use step::engine;
pub use watchbill_core::ids::{SessionId, stable_hash};
pub use watchbill_core::steering::is_steering;
pub use watchbill_core::time::{Millis, Timestamp};
pub use watchbill_core::user::SessionCommand;
pub use watchbill_watch::clock;
