//! Sessions of your own with a stand-in for the agent: over the command line by `benches/own_sessions.py`, and in the window.

use anyhow::Result;

use super::window::{figures, read};
use super::{Bench, Row};
use crate::call::Call;
use crate::packages;
use crate::steps::Need;

/// Builds the host as for users, and measures it with the command line and the window.
pub fn own(bench: &Bench) -> Result<Vec<Row>> {
    let tree = bench.tree;
    packages::provide(tree, &[Need::Bench])?;
    Call::new(tree.root(), "cargo")
        .without_own_settings()
        .args(["build", "--release", "--locked", "--package", "watchbill-host"])
        .run()?;
    let script = tree.path("benches/own_sessions.py");
    let (minutes, rounds) = if bench.small { ("0.2", "5") } else { ("30", "100") };
    let file = tree.target("own-figures.jsonl");
    Call::new(tree.root(), "python3")
        .args(["-B"])
        .args([&script])
        .args(["--watchbill"])
        .args([&bench.program])
        .args(["--rows"])
        .args([&file])
        .args(["--minutes", minutes, "--rounds", rounds])
        .run()?;
    let mut rows = read(&file)?;
    rows.extend(figures(bench, &["own"])?);
    Ok(rows)
}
