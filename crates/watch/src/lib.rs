//! Discovers and follows the agent's files: hints in, exact new bytes and facts out.
//!
//! A file event is a hint and carries no truth ([`hints`]). Truth is `stat` and the bytes at a cursor ([`tail`]).
//! [`scan`] finds files, and [`watcher`] reports what may have changed. [`process`] tells whether a client still runs,
//! [`messages`] carries what an agent's server says, [`repo`] finds the repository of a working folder, and [`clock`]
//! gives the time. All code reaches files through [`fs::Fs`], so that tests and the demo run on [`mem::MemFs`]. Nothing
//! here writes, and no other crate knows `notify`.

#![forbid(unsafe_code)]

mod children;
pub mod clock;
pub mod fs;
pub mod hints;
mod later;
pub mod mem;
pub mod messages;
mod mode;
mod native;
mod open_file_cache;
mod order;
mod plan;
mod poll;
pub mod process;
pub mod repo;
mod route;
pub mod scan;
mod std_fs;
pub mod tail;
mod walk;
mod watch_manager;
pub mod watcher;

pub use fs::{FileId, FileKind, FileStat, Fs, ReadAt, StdFs};
pub use hints::{Hint, HintSet};
pub use mem::MemFs;
pub use open_file_cache::KeptOpen;
pub use process::{Processes, SystemProcesses};
pub use scan::{Found, Scan};
pub use tail::{Cursor, ReadOutcome, Tail, TailError};
pub use watcher::{RootHealth, RootMode, WatchMethod, Watcher};
