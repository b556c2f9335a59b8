//! The engine of Watchbill: the one loop that ties reading, state, chains and publishing together.
//!
//! [`engine`] is the loop's body, synchronous and without a runtime. `run` runs it on a thread of its own. The window
//! and the command line hold a [`handle`]. [`alone::single_look`] looks once without watching.

#![forbid(unsafe_code)]

pub mod alone;
pub mod demo;
pub mod handle;
pub mod model;
pub mod persist;
pub mod router;
mod run;
pub mod socket;
mod step;
pub mod transcripts;
pub mod witnesses;
pub mod world;

pub use step::{engine, input};
pub use watchbill_core::ids::{SessionId, stable_hash};
pub use watchbill_core::steering::is_steering;
pub use watchbill_core::time::{Millis, Timestamp};
pub use watchbill_core::user::SessionCommand;
pub use watchbill_watch::clock;
