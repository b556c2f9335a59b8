//! The functions of one step, over the rooms. They hold no state.

mod after_read;
mod attention;
mod chains;
mod changes;
mod clock;
pub(crate) mod compare_states;
pub mod engine;
mod fetch;
mod first_scan;
mod ingest;
mod own;
mod processes;
mod questions;
mod reconcile;
pub mod requests;
mod restore;
mod rooms;
mod rows;
mod settings;
mod settle;
mod token_sharing;
mod user_commands;
mod user_edits;
mod verdicts;
mod waking;
mod working_folders;
