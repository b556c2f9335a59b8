//! Cases in which a session's state is easily got wrong, each through real files: transcripts, registry
//! files and processes on a stage, read by the engine.
//!
//! The numbers are those of the project's list of edge cases. What a transcript alone decides is tested
//! beside the fold (`crates/core/tests/session/edge_cases.rs`, `…/chain/edges.rs`), what a process is beside
//! the reading of `/proc` (`crates/watch`). Not decided by files and registry, and left to other witnesses:
//!
//! | number | case | left to |
//! |---|---|---|
//! | 2 | an automatic approval must not flash | hooks: their request comes before the client knows its answer |
//! | 7 | which of several subagents asks | hooks: the registry says that somebody does, not who |
//! | 11 | trust and login screens before any file exists | a terminal of our own |
//! | 38 | that a compaction runs | the PreCompact hook; here it is `busy` until its boundary is written |
//! | 44 | a client whose parent is gone | terminals; nothing here looks at the parent |
//! | 47 | hooks of a nested client under its parent's id | hooks |
//! | 49 | sessions of our own | whoever starts them: none are started yet |
//! | 58 | other agents' lifecycles | their own readers |

#![allow(clippy::unwrap_used, reason = "a broken stage should fail loudly")]

mod attention;
mod background;
mod desk;
mod files;
mod hooks;
mod identity;
mod status_files;
mod turns;
mod waiting;
