//! The real window on a private desktop. `window-figures` of the test kit measures it, since that has displays and
//! drivers; this part calls it and turns its figures into rows.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use super::{Bench, Row, number};
use crate::call::Call;
use crate::packages;
use crate::steps::Need;
use crate::test::ui_install;

/// Builds the window as for users, and measures it.
pub fn window(bench: &Bench) -> Result<Vec<Row>> {
    figures(bench, &["start", "flood", "timeline", "idle"])
}

/// These parts of `window-figures`.
pub fn figures(bench: &Bench, parts: &[&str]) -> Result<Vec<Row>> {
    let tree = bench.tree;
    packages::provide(tree, &[Need::Compile, Need::Headless])?;
    ui_install(tree)?;
    crate::node::npm(tree).args(["--prefix", "ui", "run", "build"]).run()?;
    let cargo = || Call::new(tree.root(), "cargo").without_own_settings();
    cargo().args(["build", "--release", "--locked", "--package", "watchbill-desktop"]).run()?;
    cargo().args(["build", "--locked", "--package", "watchbill-testkit", "--bins"]).run()?;
    let rows = tree.target("window-figures.jsonl");
    let mut call = Call::new(tree.root(), tree.program("debug", "window-figures"))
        .without_own_settings()
        .args(["--program"])
        .args([tree.program("release", "watchbill-desktop")])
        .args(["--rows"])
        .args([&rows])
        .args(parts);
    if bench.small {
        call = call.args(["--sessions", "60", "--seconds", "10", "--items", "5000"]);
    }
    call.run()?;
    read(&rows)
}

/// The figures of a file, one a line.
pub fn read(file: &Path) -> Result<Vec<Row>> {
    let text = std::fs::read_to_string(file).with_context(|| format!("could not read {}", file.display()))?;
    text.lines().map(row).collect()
}

/// A figure as a row of the table.
fn row(line: &str) -> Result<Row> {
    let figure: Value = serde_json::from_str(line).with_context(|| format!("no figure: {line:.200}"))?;
    let what = figure["what"].as_str().context("a figure without a name")?;
    let unit = figure["unit"].as_str().unwrap_or_default();
    Ok(match (figure["value"].as_f64(), figure["atMost"].as_f64()) {
        (None, _) => Row::without_target(what, "not measured"),
        (Some(value), Some(target)) => Row::at_most(what, value, unit, target),
        (Some(value), None) => Row::without_target(what, format!("{} {unit}", number(value))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_become_rows() {
        let missed = row(r#"{"what":"start","value":612.5,"unit":"ms","atMost":500.0}"#).unwrap();
        assert_eq!((missed.met, missed.target.as_str()), (Some(false), "<= 500 ms"));
        let told = row(r#"{"what":"memory","value":180.25,"unit":"MB","atMost":null}"#).unwrap();
        assert_eq!((told.met, told.value.as_str()), (None, "180 MB"));
        let none = row(r#"{"what":"idle","value":null,"unit":"","atMost":null}"#).unwrap();
        assert_eq!(none.value, "not measured");
        assert!(row("nonsense").is_err());
    }
}
