//! The measured rows: as columns on the terminal, and as a page in the tree.

use anyhow::{Context, Result};

use crate::call::Call;
use crate::tree::Tree;

/// The page for the numbers of a whole run.
pub const PAGE: &str = "docs/performance.md";

/// One measured quantity.
pub struct Row {
    pub what: String,
    pub value: String,
    pub target: String,
    pub met: Option<bool>,
}

impl Row {
    /// A number that ought to be at most `target`.
    pub fn at_most(what: impl Into<String>, value: f64, unit: &str, target: f64) -> Self {
        Self {
            what: what.into(),
            value: format!("{} {unit}", number(value)),
            target: format!("<= {} {unit}", number(target)),
            met: Some(value <= target),
        }
    }

    /// A number without a target.
    pub fn without_target(what: impl Into<String>, value: impl Into<String>) -> Self {
        Self { what: what.into(), value: value.into(), target: String::new(), met: None }
    }

    fn verdict(&self) -> &'static str {
        match self.met {
            Some(true) => "met",
            Some(false) => "MISSED",
            None => "",
        }
    }
}

/// The rows in columns, for the terminal.
pub fn table<'r>(rows: impl IntoIterator<Item = &'r Row>) -> String {
    let rows: Vec<&Row> = rows.into_iter().collect();
    let width = |text: fn(&Row) -> &str| rows.iter().map(|row| text(row).chars().count()).max().unwrap_or(0);
    let (what, value, target) = (width(|row| &row.what), width(|row| &row.value), width(|row| &row.target));
    let lines = rows.iter().map(|row| {
        let line =
            format!("{:<what$}  {:>value$}  {:<target$}  {}", row.what, row.value, row.target, row.verdict());
        line.trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The circumstances of a measurement.
pub struct RunContext {
    pub commit: String,
    pub processors: usize,
    pub rounds: usize,
}

impl RunContext {
    /// The circumstances of this run.
    pub fn of(tree: &Tree, rounds: usize) -> Self {
        let describe = ["-c", "safe.directory=*", "describe", "--always", "--dirty"];
        let commit = Call::new(tree.root(), "git").args(describe).quiet_output();
        let commit = commit.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        Self {
            commit: commit.unwrap_or_else(|| "unknown".to_owned()),
            processors: std::thread::available_parallelism().map_or(1, Into::into),
            rounds,
        }
    }
}

/// The page in Markdown. `parts` are the measured parts with their rows.
pub fn page(circumstances: &RunContext, parts: &[(&str, &str, Vec<Row>)]) -> String {
    let RunContext { commit, processors, rounds } = circumstances;
    let mut page = format!(
        "# Performance\n\n\
         `cargo xtask bench` writes this page. Do not edit it. Commit {commit}, {processors} processors, {rounds} rounds of each \
         measurement; numbers are medians unless the row says otherwise. The histories are made up. Processor time of one program \
         may differ by a factor of two between hours on the same virtual machine. Compare a row with its neighbours, and a run \
         with another run of the same hour.\n"
    );
    for (name, shows, rows) in parts {
        page.push_str(&format!("\n## {name}\n\nMeasured: {shows}.\n\n"));
        page.push_str("| Quantity | Measured | Target | |\n|---|---:|---|---|\n");
        for row in rows {
            let cells = [&row.what, &row.value, &row.target].map(|text| cell(text));
            page.push_str(&format!("| {} | {} |\n", cells.join(" | "), row.verdict()));
        }
    }
    page
}

/// Text escaped for a cell of a Markdown table.
fn cell(text: &str) -> String {
    text.replace('\\', "\\\\").replace('|', "\\|").replace('<', "&lt;").replace('\n', " ")
}

/// Writes the page.
///
/// # Errors
/// When the file cannot be written.
pub fn write(file: &std::path::Path, page: &str) -> Result<()> {
    std::fs::write(file, page).with_context(|| format!("could not write {}", file.display()))
}

/// About three significant digits, so that columns are easy to compare.
pub fn number(value: f64) -> String {
    match value.abs() {
        whole if whole.fract() == 0.0 => format!("{value:.0}"),
        large if large >= 100.0 => format!("{value:.0}"),
        medium if medium >= 10.0 => format!("{value:.1}"),
        small if small >= 0.1 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Row> {
        vec![
            Row::at_most("cold pass", 0.8123, "CPU s/GB", 0.9),
            Row::at_most("peak", 91.26, "MB", 80.0),
            Row::without_target("beside another", "2.1x"),
        ]
    }

    #[test]
    fn the_table_marks_missed_targets() {
        assert_eq!(
            table(&rows()),
            "cold pass       0.81 CPU s/GB  <= 0.90 CPU s/GB  met\n\
             peak                  91.3 MB  <= 80 MB          MISSED\n\
             beside another           2.1x"
        );
    }

    #[test]
    fn the_page_names_its_circumstances_and_has_a_table_for_each_part() {
        let circumstances = RunContext { commit: "abc1234".into(), processors: 2, rounds: 5 };
        let odd = vec![Row::without_target("a|b", "x\ny")];
        let page = page(&circumstances, &[("cold", "one pass", rows()), ("odd", "odd names", odd)]);
        let (head, body) = page.split_once("\n\n## cold\n").unwrap();
        assert!(head.starts_with("# Performance\n"), "{head}");
        assert!(head.contains("Commit abc1234, 2 processors, 5 rounds"), "{head}");
        assert_eq!(
            body,
            "\nMeasured: one pass.\n\n\
             | Quantity | Measured | Target | |\n\
             |---|---:|---|---|\n\
             | cold pass | 0.81 CPU s/GB | &lt;= 0.90 CPU s/GB | met |\n\
             | peak | 91.3 MB | &lt;= 80 MB | MISSED |\n\
             | beside another | 2.1x |  |  |\n\
             \n## odd\n\nMeasured: odd names.\n\n\
             | Quantity | Measured | Target | |\n\
             |---|---:|---|---|\n\
             | a\\|b | x y |  |  |\n"
        );
    }

    #[test]
    fn numbers_keep_their_significant_digits() {
        for (value, text) in
            [(1234.5, "1234"), (12.34, "12.3"), (0.5, "0.50"), (0.00123, "0.0012"), (0.0, "0"), (80.0, "80")]
        {
            assert_eq!(number(value), text);
        }
    }
}
