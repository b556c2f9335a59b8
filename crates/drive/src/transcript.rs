//! The transcript of an own session whose agent writes none that Watchbill reads: its prompts, answers and tool calls as records in
//! the form of Claude Code. The stored history reads it as it reads every transcript. It follows from the log, so a part that is
//! missing is made again.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};

use serde_json::{Value, json};
use watchbill_core::ids::stable_hash;
use watchbill_core::time::Timestamp;
use watchbill_platform::files::{open_private, private_dir};
use watchbill_protocol::own::event::{OwnWhat, PromptPlace};
use watchbill_protocol::own::spec::{OwnAgent, OwnKind, OwnSpec};

use crate::folder::Folder;

/// Appends records to the transcript of one session.
#[derive(Debug)]
pub struct TranscriptWriter {
    session: String,
    cwd: String,
    /// Not open after an error: the next host writes what is missing.
    file: Option<File>,
    /// Records that the file has, and records that the log gave so far.
    there: u64,
    given: u64,
}

impl TranscriptWriter {
    /// Opens the transcript of a session behind its last whole record. `None` for an agent that writes its own, and for a terminal.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn open(folder: &Folder, spec: &OwnSpec) -> io::Result<Option<Self>> {
        if spec.kind == OwnKind::Pty || matches!(spec.agent, OwnAgent::Claude | OwnAgent::Shell) {
            return Ok(None);
        }
        let path = folder.transcript();
        for folder in path.ancestors().skip(1).take(2).collect::<Vec<_>>().into_iter().rev() {
            private_dir(folder)?;
        }
        let mut file = open_private(OpenOptions::new().read(true).append(true).create(true), &path)?;
        let (there, length) = whole_records(&mut file)?;
        file.set_len(length)?;
        let (session, cwd) = (spec.session.clone(), spec.cwd.clone());
        Ok(Some(Self { session, cwd, file: Some(file), there, given: 0 }))
    }

    /// Writes the records of a log record's events, but for those that the file has.
    pub fn take(&mut self, n: u64, at: Timestamp, events: &[OwnWhat]) {
        for (part, event) in events.iter().enumerate() {
            let Some(mut record) = record(event) else { continue };
            self.given += 1;
            if self.given <= self.there {
                continue;
            }
            let Some(file) = &mut self.file else { return };
            let session = stable_hash(self.session.as_bytes()) >> 32;
            record["uuid"] = format!("{session:08x}-{part:04x}-8000-8000-{n:012x}").into();
            record["timestamp"] = at.to_string().into();
            record["sessionId"] = self.session.as_str().into();
            record["cwd"] = self.cwd.as_str().into();
            if let Err(error) = file.write_all(format!("{record}\n").as_bytes()) {
                tracing::warn!(%error, "a transcript cannot be written");
                self.file = None;
                return;
            }
        }
    }
}

/// How many whole lines a file has, and how long they are together.
fn whole_records(file: &mut File) -> io::Result<(u64, u64)> {
    let (mut lines, mut length, mut read) = (0, 0, 0);
    let mut buffer = vec![0; 64 << 10];
    file.seek(SeekFrom::Start(0))?;
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return Ok((lines, length));
        }
        for (at, byte) in buffer[..count].iter().enumerate() {
            if *byte == b'\n' {
                (lines, length) = (lines + 1, read + at as u64 + 1);
            }
        }
        read += count as u64;
    }
}

/// An event as a record. Only words and calls are kept.
fn record(event: &OwnWhat) -> Option<Value> {
    let message =
        |role: &str, content: Value| json!({ "type": role, "message": { "role": role, "content": content } });
    match event {
        OwnWhat::Prompt { text, place: PromptPlace::Sent, .. } if !text.is_empty() => {
            Some(message("user", text.as_str().into()))
        }
        OwnWhat::Block { text, thinking: false, .. } if !text.is_empty() => {
            Some(message("assistant", json!([{ "type": "text", "text": text }])))
        }
        OwnWhat::ToolUse { id, tool, input, .. } => Some(message(
            "assistant",
            json!([{ "type": "tool_use", "id": id, "name": tool, "input": input }]),
        )),
        OwnWhat::ToolResult { id, text, failed } => {
            let result =
                json!([{ "type": "tool_result", "tool_use_id": id, "content": text, "is_error": failed }]);
            Some(message("user", result))
        }
        _ => None,
    }
}
