//! The JSON that leaves the process: the command line, the window and scripts share it.
//!
//! Names are camelCase; times are RFC 3339 in UTC with milliseconds; unknown values are absent, not null. New
//! fields may appear; readers ignore fields that they do not know. The core knows no JSON: each type here is made
//! `From` a core type. TypeScript for all types is generated into `ui/src/lib/bindings` and checked in. A test
//! compares it.

#![forbid(unsafe_code)]

pub mod alert;
pub mod api;
pub mod chain;
pub mod changes;
pub mod command;
mod convert;
pub mod day;
pub mod doctor;
pub mod error;
pub mod event;
pub mod export;
pub mod focus;
pub mod hooks;
pub mod limits;
pub mod memory;
pub mod model;
pub mod own;
pub mod prompt;
pub mod request;
pub mod roster;
pub mod search;
pub mod settings;
pub mod shell;
pub mod socket;
pub mod status;
pub mod store;
pub mod timeline;
pub mod usage;
pub mod why;
