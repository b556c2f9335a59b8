//! What was asked for, and a figure as it is told.

use std::io::Write;
use std::path::PathBuf;

/// What was asked for.
pub struct Wish {
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
    // Nobody reads: then nothing is lost.
    let _ = writeln!(std::io::stdout(), "  {words}");
}
