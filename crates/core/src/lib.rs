//! The pure core of Watchbill: time and facts in, effects out.
//!
//! No clock, file system, thread, runtime, database, environment or randomness is known here; the
//! crate's `clippy.toml` bans the calls. The modules follow the data path: [`transcript`] turns bytes
//! into records, [`session`] folds records into the turn's state, [`evidence`] weighs that reading
//! against the other witnesses ([`hook`] events, the registry, [`status_file`]s, processes), [`chain`] ties sessions into
//! work chains, [`person`] is what the
//! person says of them, [`roster`] orders the rows, [`attention`] says who needs the person, [`deadlines`] keeps what has to be looked at again.

#![forbid(unsafe_code)]

pub mod attention;
pub mod block;
pub mod chain;
pub mod deadlines;
pub mod evidence;
pub mod history;
pub mod hook;
pub mod ids;
mod nesting;
pub mod person;
pub mod problem;
pub mod requests;
pub mod roster;
pub mod session;
mod shared_text;
pub mod status_file;
pub mod steering;
pub mod time;
pub mod transcript;
