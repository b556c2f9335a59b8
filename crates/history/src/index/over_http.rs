//! Transcripts of sessions that other programs report over HTTP, in the form of Claude Code: search, timelines and exports read them
//! as they read every transcript. A session has one as long as no transcript of an agent is known.

use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use watchbill_core::ids::{SessionId, stable_hash};
use watchbill_core::time::Timestamp;
use watchbill_platform::files::{open_private, private_dir};
use watchbill_settings::over_http_root;
use watchbill_store::{SessionKey, StoreError, WriteTransaction};

/// The folder of all of them.
fn folder(data_dir: &Path) -> PathBuf {
    over_http_root(data_dir).join("projects").join("http")
}

/// Where the transcript of a session lies. An id that could lead to another file has none.
fn place(data_dir: &Path, session: &SessionId) -> Option<PathBuf> {
    let id = session.as_str();
    let fits = (1..=128).contains(&id.len())
        && !id.starts_with("agent-")
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    fits.then(|| folder(data_dir).join(format!("{id}.jsonl")))
}

/// The transcript of a session, if there is one.
pub fn transcript(data_dir: &Path, session: &SessionId) -> Option<PathBuf> {
    place(data_dir, session).filter(|path| path.is_file())
}

/// Whether it is such a transcript in the data folder of this store.
pub(super) fn is_one(step: &WriteTransaction<'_>, path: &Path) -> bool {
    step.path().parent().is_some_and(|data_dir| path.parent() == Some(folder(data_dir).as_path()))
}

/// Appends what an event says to the transcript of its session, and notes the project that it names. Returns the file if it has
/// grown. A reader takes an event that is appended again for the same one.
pub(crate) fn take(
    step: &mut WriteTransaction<'_>,
    key: SessionKey,
    session: &SessionId,
    payload: &str,
    at: Timestamp,
) -> Result<Option<PathBuf>, StoreError> {
    let event: Value = serde_json::from_str(payload).unwrap_or_default();
    if let Some(project) = event["project"].as_str() {
        step.note_project(key, project)?;
    }
    let Some(path) = step.path().parent().and_then(|data_dir| place(data_dir, session)) else {
        return Ok(None);
    };
    let records = records(&event, session, at);
    if records.is_empty() || !step.other_transcripts(session, &path.to_string_lossy())?.is_empty() {
        return Ok(None);
    }
    append(&path, &records).map_err(|source| StoreError::Io { path: path.clone(), source })?;
    Ok(Some(path))
}

fn append(path: &Path, records: &[Value]) -> io::Result<()> {
    for folder in path.ancestors().skip(1).take(3).collect::<Vec<_>>().into_iter().rev() {
        private_dir(folder)?;
    }
    let mut file = open_private(OpenOptions::new().read(true).append(true).create(true), path)?;
    let mut last = *b"\n";
    if file.seek(SeekFrom::End(-1)).is_ok() {
        file.read_exact(&mut last)?;
    }
    // A program that was killed may have left a part of a line.
    let end = if last == *b"\n" { "" } else { "\n" };
    let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
    file.write_all(format!("{end}{lines}").as_bytes())
}

/// The records of an event.
fn records(event: &Value, session: &SessionId, at: Timestamp) -> Vec<Value> {
    let record =
        |role: &str, content: Value| json!({ "type": role, "message": { "role": role, "content": content } });
    let call = &event["tool_use_id"];
    let mut records = match event["hook_event_name"].as_str() {
        Some("UserPromptSubmit") => vec![record("user", event["prompt"].clone())],
        Some("PostToolUse") => {
            let (tool, input) = (&event["tool_name"], &event["tool_input"]);
            let result = match &event["tool_response"] {
                Value::String(text) => text.clone(),
                Value::Null => String::new(),
                other => other.to_string(),
            };
            let used = json!([{ "type": "tool_use", "id": call, "name": tool, "input": input }]);
            let gave = json!([{ "type": "tool_result", "tool_use_id": call, "content": result }]);
            vec![record("assistant", used), record("user", gave)]
        }
        Some("Stop") => match event["last_assistant_message"].as_str() {
            Some(text) => {
                let mut said = record("assistant", json!([{ "type": "text", "text": text }]));
                said["message"]["stop_reason"] = "end_turn".into();
                vec![said]
            }
            None => Vec::new(),
        },
        _ => Vec::new(),
    };
    let event_id = stable_hash(event.to_string().as_bytes());
    for (part, record) in records.iter_mut().enumerate() {
        record["uuid"] = format!("http-{event_id:016x}-{part}").into();
        record["timestamp"] = at.to_string().into();
        record["sessionId"] = session.as_str().into();
        for (to, from) in [("promptId", "prompt_id"), ("cwd", "cwd")] {
            if event[from].is_string() {
                record[to] = event[from].clone();
            }
        }
    }
    records
}

/// Removes the transcripts of these sessions, and in others the lines that `is_meant` names.
///
/// # Errors
/// When a file cannot be read or written.
pub(crate) fn remove(
    data_dir: &Path,
    sessions: &[SessionId],
    is_meant: &dyn Fn(&str) -> bool,
) -> io::Result<()> {
    let mut there: Vec<PathBuf> =
        fs::read_dir(folder(data_dir)).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    for path in sessions.iter().filter_map(|session| transcript(data_dir, session)) {
        there.retain(|other| *other != path);
        fs::remove_file(path)?;
    }
    for path in there {
        let text = fs::read_to_string(&path)?;
        let left: Vec<&str> = text.split_inclusive('\n').filter(|line| !is_meant(line)).collect();
        let left = left.concat();
        if left.len() < text.len() {
            replace(&path, text.len() as u64, left.as_bytes())?;
        }
    }
    Ok(())
}

/// Replaces a file that still has this length. Another program may have appended records: the next reader looks again.
pub(super) fn replace(path: &Path, length: u64, bytes: &[u8]) -> io::Result<()> {
    let new = path.with_extension(format!("{}.new", std::process::id()));
    let mut file = open_private(OpenOptions::new().write(true).create_new(true), &new)?;
    let written = file.write_all(bytes).and_then(|()| match fs::metadata(path)?.len() == length {
        true => fs::rename(&new, path),
        false => fs::remove_file(&new),
    });
    written.inspect_err(|_| drop(fs::remove_file(&new)))
}
