//! History: records and hook events in, rows out.

mod hooks;
mod laws;
mod model;
mod private;
mod recordings;
mod shapes;

#[path = "../transcript/fixtures.rs"]
#[allow(dead_code, reason = "shared with the tests of the reader")]
mod fixtures;
