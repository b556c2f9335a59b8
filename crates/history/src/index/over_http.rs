//! Transcripts of sessions that other programs report over HTTP, in the form of an agent's: search, timelines and exports read them
//! as they read every transcript. A session has one as long as no transcript of an agent is known.

use std::collections::HashSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use serde_json::Value;
use watchbill_agents::reported::records;
use watchbill_core::hook::{HookEvent, HookPayload, HookTexts};
use watchbill_core::ids::SessionId;
use watchbill_core::time::Timestamp;
use watchbill_hooks::sender::HTTP_ID;
use watchbill_platform::files::{open_ordinary, open_private, private_dir, read_ordinary};
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

/// Whether a file goes because `to` has its session: it is ours, in the data folder of this store, and `to` is the agent's.
pub(super) fn gives_way(step: &WriteTransaction<'_>, path: &Path, to: &Path) -> bool {
    let ours = step.path().parent().map(folder);
    ours.is_some_and(|folder| path.parent() == Some(&*folder)) && !is_like_ours(to)
}

/// The person may have moved the data folder since the path was stored.
fn is_like_ours(path: &Path) -> bool {
    path.parent().is_some_and(|folder| folder.ends_with("received/projects/http"))
}

/// Appends what an event says to the transcript of its session, and notes the project that it names. Returns the file if it has
/// grown. A reader takes an event that is appended again for the same one.
pub(crate) fn take(
    step: &mut WriteTransaction<'_>,
    key: SessionKey,
    payload: &HookPayload,
    text: &str,
    at: Timestamp,
) -> Result<Option<PathBuf>, StoreError> {
    let session = &payload.session;
    let mut event: Value = serde_json::from_str(text).unwrap_or_default();
    if let (Some(fields), Some(prompt)) = (event.as_object_mut(), &payload.prompt_id) {
        fields.insert("prompt_id".to_owned(), (**prompt).into());
    }
    if let Some(project) = event["project"].as_str() {
        step.note_project(key, project)?;
    }
    let Some(path) = step.path().parent().and_then(|data_dir| place(data_dir, session)) else {
        return Ok(None);
    };
    let records = records(&event, session.as_str(), &at.to_string());
    let others = step.other_transcripts(session, &path.to_string_lossy())?;
    if records.is_empty() || others.iter().any(|(_, other, _)| !is_like_ours(Path::new(other))) {
        return Ok(None);
    }
    match append(&path, &records) {
        Ok(()) => Ok(Some(path)),
        Err(error) if matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) => {
            Err(StoreError::Full { path })
        }
        Err(source) => Err(StoreError::Io { path, source }),
    }
}

/// An event that names no prompt belongs to the newest prompt of its session. `false`: it would end a turn of the agent, and a program
/// ends only turns that it began.
pub(crate) fn place_in_turn(
    step: &WriteTransaction<'_>,
    payload: &mut HookPayload,
    texts: &mut HookTexts<'_>,
) -> Result<bool, StoreError> {
    let prompt = match payload.prompt_id.take() {
        None => step.newest_batch(&payload.session)?.map(Into::into),
        known => known,
    };
    let is_own = prompt.as_deref().is_some_and(|prompt| prompt.starts_with(HTTP_ID));
    if !is_own {
        texts.last_assistant_message = None;
    }
    let ends_others = prompt.is_some() && !is_own && matches!(payload.event, HookEvent::Stop { .. });
    payload.prompt_id = prompt;
    Ok(!ends_others)
}

fn append(path: &Path, records: &[Value]) -> io::Result<()> {
    for folder in path.ancestors().skip(1).take(3).collect::<Vec<_>>().into_iter().rev() {
        private_dir(folder)?;
    }
    let mut file = open_ordinary(OpenOptions::new().read(true).append(true).create(true), path)?;
    let mut last = *b"\n";
    if file.seek(SeekFrom::End(-1)).is_ok() {
        file.read_exact(&mut last)?;
    }
    // A program that was killed may have left a part of a line.
    let end = if last == *b"\n" { "" } else { "\n" };
    let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
    file.write_all(format!("{end}{lines}").as_bytes())
}

/// The files of all sessions, also those that a killed program did not finish.
fn files(data_dir: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder(data_dir)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    Ok(entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()).collect())
}

/// Removes the transcripts of these sessions.
///
/// # Errors
/// When a file cannot be removed.
pub(crate) fn forget(data_dir: &Path, sessions: &[SessionId]) -> io::Result<()> {
    let sessions: HashSet<&str> = sessions.iter().map(SessionId::as_str).collect();
    // An id has no dot.
    let id = |path: &Path| Some(path.file_name()?.to_str()?.split('.').next()?.to_owned());
    let is_meant = |path: &PathBuf| id(path).is_some_and(|id| sessions.contains(&*id));
    files(data_dir)?.iter().filter(|path| is_meant(path)).try_for_each(fs::remove_file)
}

/// Removes the transcripts of these sessions, and in others the events that have a line that `is_meant` names. Says how many could not
/// be read; these stay as they are.
///
/// # Errors
/// When a file cannot be written.
pub(crate) fn remove(
    data_dir: &Path,
    sessions: &[SessionId],
    is_meant: &dyn Fn(&str) -> bool,
) -> io::Result<u64> {
    forget(data_dir, sessions)?;
    let mut unread = 0;
    for path in files(data_dir)? {
        if path.extension().is_some_and(|end| end == "new") {
            // A program that was killed did not finish it.
            fs::remove_file(&path)?;
            continue;
        }
        let bytes = match read_ordinary(&path) {
            Ok(bytes) => bytes,
            Err(error) => {
                tracing::warn!(%error, file = %path.display(), "`exclude` does not reach this file: make it readable, or remove it");
                unread += 1;
                continue;
            }
        };
        let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        // The lines of an event follow each other.
        let events =
            lines.chunk_by(|one, next| event_of(one).is_some_and(|event| event_of(next) == Some(event)));
        // A line that is not UTF-8 is a part of one.
        let stays = |line: &&[u8]| str::from_utf8(line).is_ok_and(|line| !is_meant(line));
        let left: Vec<&[u8]> = events.filter(|event| event.iter().all(stays)).flatten().copied().collect();
        let left = left.concat();
        if left.len() < bytes.len() {
            replace(&path, bytes.len() as u64, &left)?;
        }
    }
    Ok(unread)
}

/// The part of a line's `uuid` that all lines of its event share.
fn event_of(line: &[u8]) -> Option<String> {
    let record: Value = serde_json::from_slice(line).ok()?;
    Some(record["uuid"].as_str()?.rsplit_once('-')?.0.to_owned())
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
