//! The least that three jobs cost on this machine: a yardstick, to compare figures of different machines.
//!
//! `least index CLAUDE_DIR DATABASE CUT` stores one row for each message and makes a full-text index of them all at
//! once, in one transaction without a journal. `least look CLAUDE_DIR` looks at every file once. `least line
//! TRANSCRIPT DATABASE` stores and indexes each appended line until it is ended. They do nothing else: no chains,
//! no calls, no usage, no cursors, no second start. The rest of Watchbill's cost is the price of these.

#![allow(clippy::print_stdout, missing_docs, reason = "a program for developers")]

use std::error::Error;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use memchr::memchr_iter;
use rusqlite::{Connection, Transaction};
use sonic_rs::{JsonValueTrait, LazyValue};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const TABLES: &str = "
    CREATE TABLE sessions (id INTEGER PRIMARY KEY, path TEXT NOT NULL);
    CREATE TABLE messages (id INTEGER PRIMARY KEY, session INTEGER NOT NULL, at TEXT, role TEXT, uuid TEXT, parent TEXT, text TEXT);
    CREATE VIRTUAL TABLE found USING fts5(text, content='messages', content_rowid='id');";
/// The index sorts so many bytes in memory.
const HASH: i64 = 64 << 20;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["index", root, database, cut] => index(Path::new(root), Path::new(database), cut.parse()?),
        ["look", root] => {
            println!("{} bytes", look(&Path::new(root).join("projects"))?);
            Ok(())
        }
        ["line", transcript, database] => line(Path::new(transcript), Path::new(database)),
        _ => Err("least index CLAUDE_DIR DATABASE CUT | look CLAUDE_DIR | line TRANSCRIPT DATABASE".into()),
    }
}

fn index(root: &Path, database: &Path, cut: usize) -> Result<()> {
    let mut files = Vec::new();
    collect(&root.join("projects"), &mut files)?;
    files.sort();
    let mut sql = Connection::open(database)?;
    sql.execute_batch("PRAGMA page_size = 8192; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")?;
    sql.execute_batch(TABLES)?;
    let step = sql.transaction()?;
    step.execute("INSERT INTO found(found, rank) VALUES ('hashsize', ?1)", [HASH])?;
    let (mut buffer, mut rows) = (Vec::new(), Rows::default());
    for path in files {
        buffer.clear();
        File::open(&path)?.read_to_end(&mut buffer)?;
        step.prepare_cached("INSERT INTO sessions (path) VALUES (?1)")?.execute([path.to_string_lossy()])?;
        let session = step.last_insert_rowid();
        let mut start = 0;
        for end in memchr_iter(b'\n', &buffer) {
            rows.add(&step, session, &buffer[start..end], cut)?;
            start = end + 1;
        }
    }
    step.execute("INSERT INTO found(found) VALUES ('rebuild')", [])?;
    step.commit()?;
    println!("{} rows, {} bytes of text", rows.count, rows.bytes);
    Ok(())
}

/// Every transcript below a folder.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "jsonl") {
            files.push(path);
        }
    }
    Ok(())
}

/// Bytes of everything below a folder.
fn look(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        bytes += if entry.file_type()?.is_dir() { look(&entry.path())? } else { entry.metadata()?.len() };
    }
    Ok(bytes)
}

/// Counts of the stored rows.
#[derive(Default)]
struct Rows {
    count: u64,
    bytes: usize,
    text: String,
}

