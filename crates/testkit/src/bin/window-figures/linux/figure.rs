//! The options of a measurement, and one measured figure.

use std::io::Write;
use std::path::PathBuf;

/// The options from the command line.
pub struct Options {
    pub program: PathBuf,
    pub rows: PathBuf,
    pub sessions: usize,
    pub seconds: u64,
    pub items: usize,
    pub parts: Vec<String>,
}

/// One figure.
pub struct Figure {
    pub what: String,
    pub value: f64,
    pub unit: &'static str,
    pub at_most: Option<f64>,
}

pub fn figure(what: impl Into<String>, value: f64, unit: &'static str, at_most: Option<f64>) -> Figure {
    Figure { what: what.into(), value, unit, at_most }
}

pub fn say(words: &str) {
    // A closed output is no error.
    let _ = writeln!(std::io::stdout(), "  {words}");
}
