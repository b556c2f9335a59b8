//! Discovers and tails the agent's files: hints in, exact new bytes and facts out.
//!
//! A file event is a hint and carries no truth ([`hints`]); truth is `stat` and the bytes at a cursor
//! ([`tail`]). [`layout`] says what a path is, [`scan`] finds what is there, [`watcher`] reports what may have
//! changed, [`process`] says whether an agent still runs, [`repo`] finds the repository of a working folder.
//! [`clock`] says what time it is. All files are reached through [`fs::Fs`], so that tests and the demo run on [`mem::MemFs`].
//! Nothing here writes, and nothing but this crate knows `notify`.

#![forbid(unsafe_code)]

mod children;
pub mod clock;
pub mod fs;
pub mod hints;
mod keeper;
mod kept_open;
pub mod layout;
pub mod mem;
mod mode;
mod native;
mod order;
mod plan;
mod poll;
mod proc_stat;
pub mod process;
pub mod repo;
mod route;
pub mod scan;
mod std_fs;
pub mod tail;
mod walk;
pub mod watcher;

pub use fs::{FileId, FileKind, FileStat, Fs, ReadAt, StdFs};
pub use hints::{Hint, HintSet};
pub use kept_open::KeptOpen;
pub use layout::Place;
pub use mem::MemFs;
pub use process::{Processes, SystemProcesses};
pub use scan::{Found, Scan};
pub use tail::{Cursor, ReadOutcome, Tail, TailError};
pub use watcher::{RootHealth, RootMode, WatchMode, Watcher};
