//! Measures memories and the lines that agents are told on made-up histories, and writes the table of `docs/memory.md`.

use anyhow::Result;

use crate::call::Call;
use crate::tree::Tree;

/// Runs the test that measures, and lets it write its table.
pub fn measure(tree: &Tree) -> Result<()> {
    Call::new(tree.root(), "cargo")
        .without_own_settings()
        .env("WATCHBILL_MEMORY_TABLE", "write")
        .args(["test", "--package", "watchbill-engine", "--test", "memory", "--", "--nocapture"])
        .run()
}
