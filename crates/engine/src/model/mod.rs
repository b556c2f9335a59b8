//! The engine's model of sessions: transcripts, chains, rows, and needs of the user.
pub(crate) mod alerting;
pub(crate) mod chain_facts;
pub(crate) mod chain_state;
pub(crate) mod distant;
pub mod files;
pub(crate) mod first_scan_progress;
pub mod paths;
pub(crate) mod problem_report;
pub mod publish;
pub(crate) mod resting;
pub mod row;
pub(crate) mod rows;
pub(crate) mod schedule;
pub mod session;
pub(crate) mod sessions;
pub mod verdict;
pub mod work;
