//! What leaves the process: the JSON that the command line, the window and scripts share.
//!
//! Names are camelCase; times are RFC 3339 in UTC with milliseconds; unknown values are absent, not
//! null. New fields may appear; readers ignore what they do not know. The core knows no JSON: each
//! type here is made `From` a core type. TypeScript for all of it is generated into
//! `ui/src/lib/bindings`, checked in, and compared by a test.

#![forbid(unsafe_code)]

pub mod alert;
pub mod chain;
pub mod command;
mod convert;
pub mod doctor;
pub mod error;
pub mod event;
pub mod export;
pub mod focus;
pub mod hooks;
pub mod request;
pub mod roster;
pub mod search;
pub mod settings;
pub mod shell;
pub mod socket;
pub mod status;
pub mod store;
pub mod timeline;
pub mod why;
