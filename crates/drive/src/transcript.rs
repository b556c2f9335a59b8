//! The transcript of an own session whose agent writes none that Watchbill reads: its prompts, answers and tool calls as records in
//! the form of Claude Code. The stored history reads it as it reads every transcript. It follows from the log, so a part that is
//! missing is made again. Of an agent that writes transcripts it has what the agent was ended before it could write.

use std::collections::{HashSet, VecDeque};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use watchbill_agents::supplement::{COMPARED, missing, newest_cwd};
use watchbill_agents::{folder_of, traits};
use watchbill_core::ids::stable_hash;
use watchbill_core::time::Timestamp;
use watchbill_platform::files::{open_private, private_dir};
use watchbill_protocol::own::event::{OwnWhat, PromptPlace};
use watchbill_protocol::own::spec::{OwnKind, OwnSpec};

use crate::folder::{Folder, replace_private};
use crate::replay;

/// So much of what a process said is kept for that, in bytes.
const MAX_RECEIVED: usize = 2 << 20;

/// The longest text that is kept of an answer that may be cut.
const MAX_OPEN_BYTES: usize = 2 << 20;

/// The notice behind a text that was cut, and its number among the records of the log record in which that text began.
const CUT: &str = "The agent ended before it had said all.";
const CUT_PART: usize = 0xffff;

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
    records: Records,
}

impl TranscriptWriter {
    /// Opens the transcript of a session behind its last whole record. `None` for an agent that writes its own, and for a terminal.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn open(folder: &Folder, spec: &OwnSpec) -> io::Result<Option<Self>> {
        let writes_none = spec.agent.agent().is_some_and(|agent| !traits(agent).writes_transcripts);
        if spec.kind == OwnKind::Pty || !writes_none {
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
        Ok(Some(Self { session, cwd, file: Some(file), there, given: 0, records: Records::default() }))
    }

    /// Writes the records of a log record's events, but for those that the file has.
    pub fn take(&mut self, n: u64, at: Timestamp, events: &[OwnWhat]) {
        let records: Vec<_> = events.iter().flat_map(|event| self.records.take(n, at, event)).collect();
        for (part, (_, at, record)) in records.into_iter().enumerate() {
            self.given += 1;
            if self.given <= self.there {
                continue;
            }
            let Some(file) = &mut self.file else { return };
            let record = stamped(record, &self.session, &self.session, &self.cwd, (n, part), at);
            if let Err(error) = file.write_all(format!("{record}\n").as_bytes()) {
                tracing::warn!(%error, "a transcript cannot be written");
                self.file = None;
                return;
            }
        }
    }
}

/// Keeps the records of a session's last process that the agent's own transcript lacks, from the log. That process has ended.
/// `now`: it was cut a moment ago. Later a transcript that is missing may be one that the agent has removed.
///
/// # Errors
/// When a file cannot be read or written.
pub fn complete(folder: &Folder, spec: &OwnSpec, now: bool) -> io::Result<()> {
    let writes = spec.agent.agent().is_some_and(|agent| traits(agent).writes_transcripts);
    if !writes || spec.kind == OwnKind::Pty || !folder.spec_file().exists() {
        return Ok(());
    }
    let (session, mut received) = received(folder, spec)?;
    // An id that the agent gave may be any text.
    let Some(path) = folder.supplement(&session) else { return Ok(()) };
    match agents_transcript(spec, &session) {
        Some(transcript) => {
            let end = end_of(&transcript)?;
            received = missing(received, &end);
            // The agent may have gone to another folder, which perhaps is excluded.
            if let Some(cwd) = newest_cwd(&end) {
                received.iter_mut().for_each(|record| record["cwd"] = cwd.as_str().into());
            }
        }
        None if now => {}
        None => return Ok(()),
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    // The ids are those of the log, so nothing is kept twice.
    received.retain(|record| !record["uuid"].as_str().is_some_and(|id| kept.contains(id)));
    // Another program may remove the session meanwhile.
    if received.is_empty() || !folder.spec_file().exists() {
        return Ok(());
    }
    for folder in path.ancestors().skip(1).take(2).collect::<Vec<_>>().into_iter().rev() {
        private_dir(folder)?;
    }
    let text: String = received.iter().map(|record| format!("{record}\n")).collect();
    replace_private(&path, (kept + &text).as_bytes())?;
    match path.parent().filter(|_| !folder.spec_file().exists()).map(fs::remove_dir_all) {
        Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The records that the host received of the last process, and the agent's id of the session.
fn received(folder: &Folder, spec: &OwnSpec) -> io::Result<(String, Vec<Value>)> {
    let resumed = spec.resume.as_ref().filter(|resume| !resume.fork);
    let mut session = resumed.map_or(&spec.session, |resume| &resume.session).clone();
    let (mut received, mut records) = (Received::default(), Records::default());
    // The calls of subagents. The agent has them in other transcripts.
    let mut nested = HashSet::new();
    replay::each(folder, spec, &mut |n, at, events| {
        for (part, event) in events.iter().enumerate() {
            match event {
                OwnWhat::Started { .. } => {
                    records.open.clear();
                    received = Received::default();
                    nested.clear();
                }
                OwnWhat::Init { session: now, .. } | OwnWhat::Moved { session: now } if *now != session => {
                    session.clone_from(now);
                    received = Received::default();
                }
                OwnWhat::ToolUse { id, parent: Some(_), .. } => {
                    nested.insert(stable_hash(id.as_bytes()));
                    continue;
                }
                OwnWhat::ToolResult { id, .. } if nested.contains(&stable_hash(id.as_bytes())) => continue,
                _ => {}
            }
            for (more, (n, at, record)) in records.take(n, at, event).into_iter().enumerate() {
                let mut record = stamped(record, &spec.session, &session, &spec.cwd, (n, part + more), at);
                // Claude Code takes the id of a prompt for its own record, and names the record of a block (2.1.329).
                if let OwnWhat::Prompt { id, .. } | OwnWhat::Block { record: Some(id), .. } = event {
                    record["uuid"] = id.as_str().into();
                }
                received.push(record);
            }
        }
        true
    })?;
    for (part, (n, at, record)) in records.end().into_iter().enumerate() {
        received.push(stamped(record, &spec.session, &session, &spec.cwd, (n, part), at));
    }
    Ok((session, received.records.into_iter().map(|(_, record)| record).collect()))
}

/// The newest records: those of the last two prompts, and of these the newest ones if they are large. The prompts stay, as they say
/// whether the rest is private.
#[derive(Default)]
struct Received {
    /// Each with the bytes that it takes.
    records: VecDeque<(usize, Value)>,
    bytes: usize,
}

impl Received {
    fn push(&mut self, record: Value) {
        let is_prompt = |(_, record): &(usize, Value)| record["message"]["content"].is_string();
        // The input of a call may be a list of lists: each value takes more memory than its text.
        let text = record.to_string();
        let is_call = record["message"]["content"][0]["type"] == "tool_use";
        let values = text.bytes().filter(|byte| is_call && matches!(byte, b'[' | b'{' | b',')).count();
        let new = (text.len() + values * 128, record);
        if is_prompt(&new)
            && let Some(newest) = self.records.iter().rposition(is_prompt)
        {
            self.records.drain(..newest).for_each(|(length, _)| self.bytes -= length);
        }
        while self.bytes + new.0 > MAX_RECEIVED
            && let Some(oldest) = self.records.iter().position(|record| !is_prompt(record))
        {
            self.bytes -= self.records.remove(oldest).map_or(0, |(length, _)| length);
        }
        self.bytes += new.0;
        self.records.push_back(new);
    }
}

/// The transcript that the agent writes, if it is there.
fn agents_transcript(spec: &OwnSpec, session: &str) -> Option<PathBuf> {
    let usual = || folder_of(spec.agent.agent()?, &|name| std::env::var_os(name));
    let root = spec.root.as_ref().map(PathBuf::from).or_else(usual)?;
    let folders = fs::read_dir(root.join("projects")).ok()?.flatten();
    folders.map(|folder| folder.path().join(session).with_extension("jsonl")).find(|path| path.is_file())
}

fn end_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(COMPARED)))?;
    let mut end = Vec::new();
    file.take(COMPARED).read_to_end(&mut end)?;
    Ok(end)
}

