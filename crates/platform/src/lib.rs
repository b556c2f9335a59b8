//! What differs between systems: processes, terminals, clocks, private files, standard input, local sockets.
//!
//! Each system has a file with the same functions. What a system does not tell is in `unknown`, and says so with `None`.

#![forbid(unsafe_code)]

pub mod clock;
mod facts;
pub mod files;
pub mod input;
pub mod process;
pub mod program;
pub mod socket;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(all(unix, not(target_os = "linux")), test))]
mod macos;
#[cfg(not(target_os = "linux"))]
mod unknown;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(all(unix, not(target_os = "linux")))]
use macos as system;
#[cfg(windows)]
use windows as system;
