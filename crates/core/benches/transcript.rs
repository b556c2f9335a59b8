//! What splitting and parsing cost: `cargo bench -p watchbill-core --bench transcript -- DIR`.
//!
//! Reads every `.jsonl` below DIR three times through one buffer, on one thread, and prints seconds
//! per gigabyte, the reading apart.

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

use watchbill_core::transcript::line_splitter::{LineSplitter, Split};
use watchbill_core::transcript::parse::parse_line;

fn main() {
    let Some(root) = std::env::args().skip(1).find(|arg| !arg.starts_with("--")) else {
        println!("Name a folder of transcripts: cargo bench -p watchbill-core --bench transcript -- DIR");
        return;
    };
    let mut files = Vec::new();
    collect(Path::new(&root), &mut files);
    for round in 1..=3 {
        let (mut bytes, mut records, mut problems) = (0usize, 0u64, 0usize);
        let (mut splitting, mut reading) = (Duration::ZERO, Duration::ZERO);
        let mut buffer = vec![0; 1 << 20];
        for file in &files {
            let mut file = File::open(file).unwrap();
            let mut splitter = LineSplitter::new(0);
            loop {
                let start = Instant::now();
                let n = file.read(&mut buffer).unwrap();
                reading += start.elapsed();
                if n == 0 {
                    break;
                }
                bytes += n;
                let start = Instant::now();
                splitter.push(&buffer[..n], &mut |split| {
                    if let Split::Line(line) = split {
                        let report = parse_line(line.bytes, &mut |record| {
                            std::hint::black_box(&record);
                        });
                        records += u64::from(report.records);
                        problems += report.problems().count();
                    }
                });
                splitting += start.elapsed();
            }
        }
        let gigabytes = bytes as f64 / 1e9;
        println!(
            "round {round}: {} files, {bytes} bytes, {records} records, {problems} problems: split and parse {:.3} s/GB, read {:.3} s/GB",
            files.len(),
            splitting.as_secs_f64() / gigabytes,
            reading.as_secs_f64() / gigabytes,
        );
    }
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