/// A record with what each record of a transcript has. `place`: the number of its log record, and its number there.
fn stamped(
    mut record: Value,
    own: &str,
    session: &str,
    cwd: &str,
    (n, part): (u64, usize),
    at: Timestamp,
) -> Value {
    let own = stable_hash(own.as_bytes()) >> 32;
    let part = if record.get("isApiErrorMessage").is_some() { CUT_PART } else { part };
    record["uuid"] = format!("{own:08x}-{part:04x}-8000-8000-{n:012x}").into();
    record["timestamp"] = at.to_string().into();
    record["sessionId"] = session.into();
    record["cwd"] = cwd.into();
    record
}

/// The records of events. A text that grows is one when it is whole, or when its agent has ended.
#[derive(Debug, Default)]
struct Records {
    /// The growing texts, with their blocks, and with the log records and times in which they began.
    open: Vec<(u64, Timestamp, String, String)>,
}

impl Records {
    /// The records of an event, each with the number of its log record and its time.
    fn take(&mut self, n: u64, at: Timestamp, event: &OwnWhat) -> Vec<(u64, Timestamp, Value)> {
        match event {
            OwnWhat::Text { block, delta } => {
                let known = self.open.iter_mut().find(|(.., open, _)| open == block);
                match known {
                    Some((.., text)) if text.len() + delta.len() > MAX_OPEN_BYTES => {}
                    Some((.., text)) => text.push_str(delta),
                    None => self.open.push((n, at, block.clone(), delta.clone())),
                }
                return Vec::new();
            }
            OwnWhat::Block { block, .. } => self.open.retain(|(.., open, _)| open != block),
            OwnWhat::Started { .. } | OwnWhat::SessionEnded { .. } => return self.end(),
            _ => {}
        }
        record(event).map(|record| (n, at, record)).into_iter().collect()
    }

    /// The texts that were cut, and a notice. A window that has shown such a text knows its record by the number of the log record in
    /// which it began. However often the end is read, the notice has the number of the last one.
    fn end(&mut self) -> Vec<(u64, Timestamp, Value)> {
        let cut = self.open.drain(..).filter(|(.., text)| !text.trim().is_empty());
        let mut cut: Vec<_> = cut.map(|(n, at, block, text)| (n, at, said(&block, &text))).collect();
        if let Some(&(n, at, _)) = cut.last() {
            let mut notice = said("", CUT);
            notice["isApiErrorMessage"] = true.into();
            cut.push((n, at, notice));
        }
        cut
    }
}

/// A text of the agent. The name of its block begins with the id of its message.
fn said(block: &str, text: &str) -> Value {
    let id = block.split_once('#').map_or(block, |(id, _)| id);
    json!({ "type": "assistant", "message": { "id": id, "role": "assistant", "content": [{ "type": "text", "text": text }] } })
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
        OwnWhat::Block { block, text, thinking: false, .. } if !text.is_empty() => Some(said(block, text)),
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
