//! What splitting, parsing and extracting texts cost: `cargo bench -p watchbill-core --bench transcript -- DIR`.
//!
//! Reads every `.jsonl` below DIR three times through one buffer, on one thread. Prints seconds per gigabyte, the reading
//! apart: for records alone, and with the texts of history at several cuts.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the core knows no files and clocks, its benches do"
)]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program for developers")]

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use watchbill_core::history::{HistoryFold, HistorySettings, Item};
use watchbill_core::ids::SessionId;
use watchbill_core::transcript::line_splitter::{LineSplitter, Split};
use watchbill_core::transcript::parse::{parse_line, parse_line_in_full};

fn main() {
    let Some(root) = std::env::args().skip(1).find(|arg| !arg.starts_with("--")) else {
        println!("Name a folder of transcripts: cargo bench -p watchbill-core --bench transcript -- DIR");
        return;
    };
    let mut files = Vec::new();
    collect(Path::new(&root), &mut files);
    for round in 1..=3 {
        for cut in [None, Some(0), Some(1_000), Some(4_000)] {
            let cost = read_all(&files, cut);
            let gigabytes = cost.bytes as f64 / 1e9;
            let what = cut.map_or("records".to_owned(), |cut| format!("history, cut {cut}"));
            println!(
                "round {round}, {what}: {} files, {} bytes, {} records, {} problems, {} texts of {} bytes, {} left out: split and read {:.3} s/GB, from the disk {:.3} s/GB",
                files.len(),
                cost.bytes,
                cost.records,
                cost.problems,
                cost.texts,
                cost.text_bytes,
                cost.cut,
                cost.splitting.as_secs_f64() / gigabytes,
                cost.reading.as_secs_f64() / gigabytes,
            );
        }
    }
}

#[derive(Default)]
struct Cost {
    bytes: usize,
    records: u64,
    problems: usize,
    texts: u64,
    text_bytes: usize,
    cut: u64,
    splitting: Duration,
    reading: Duration,
}

fn read_all(files: &[PathBuf], cut: Option<usize>) -> Cost {
    let settings = HistorySettings { cut: cut.unwrap_or(0), ..HistorySettings::default() };
    let mut cost = Cost::default();
    let mut buffer = vec![0; 1 << 20];
    for file in files {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let mut file = File::open(file).unwrap();
        let mut splitter = LineSplitter::new(0);
        let mut history = HistoryFold::new(SessionId::new(&name), name.strip_prefix("agent-"));
        loop {
            let start = Instant::now();
            let n = file.read(&mut buffer).unwrap();
            cost.reading += start.elapsed();
            if n == 0 {
                break;
            }
            cost.bytes += n;
            let start = Instant::now();
            splitter.push(&buffer[..n], &mut |split| {
                let Split::Line(line) = split else { return };
                let report = match cut {
                    None => parse_line(line.bytes, &mut |record| {
                        std::hint::black_box(&record);
                    }),
                    Some(_) => parse_line_in_full(line.bytes, &mut |record, full| {
                        history.apply(line.offset, &record, full, &settings, &mut |item| match item {
                            Item::Text(text) => {
                                cost.texts += 1;
                                cost.text_bytes += text.text.len();
                                cost.cut += text.cut;
                            }
                            other => {
                                std::hint::black_box(&other);
                            }
                        });
                    }),
                };
                cost.records += u64::from(report.records);
                cost.problems += report.problems().count();
            });
            history.settle(&mut |item| {
                std::hint::black_box(&item);
            });
            cost.splitting += start.elapsed();
        }
    }
    cost
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "jsonl") {
            files.push(path);
        }
    }
}
