//! The JSON that leaves the process: its shape, the window's types, and events that give the next roster.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "unreadable data is a failure")]

mod bindings;
mod replay;
#[path = "../../../core/tests/rules/row.rs"]
mod row;
mod rows;
mod shapes;
