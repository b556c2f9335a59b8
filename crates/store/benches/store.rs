//! The cost of storing, appending and searching: `cargo bench -p watchbill-store --bench store -- DIR [CUT]`.
//!
//! Reads every `.jsonl` below DIR, oldest first, on one thread, into a new store in a folder of its own. Then it
//! appends to the store as a live session does, and searches it. Prints processor seconds for each part.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a program for developers")]

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use watchbill_core::history::{HistoryFold, HistorySettings, Item, Role, Text};
use watchbill_core::ids::SessionId;
use watchbill_core::time::Timestamp;
use watchbill_core::transcript::line_splitter::{LineSplitter, Split};
use watchbill_core::transcript::parse::parse_line_in_full;
use watchbill_store::search::Query;
use watchbill_store::stats::TokenGroup;
use watchbill_store::tables::files::FileCursor;
use watchbill_store::tables::segments::SegmentRow;
use watchbill_store::{FileKey, OpenMode, SessionKey, Store, WriteTransaction};

/// Bytes of transcripts in one step.
const STEP: u64 = 16 << 20;

fn main() {
    let mut args = std::env::args().skip(1).filter(|arg| !arg.starts_with("--"));
    let Some(root) = args.next() else {
        println!("Name a folder of transcripts: cargo bench -p watchbill-store --bench store -- DIR [CUT]");
        return;
    };
    let cut = args.next().map_or(4_000, |cut| cut.parse().unwrap());
    let mut files = Vec::new();
    collect(Path::new(&root), &mut files);
    files.sort();
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), OpenMode::WriteOrRead).unwrap();
    fill(&mut store, &files, cut);
    append(&mut store, "untidy");
    look(&store);
    tidy(&mut store);
    append(&mut store, "tidy");
    look(&store);
}

/// Stores everything.
fn fill(store: &mut Store, files: &[(i64, PathBuf)], cut: usize) {
    let settings = HistorySettings { cut, ..HistorySettings::default() };
    let (cpu, start) = (cpu(), Instant::now());
    store.begin_bulk_insert().unwrap();
    let mut buffer = vec![0; 1 << 20];
    let (mut bytes, mut since) = (0, 0);
    let mut step = store.step().unwrap();
    for (_, path) in files {
        let read = read(&mut step, path, &settings, &mut buffer);
        bytes += read;
        since += read;
        if since > STEP {
            step.commit().unwrap();
            step = store.step().unwrap();
            since = 0;
        }
    }
    step.commit().unwrap();
    store.end_bulk_insert().unwrap();
    let (texts, left_out) = store.text_counts().unwrap();
    println!(
        "stored {} files, {} MB, {texts} texts, {} MB left out: {:.2} CPU s, {:.2} s, peak {}, database {} MB",
        files.len(),
        bytes / 1_000_000,
        left_out / 1_000_000,
        self::cpu() - cpu,
        start.elapsed().as_secs_f64(),
        peak(),
        std::fs::metadata(store.path()).unwrap().len() / 1_000_000,
    );
}

/// Stores one file; returns its length.
fn read(step: &mut WriteTransaction<'_>, path: &Path, settings: &HistorySettings, buffer: &mut [u8]) -> u64 {
    let name = path.file_stem().unwrap().to_string_lossy().into_owned();
    let agent = name.strip_prefix("agent-");
    let owner = match agent {
        Some(_) => {
            path.parent().unwrap().parent().unwrap().file_name().unwrap().to_string_lossy().into_owned()
        }
        None => name.clone(),
    };
    let id = SessionId::new(&owner);
    let session = step.session_key(&id).unwrap();
    let file = step.file_key(&path.to_string_lossy(), session, agent).unwrap();
    let mut splitter = LineSplitter::new(0);
    let mut history = HistoryFold::new(id, agent);
    let mut input = File::open(path).unwrap();
    let mut offset = 0;
    loop {
        let n = input.read(buffer).unwrap();
        if n == 0 {
            break;
        }
        offset += n as u64;
        splitter.push(&buffer[..n], &mut |split| {
            let Split::Line(line) = split else { return };
            parse_line_in_full(line.bytes, &mut |record, full| {
                history
                    .apply(line.offset, &record, full, settings, &mut |item| put(step, session, file, &item));
            });
        });
        history.settle(&mut |item| put(step, session, file, &item));
    }
    step.set_cursor(file, &FileCursor { offset, ..FileCursor::default() }).unwrap();
    offset
}

fn put(step: &mut WriteTransaction<'_>, session: SessionKey, file: FileKey, item: &Item<'_>) {
    match item {
        Item::Folder(cwd) => step.note_folder(file, cwd).unwrap(),
        Item::Text(text) => drop(step.add_text(file, session, text).unwrap()),
        Item::Batch(batch) => step.merge_batch(session, Some(file), batch).unwrap(),
        Item::Activity(activity) => step.merge_activity(session, Some(file), activity).unwrap(),
        Item::Plan(plan) => step.merge_plan(session, Some(file), plan).unwrap(),
        Item::Execution(execution) => step.merge_execution(session, Some(file), execution).unwrap(),
        Item::Request(request) => step.merge_request(file, request).unwrap(),
        Item::Segment(segment) => {
            let row = SegmentRow { number: segment.number, offset: segment.offset, ..SegmentRow::default() };
            step.put_segment(file, &row).unwrap();
        }
    }
}

