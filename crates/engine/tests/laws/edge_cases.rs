//! Edge cases of a session's state, each through files that the engine reads: transcripts, registry files, status
//! files, staged processes and hook events.
//!
//! The numbers are those of the project's list of edge cases. Cases that the transcript alone decides are tested
//! beside the fold (`crates/core/tests/session/edge_cases.rs`, `…/chain/edges.rs`). Hook payloads are tested in
//! `crates/core/tests/hooks`, processes beside the reading of `/proc` (`crates/watch`). No witness can decide this
//! one:
//!
//! | number | case | why |
//! |---|---|---|
//! | 11 | which dialog is open before any file exists (trust, login) | only the screen shows it; the registry reports only that a dialog is open |

mod attention;
mod background;
mod files;
mod foreign_sessions;
mod hooks;
mod identity;
mod own_sessions;
mod records;
mod refusals;
mod status_files;
mod status_line;
mod turns;
mod waiting;
