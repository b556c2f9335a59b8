//! Generated sessions on disk, and single lines appended to them.

use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::{Value, json};

/// The number of records at a session's beginning. Appended records continue the count: prompts and answers take
/// turns in every session, so each record changes its state.
const RECORDS: u64 = 8;

/// Sessions below a home.
pub struct History {
    folders: Vec<PathBuf>,
    appended: usize,
}

impl History {
    /// Writes that many sessions of a few records each, over forty projects.
    pub fn write(home: &Path, sessions: usize) -> Result<Self> {
        let mut folders = Vec::new();
        for number in 0..sessions {
            let project = format!("-home-dev-project-{}", number % 40);
            let folder = home.join(".claude/projects").join(project);
            fs::create_dir_all(&folder)?;
            folders.push(folder);
            let mut file = BufWriter::new(File::create(path_of(&folders[number], number))?);
            for record in 0..RECORDS {
                writeln!(
                    file,
                    "{}",
                    record_of(number, record, &format!("Work on part {number}, step {record}"))
                )?;
            }
        }
        Ok(Self { folders, appended: 0 })
    }

    /// Appends a record to the next session.
    pub fn append(&mut self) -> Result<()> {
        // A stride without a common divisor: sessions that follow each other in time are not neighbours in the
        // roster, and each gets a record before one gets its second.
        let number = (self.appended * 7919) % self.folders.len();
        let record = RECORDS + (self.appended / self.folders.len()) as u64;
        self.appended += 1;
        let mut file = OpenOptions::new().append(true).open(path_of(&self.folders[number], number))?;
        writeln!(file, "{}", record_of(number, record, &format!("Change {}", self.appended)))?;
        Ok(())
    }
}

/// Writes one session of that many items, prompts and answers in turn. Returns its id.
pub fn write_long(home: &Path, items: usize) -> Result<String> {
    let folder = home.join(".claude/projects/-home-dev-project-0");
    fs::create_dir_all(&folder)?;
    let mut file = BufWriter::new(File::create(path_of(&folder, 0))?);
    for item in 0..items as u64 {
        let text =
            format!("Item {item}. {}", "Words that wrap over lines. ".repeat((item as usize * 7) % 23));
        writeln!(file, "{}", record_of(0, item, &text))?;
    }
    file.flush()?;
    Ok(id_of(0))
}

fn id_of(number: usize) -> String {
    format!("{number:08x}-0000-4000-8000-000000000001")
}

fn path_of(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("{}.jsonl", id_of(number)))
}

/// Even records are prompts, odd ones answers that end the turn.
fn record_of(number: usize, record: u64, text: &str) -> Value {
    let uuid = |record: u64| format!("{number:08x}-0000-4000-8000-{record:012}");
    let message = if record.is_multiple_of(2) {
        json!({ "role": "user", "content": text })
    } else {
        json!({ "id": format!("msg_{record}"), "type": "message", "role": "assistant", "model": "claude-opus-5-5",
                "content": [{ "type": "text", "text": text }], "stop_reason": "end_turn",
                "usage": { "input_tokens": 12, "output_tokens": 40 } })
    };
    json!({
        "parentUuid": record.checked_sub(1).map(uuid), "isSidechain": false, "uuid": uuid(record),
        "type": if record.is_multiple_of(2) { "user" } else { "assistant" }, "message": message,
        "timestamp": format!("{:.3}", jiff::Timestamp::now()), "userType": "external", "entrypoint": "cli",
        "cwd": format!("/home/dev/project-{}", number % 40), "sessionId": id_of(number), "version": "2.1.329",
        "gitBranch": "main",
    })
}