/// Merges the segments that the first index left.
fn tidy(store: &mut Store) {
    let mut times = Vec::new();
    let before = cpu();
    loop {
        let start = Instant::now();
        let more = store.tidy_index(200).unwrap();
        times.push(start.elapsed());
        if !more {
            break;
        }
    }
    println!("tidied in {} steps: {:.2} CPU s, {}", times.len(), cpu() - before, spread(times));
}

/// A live session: one answer per step.
fn append(store: &mut Store, name: &str) {
    let mut step = store.step().unwrap();
    let session = step.session_key(&SessionId::new(name)).unwrap();
    let file = step.file_key(&format!("/home/dev/{name}.jsonl"), session, None).unwrap();
    step.commit().unwrap();
    let words = "a few words of an answer that names parse_line and src/lib.rs, and then some more of them "
        .repeat(8);
    let mut times = Vec::new();
    let before = cpu();
    const STEPS: u64 = 2_000;
    for n in 0..STEPS {
        let start = Instant::now();
        let mut step = store.step().unwrap();
        let text = Text {
            offset: n * 1_000,
            part: 0,
            record: None,
            at: Some(Timestamp::from_millis(1_800_000_000_000 + n as i64)),
            role: Role::Answer,
            tool: None,
            agent: None,
            copied: false,
            text: &words,
            cut: 0,
        };
        step.add_text(file, session, &text).unwrap();
        step.set_cursor(file, &FileCursor { offset: n * 1_000, ..FileCursor::default() }).unwrap();
        step.commit().unwrap();
        times.push(start.elapsed());
    }
    println!(
        "appended {STEPS} answers: {:.3} CPU ms each, {}",
        (cpu() - before) * 1e3 / STEPS as f64,
        spread(times)
    );
}

/// Words of the corpus, from common to rare: as whole words, prefixes, phrases and with filters.
fn look(store: &Store) {
    let reader = store.reader().unwrap();
    let mut sessions = Vec::new();
    reader.sessions(&mut |key, _| sessions.push(key)).unwrap();
    let one = |text: &str| Query::new(text, 20);
    let typing = |text: &str| Query { typing: true, ..one(text) };
    let cases = [
        ("common", one("the")),
        ("common", one("server")),
        ("two", one("error config")),
        ("phrase", one("\"to the\"")),
        ("name", one("parse_line")),
        ("name", one("onClick")),
        ("rare", one("RetryParser")),
        ("none", one("qqxzzy")),
        ("typing", typing("ser")),
        ("typing", typing("conf")),
        ("typing", typing("error in the con")),
        ("role", Query { role: Some(Role::Prompt), ..one("the") }),
        ("tool", Query { tool: Some("bash".to_owned()), ..one("the") }),
        ("one session", Query { sessions: Some(sessions.iter().copied().take(1).collect()), ..one("the") }),
        ("a project", Query { sessions: Some(sessions.iter().copied().step_by(20).collect()), ..one("the") }),
        ("half", Query { sessions: Some(sessions.iter().copied().step_by(2).collect()), ..one("the") }),
        ("page 5", Query { skip: 80, ..one("server") }),
        ("since", Query { since: Some(Timestamp::from_millis(1_800_000_000_500)), ..one("the") }),
    ];
    let mut all = Vec::new();
    for (what, query) in cases {
        let mut times = Vec::new();
        let mut hits = 0;
        for _ in 0..30 {
            let start = Instant::now();
            hits = reader.search(&query).unwrap().hits.len();
            times.push(start.elapsed());
        }
        all.extend(times.iter().copied());
        println!("search {what:12} {:20} {hits:3} hits, {}", query.text, spread(times));
    }
    println!("search, all of them: {}", spread(all));
    let start = Instant::now();
    let days = reader.tokens(&TokenGroup::Day(TimeZone::UTC), None).unwrap().len();
    println!("tokens of {days} days: {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    let start = Instant::now();
    let tools = reader.tools(None).unwrap().len();
    println!("calls of {tools} tools: {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
}

fn spread(mut times: Vec<Duration>) -> String {
    times.sort();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    format!("p50 {:.2} ms, p95 {:.2} ms, worst {:.2} ms", at(0.5), at(0.95), at(1.0))
}

/// Processor seconds of this process, of user and system together, to a hundredth.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
}

fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    line.split_whitespace().nth(1).unwrap_or("?").to_owned() + " kB"
}

/// All transcripts, each with the time of its last change.
fn collect(folder: &Path, files: &mut Vec<(i64, PathBuf)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "jsonl") {
            let changed = std::fs::metadata(&path).unwrap().modified().unwrap();
            let since = changed.duration_since(std::time::UNIX_EPOCH).unwrap();
            files.push((since.as_millis() as i64, path));
        }
    }
}
