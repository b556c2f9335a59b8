//! Classifies a path below Copilot's folder by its name alone (1.0.10 to 1.0.102).
//!
//! `session-state/<session>/events.jsonl` is a session. `inuse.<pid>.lock` beside it is there while a process has the session open,
//! and stays when that process is killed. All else is left alone.

use std::path::Path;

use watchbill_core::ids::{Agent, SessionId};

use crate::paths::ClientPath;
use crate::traits::TopFolder;

/// The folder of sessions.
const SESSIONS: &str = "session-state";

/// The folder that holds sessions.
pub const FOLDERS: &[TopFolder] = &[TopFolder { name: SESSIONS, deep: true }];

/// Classifies a path relative to Copilot's folder.
pub fn classify(relative: &Path) -> Option<ClientPath> {
    let (session, file) = split(relative)?;
    let (agent, session) = (Agent::Copilot, SessionId::new(session));
    match file {
        File::Events => Some(ClientPath::Transcript { agent, session }),
        File::InUse(pid) => Some(ClientPath::Lock { agent, session, pid: Some(pid) }),
    }
}

/// The session that a path names, below any folder.
pub fn find(path: &Path) -> Option<ClientPath> {
    let folder = path.ancestors().find(|above| above.file_name().is_some_and(|name| name == SESSIONS))?;
    classify(path.strip_prefix(folder.parent()?).ok()?)
}

/// Whether a folder can hold such files: that of all sessions, and that of one.
pub fn may_hold(relative: &Path) -> bool {
    relative.starts_with(SESSIONS) && relative.iter().count() <= 2
}

enum File {
    Events,
    InUse(u32),
}

fn split(relative: &Path) -> Option<(&str, File)> {
    let names: Option<Vec<&str>> = relative.iter().map(|name| name.to_str()).collect();
    let [SESSIONS, session, name] = names?[..] else { return None };
    let is_id = session.len() == 36 && session.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit());
    let pid = || name.strip_prefix("inuse.")?.strip_suffix(".lock")?.parse().ok();
    match name {
        "events.jsonl" if is_id => Some((session, File::Events)),
        _ if is_id => Some((session, File::InUse(pid()?))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_events_and_locks_are_read() {
        const ID: &str = "62fab872-bb5b-4795-a8a2-b874b246eb39";
        let at = |name: &str| format!("{SESSIONS}/{ID}/{name}");
        let (agent, session) = (Agent::Copilot, SessionId::new(ID));
        let events = ClientPath::Transcript { agent, session: session.clone() };
        assert_eq!(classify(Path::new(&at("events.jsonl"))), Some(events.clone()));
        assert_eq!(find(Path::new(&format!("/x/{}", at("events.jsonl")))), Some(events));
        let lock = ClientPath::Lock { agent, session, pid: Some(23073) };
        assert_eq!(classify(Path::new(&at("inuse.23073.lock"))), Some(lock));
        for other in
            ["inuse.23073.hold", "inuse.x.lock", "workspace.yaml", "files/events.jsonl", "../events.jsonl"]
        {
            assert_eq!(classify(Path::new(&at(other))), None, "{other}");
        }
        assert_eq!(classify(Path::new("session-state/x/events.jsonl")), None);
        assert!(may_hold(Path::new(&at(""))) && !may_hold(Path::new(&at("rewind-file-snapshots"))));
    }
}
