//! The engine of Watchbill: the one loop that ties reading, state, chains and publishing together.
//!
//! [`engine`] is the loop's body, synchronous and without a runtime; `runtime` turns it on a thread of
//! its own; [`handle`] is what the window and the command line hold. [`cold`] looks once without watching.

#![forbid(unsafe_code)]

pub mod archive;
pub mod ask;
pub mod children;
pub mod clock;
mod clock_jump;
pub mod cold;
pub mod demo;
pub mod doctor;
pub mod engine;
mod exits;
pub mod export;
pub mod files;
pub mod first_scan;
mod first_scan_thread;
pub mod focus;
mod folder_looks;
pub mod folders;
pub mod forget;
pub mod handle;
mod hears;
pub mod history;
pub mod hook_setup;
pub mod hooks_in;
pub mod index;
pub mod input;
pub mod left_out;
mod listeners;
pub mod markers;
mod message;
pub mod mute;
mod named;
pub mod persist;
pub mod problems;
pub mod publish;
pub mod registry;
pub mod replay;
mod rescans;
mod runtime;
pub mod search;
pub mod session;
pub mod size;
pub mod socket;
pub mod source;
pub mod stage;
mod stall;
pub mod status_files;
pub mod stored;
pub mod timeline;
pub mod transcripts;
pub mod user_commands;
pub mod verdict;

pub use watchbill_core::ids::{SessionId, stable_hash};
pub use watchbill_core::person::Word;
pub use watchbill_core::steering::steers;
pub use watchbill_core::time::{Millis, Timestamp};