impl Rows {
    /// Adds one row if the line is a message. Skips a line that is not JSON.
    fn add(&mut self, step: &Transaction, session: i64, line: &[u8], cut: usize) -> Result<()> {
        let Ok(line) = std::str::from_utf8(line) else { return Ok(()) };
        let (mut kind, mut uuid, mut parent, mut at, mut message) = (None, None, None, None, None);
        for field in sonic_rs::to_object_iter(line) {
            let Ok((name, value)) = field else { return Ok(()) };
            match &*name {
                "type" => kind = Some(value),
                "uuid" => uuid = Some(value),
                "parentUuid" => parent = Some(value),
                "timestamp" => at = Some(value),
                "message" => message = Some(value),
                _ => {}
            }
        }
        let role = kind.as_ref().and_then(|kind| kind.as_str()).unwrap_or_default();
        let (true, Some(message)) = (role == "user" || role == "assistant", message) else { return Ok(()) };
        self.text.clear();
        if let Some(content) = message.get("content") {
            say(&content, cut, &mut self.text);
        }
        let word =
            |value: &Option<LazyValue>| value.as_ref().and_then(|value| value.as_str().map(str::to_owned));
        step.prepare_cached(
            "INSERT INTO messages (session, at, role, uuid, parent, text) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute((session, word(&at), role, word(&uuid), word(&parent), &self.text))?;
        self.count += 1;
        self.bytes += self.text.len();
        Ok(())
    }
}

/// Adds the content of a message: prompts, answers, thoughts, and the beginning of each tool's input and result.
fn say(content: &LazyValue, cut: usize, text: &mut String) {
    if let Some(words) = content.as_str() {
        text.push_str(words);
        return;
    }
    let Some(blocks) = content.clone().into_array_iter() else { return };
    for block in blocks.flatten() {
        match block.get("type").as_ref().and_then(|kind| kind.as_str()) {
            Some("text") => push(block.get("text").as_ref(), usize::MAX, text),
            Some("thinking") => push(block.get("thinking").as_ref(), usize::MAX, text),
            Some("tool_use") => {
                let input = block.get("input");
                cut_onto(input.as_ref().map_or("", |input| input.as_raw_str()), cut, text);
            }
            Some("tool_result") => match block.get("content") {
                Some(result) if result.is_str() => push(Some(&result), cut, text),
                Some(result) => {
                    for part in result.into_array_iter().into_iter().flatten().flatten() {
                        push(part.get("text").as_ref(), cut, text);
                    }
                }
                None => {}
            },
            _ => {}
        }
        text.push('\n');
    }
}

fn push(words: Option<&LazyValue>, cut: usize, text: &mut String) {
    cut_onto(words.and_then(|words| words.as_str()).unwrap_or_default(), cut, text);
}

fn cut_onto(words: &str, cut: usize, text: &mut String) {
    text.push_str(&words[..words.floor_char_boundary(cut.min(words.len()))]);
}

#[cfg(target_os = "linux")]
fn line(transcript: &Path, database: &Path) -> Result<()> {
    use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init};

    let mut sql = Connection::open(database)?;
    sql.execute_batch("PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;")?;
    sql.execute_batch(TABLES)?;
    let watch = init(CreateFlags::CLOEXEC)?;
    add_watch(&watch, transcript.parent().ok_or("the transcript lies in no folder")?, WatchFlags::MODIFY)?;
    let (mut file, mut rows) = (File::open(transcript)?, Rows::default());
    file.seek(SeekFrom::End(0))?;
    let mut room = [std::mem::MaybeUninit::uninit(); 4096];
    let (mut events, mut buffer) = (Reader::new(&watch, &mut room), Vec::new());
    loop {
        events.next()?;
        buffer.clear();
        file.read_to_end(&mut buffer)?;
        if buffer.is_empty() {
            continue;
        }
        let step = sql.transaction()?;
        let first: i64 = step
            .prepare_cached("SELECT coalesce(max(id), 0) FROM messages")?
            .query_row([], |row| row.get(0))?;
        let mut start = 0;
        for end in memchr_iter(b'\n', &buffer) {
            rows.add(&step, 1, &buffer[start..end], 4000)?;
            start = end + 1;
        }
        step.prepare_cached("INSERT INTO found (rowid, text) SELECT id, text FROM messages WHERE id > ?1")?
            .execute([first])?;
        step.commit()?;
    }
}

#[cfg(not(target_os = "linux"))]
fn line(_: &Path, _: &Path) -> Result<()> {
    Err("lines are waited for on Linux alone".into())
}
