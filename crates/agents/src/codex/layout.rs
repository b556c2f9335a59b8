//! Classifies a path below Codex's folder by its name alone.
//!
//! `sessions/YYYY/MM/DD/rollout-<local time>-<thread id>.jsonl` is a session; `archived_sessions/` has the same names, flat (0.63 to
//! 0.169). `thread-writer-locks/<thread id>.lock` is empty: the process that runs the thread keeps it locked (0.169).
//! `session_index.jsonl` has names of sessions. All else is left alone: keys, databases, and the server's own copies of the program.

use std::path::{Path, PathBuf};

use watchbill_core::ids::{Agent, SessionId};

use super::names::NAMES;
use crate::paths::ClientPath;
use crate::traits::TopFolder;

/// The folders that hold rollouts, and the one of the locks.
pub const FOLDERS: &[TopFolder] = &[
    TopFolder { name: "sessions", deep: true },
    TopFolder { name: "archived_sessions", deep: false },
    TopFolder { name: LOCKS, deep: false },
];

/// The folder with a locked file for each running thread.
pub const LOCKS: &str = "thread-writer-locks";

/// Classifies a path relative to Codex's folder.
pub fn classify(relative: &Path) -> Option<ClientPath> {
    match locked_thread(relative) {
        Some(id) => Some(ClientPath::Lock { agent: Agent::Codex, session: SessionId::new(id), pid: None }),
        None if is_transcript(relative) => find(relative),
        None if is_names(relative) => Some(ClientPath::Names { agent: Agent::Codex }),
        None => None,
    }
}

/// The path of a session's lock, relative to Codex's folder.
pub fn lock_of(session: &SessionId) -> PathBuf {
    Path::new(LOCKS).join(format!("{session}.lock"))
}

/// The thread's id in the path of a lock.
fn locked_thread(relative: &Path) -> Option<&str> {
    let id = relative.strip_prefix(LOCKS).ok()?.to_str()?.strip_suffix(".lock")?;
    is_id(id).then_some(id)
}

/// The rollout that a path names, below any folder.
pub fn find(path: &Path) -> Option<ClientPath> {
    thread_of(path).map(|id| ClientPath::Transcript { agent: Agent::Codex, session: SessionId::new(id) })
}

/// Whether a path relative to Codex's folder is a rollout.
fn is_transcript(relative: &Path) -> bool {
    let mut names = relative.iter();
    let top = names.next();
    let depth = names.count();
    FOLDERS
        .iter()
        .any(|folder| top.is_some_and(|top| top == folder.name) && depth == if folder.deep { 4 } else { 1 })
        && thread_of(relative).is_some()
}

fn is_names(relative: &Path) -> bool {
    relative == Path::new(NAMES.name)
}

/// The thread's id in the name of a rollout.
pub(super) fn thread_of(path: &Path) -> Option<&str> {
    let stem = path.file_name()?.to_str()?.strip_prefix("rollout-")?.strip_suffix(".jsonl")?;
    let (time, id) = stem.split_at_checked(stem.len().checked_sub(UUID)?)?;
    (is_id(id) && time.ends_with('-') && !time.contains([' ', '(', '.', '~'])).then_some(id)
}

fn is_id(text: &str) -> bool {
    text.len() == UUID && text.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
}

/// The length of a UUID as text.
const UUID: usize = 36;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rollouts_are_read() {
        let id = "01a1f9a8-51c2-7810-b121-7ef069913a9e";
        let name = format!("rollout-2026-11-20T15-52-00-{id}.jsonl");
        for folder in ["sessions/2026/11/20", "archived_sessions"] {
            let place = classify(Path::new(&format!("{folder}/{name}")));
            let session = SessionId::new(id);
            assert_eq!(place, Some(ClientPath::Transcript { agent: Agent::Codex, session }), "{folder}");
        }
        let lock = lock_of(&SessionId::new(id));
        let place = ClientPath::Lock { agent: Agent::Codex, session: SessionId::new(id), pid: None };
        assert_eq!(classify(&lock), Some(place));
        let names = Path::new("session_index.jsonl");
        let place = ClientPath::Names { agent: Agent::Codex };
        assert_eq!(classify(names), Some(place));
        for path in [
            format!("thread-writer-locks/{id}"),
            format!("thread-writer-locks/x/{id}.lock"),
            "thread-writer-locks/../auth.lock".into(),
            format!("sessions/{name}"),
            format!("sessions/2026/11/{name}"),
            format!("archived_sessions/2026/{name}"),
            format!("packages/2026/11/20/{name}"),
            format!("../sessions/2026/11/20/{name}"),
            format!("sessions/2026/11/20/rollout-2026-11-20T15-52-00-{id}.jsonl.zst"),
            format!("sessions/2026/11/20/rollout-2026-11-20T15-52-00-{id} 2.jsonl"),
            format!("sessions/2026/11/20/rollout-2026 (1)-{id}.jsonl"),
            format!("sessions/2026/11/20/{id}.jsonl"),
            "sessions/2026/11/20/rollout-x.jsonl".into(),
            "sessions/2026/11/20/rollout-ü.jsonl".into(),
            "sessions/session_index.jsonl".into(),
            "auth.json".into(),
            "state_5.sqlite".into(),
        ] {
            assert_eq!(classify(Path::new(&path)), None, "{path}");
        }
    }
}
