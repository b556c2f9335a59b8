//! The full-text index of all texts, and the time to the first page of a search.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::corpus::{self, Generated};
use super::measure::{self, Used, median, quantile};
use super::{Bench, Row};
use crate::call::Call;

/// CPU seconds for the gigabyte, by the number of stored bytes of a tool's text.
const CUTS: [(usize, f64); 2] = [(4_000, 5.5), (1_000, 3.6)];
/// Megabytes, however much there is to read.
const PEAK: f64 = 80.0;
/// Milliseconds for the first page.
const FIRST_PAGE: f64 = 10.0;
/// Words that occur in very many texts of the generated histories.
const COMMON: [&str; 6] = ["error", "the", "return", "await", "let", "const"];

/// The whole index, at two cuts that take turns on the same files.
pub fn index(bench: &Bench) -> Result<Vec<Row>> {
    let corpus = corpus::many(bench)?;
    let mut runs = vec![Vec::new(); CUTS.len()];
    let mut reading = Vec::new();
    for _ in 0..bench.rounds {
        for ((cut, _), runs) in CUTS.iter().zip(&mut runs) {
            // Files outside the page cache would add the system's work.
            reading.push(corpus.read_through()?);
            runs.push(full(bench, &corpus, *cut)?);
        }
    }
    let mut rows = Vec::new();
    for ((cut, target), runs) in CUTS.iter().zip(&runs) {
        let cpu = median(runs.iter().map(|used| used.cpu_seconds() / corpus.gigabytes()));
        let peak = median(runs.iter().map(Used::peak_megabytes));
        rows.push(Row::at_most(format!("full index, cut at {cut} bytes"), cpu, "CPU s/GB", *target));
        let system = median(runs.iter().map(|used| used.system.as_secs_f64()));
        rows.push(Row::without_target("  of that the system's part", format!("{system:.2} s")));
        rows.push(Row::at_most(format!("full index, cut at {cut} bytes, peak"), peak, "MB", PEAK));
    }
    let least = reading.iter().map(Used::cpu_seconds).fold(f64::INFINITY, f64::min);
    rows.push(Row::without_target("reading the same files", format!("{least:.2} CPU s at least")));
    Ok(rows)
}

/// The first page of a search, for common words and for rare ones.
pub fn search(bench: &Bench) -> Result<Vec<Row>> {
    let corpus = corpus::many(bench)?;
    let data = data_dir(bench, "search");
    measure::run("bring the index up to date", &watchbill(bench, &corpus, &data, &["index"])?, &[0])?;
    let rare = rare_words(bench, &corpus, &data)?;
    let mut rows = Vec::new();
    for (name, words) in [("common", COMMON.map(str::to_owned).to_vec()), ("rare", rare)] {
        let mut took = Vec::new();
        for _ in 0..bench.rounds {
            for word in &words {
                took.push(ask(bench, &corpus, &data, word)?["tookMs"].as_f64().context("no time reported")?);
            }
        }
        println!("  {name}: {} searches, median {:.2} ms", took.len(), median(took.iter().copied()));
        let p95 = quantile(&took, 0.95);
        rows.push(Row::at_most(format!("first page, {name} words, p95"), p95, "ms", FIRST_PAGE));
    }
    // The answer's own time covers only the query in the store. The command line also waits for its start and for its
    // check of all files.
    let mut waited = Vec::new();
    for word in COMMON.iter().flat_map(|word| std::iter::repeat_n(word, bench.rounds)) {
        let call = watchbill(bench, &corpus, &data, &["search", word])?;
        waited.push(measure::run("a search, from start to end", &call, &[0])?.wall.as_secs_f64() * 1e3);
    }
    rows.push(Row::without_target(
        "  the whole program, after a look at all files",
        format!("{:.0} ms, p95 {:.0} ms", median(waited.iter().copied()), quantile(&waited, 0.95)),
    ));
    Ok(rows)
}

/// The longest words beside the common ones: generated names, each in few texts.
fn rare_words(bench: &Bench, corpus: &Generated, data: &Path) -> Result<Vec<String>> {
    let mut words = BTreeSet::new();
    for common in COMMON {
        let answer = ask(bench, corpus, data, common)?;
        for hit in answer["hits"].as_array().into_iter().flatten() {
            let snippet = hit["snippet"].as_str().unwrap_or_default();
            let names = snippet.split(|c: char| !c.is_alphanumeric()).filter(|name| name.len() >= 10);
            words.extend(names.map(str::to_owned));
        }
    }
    anyhow::ensure!(!words.is_empty(), "no rare word was found in the history");
    Ok(words.into_iter().take(40).collect())
}

fn ask(bench: &Bench, corpus: &Generated, data: &Path, word: &str) -> Result<serde_json::Value> {
    let call = watchbill(bench, corpus, data, &["search", "--json", "--as-stored", word])?;
    let out = call.quiet_output().with_context(|| format!("`{}` failed", call.line()))?;
    Ok(serde_json::from_str(&out)?)
}

/// A full index into a new data folder.
fn full(bench: &Bench, corpus: &Generated, cut: usize) -> Result<Used> {
    let data = data_dir(bench, "index");
    if data.exists() {
        std::fs::remove_dir_all(&data)?;
    }
    let cut = cut.to_string();
    let call = watchbill(bench, corpus, &data, &["index", "--json", "--cut", &cut])?;
    measure::run(&format!("watchbill index --cut {cut}"), &call, &[0])
}

fn watchbill(bench: &Bench, corpus: &Generated, data: &Path, words: &[&str]) -> Result<Call> {
    bench.watchbill_in(words, &corpus.claude_dir, data)
}

fn data_dir(bench: &Bench, part: &str) -> PathBuf {
    bench.tree.target("bench-home").join(format!("data-{part}"))
}
