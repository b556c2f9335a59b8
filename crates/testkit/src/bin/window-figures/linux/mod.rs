//! Measures the wanted parts one after the other, and writes the figures.

mod figure;
mod flood;
mod history;
mod idle;
mod own;
mod page;
mod processes;
mod start;
mod timeline;

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use serde_json::json;

use figure::{Figure, Options, figure, say};

/// Takes the figures that the command line names.
#[tokio::main]
pub async fn main() -> Result<()> {
    let wish = wish(std::env::args().skip(1))?;
    let mut rows = std::fs::File::create(&wish.rows)?;
    for part in ["start", "flood", "timeline", "idle", "own"] {
        if !wish.parts.is_empty() && !wish.parts.iter().any(|wanted| wanted == part) {
            continue;
        }
        let found = match part {
            "start" => start::measure(&wish).await,
            "flood" => flood::measure(&wish).await,
            "timeline" => timeline::measure(&wish).await,
            "own" => own::measure(&wish).await,
            _ => idle::measure(&wish).await,
        };
        // The other parts may still succeed.
        let found = found.unwrap_or_else(|error| {
            say(&format!("{part} could not be measured: {error:#}"));
            vec![figure(format!("window, {part}: not measured"), f64::NAN, "", None)]
        });
        for Figure { what, value, unit, at_most } in found {
            say(&format!("{what}: {value:.2} {unit}, load {}", processes::load()));
            writeln!(rows, "{}", json!({ "what": what, "value": value, "unit": unit, "atMost": at_most }))?;
        }
    }
    Ok(())
}

fn wish(mut words: impl Iterator<Item = String>) -> Result<Options> {
    let (mut program, mut rows) = (None, None);
    let (mut sessions, mut seconds, mut items, mut parts) = (2000, 600, 100_000, Vec::new());
    while let Some(word) = words.next() {
        let mut value = || words.next().with_context(|| format!("{word} wants a value"));
        match word.as_str() {
            "--program" => program = Some(PathBuf::from(value()?)),
            "--rows" => rows = Some(PathBuf::from(value()?)),
            "--sessions" => sessions = value()?.parse()?,
            "--seconds" => seconds = value()?.parse()?,
            "--items" => items = value()?.parse()?,
            option if option.starts_with('-') => bail!("{option} is not an option"),
            _ => parts.push(word),
        }
    }
    let program = program.context("--program is missing")?;
    Ok(Options { program, rows: rows.context("--rows is missing")?, sessions, seconds, items, parts })
}
