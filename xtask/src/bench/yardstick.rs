//! The least cost of a job on this machine, by a program that does nothing else. It distinguishes a slow machine from a slow
//! program.
//!
//! The machine on which the targets were set needed 4.6 to 4.9 CPU seconds for the gigabyte cut at 4,000 bytes, and 3.1 cut
//! at 1,000. It needed 9.5 ms to stat every file.

use std::path::Path;

use anyhow::Result;

use super::Bench;
use super::measure::{self, Used, median};
use crate::call::Call;
use crate::tree::Tree;

/// Builds that program.
pub fn build(tree: &Tree) -> Result<()> {
    let words = ["build", "--release", "--locked", "--package", "watchbill-store", "--example", "least"];
    Call::new(tree.root(), "cargo").args(words).run()
}

/// One row for each message, and a full-text index of all of them, made in one go.
pub fn index(bench: &Bench, claude_dir: &Path, cut: usize) -> Result<Used> {
    let database = bench.tree.target("bench-home").join("least.db");
    std::fs::create_dir_all(bench.tree.target("bench-home"))?;
    let program = of(bench, "index").args([claude_dir]).args([&database]).args([cut.to_string()]);
    let used = measure::run(&format!("the least index, cut at {cut}"), &program, &[0]);
    // A failed run may have made no database.
    let removed = std::fs::remove_file(&database);
    let used = used?;
    removed?;
    Ok(used)
}

/// A stat of every file.
pub fn look(bench: &Bench, claude_dir: &Path) -> Result<Used> {
    measure::run("the least look", &of(bench, "look").args([claude_dir]), &[0])
}

fn of(bench: &Bench, job: &str) -> Call {
    Call::new(bench.tree.root(), bench.tree.program("release", "examples/least")).args([job])
}

/// The median ratio of runs that were made in turn.
pub fn beside(own: &[Used], least: &[Used]) -> String {
    let ratio = median(own.iter().zip(least).map(|(own, least)| own.cpu_seconds() / least.cpu_seconds()));
    format!("{ratio:.2} times {:.4} CPU s", median(least.iter().map(Used::cpu_seconds)))
}
