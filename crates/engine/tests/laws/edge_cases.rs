//! Cases in which a session's state is easily got wrong, each through files: transcripts, registry files, status
//! files, processes on a stage and hook events, read by the engine.
//!
//! The numbers are those of the project's list of edge cases. What a transcript alone decides is tested
//! beside the fold (`crates/core/tests/session/edge_cases.rs`, `…/chain/edges.rs`), what a hook's payload says in
//! `crates/core/tests/hooks`, what a process is beside the reading of `/proc` (`crates/watch`). What no witness can decide,
//! or has nothing to decide yet:
//!
//! | number | case | why |
//! |---|---|---|
//! | 11 | which dialog is open before any file exists (trust, login) | only the screen shows it; the registry says that one is |

mod attention;
mod background;
mod files;
mod hooks;
mod identity;
mod records;
mod status_files;
mod strangers;
mod turns;
mod waiting;
