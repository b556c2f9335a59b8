//! Classifies a path below Grok's folder by its name alone (1.0.41).
//!
//! `sessions/<working folder>/<session>/updates.jsonl` is a session. `events.jsonl` beside it tells which dialogs are open. All else
//! is left alone: keys, settings, logs, summaries.

use std::path::Path;

use watchbill_core::ids::{Agent, SessionId};

use crate::paths::ClientPath;
use crate::traits::TopFolder;

/// The folder of sessions.
pub const FOLDERS: &[TopFolder] = &[TopFolder { name: SESSIONS, deep: true }];

const SESSIONS: &str = "sessions";

/// Classifies a path relative to Grok's folder.
pub fn classify(relative: &Path) -> Option<ClientPath> {
    let (session, file) = split(relative)?;
    let session = SessionId::new(session);
    Some(match file {
        File::Updates => ClientPath::Transcript { agent: Agent::Grok, session },
        // Without a name, it is of no subagent: it tells what the session itself asks.
        File::Events => ClientPath::Subagent { session, agent: "".into() },
    })
}

/// The session that a path names, below any folder.
pub fn find(path: &Path) -> Option<ClientPath> {
    classify(path.strip_prefix(path.ancestors().nth(4)?).ok()?)
}

/// Whether a folder can hold such files.
pub fn may_hold(relative: &Path) -> bool {
    relative.iter().count() <= 3
}

enum File {
    Updates,
    Events,
}

fn split(relative: &Path) -> Option<(&str, File)> {
    let names: Option<Vec<&str>> = relative.iter().map(|name| name.to_str()).collect();
    let [SESSIONS, folder, session, name] = names?[..] else { return None };
    let is_id = session.len() == 36 && session.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit());
    let file = match name {
        "updates.jsonl" => File::Updates,
        "events.jsonl" => File::Events,
        _ => return None,
    };
    (is_id && folder != "..").then_some((session, file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_updates_and_events_are_read() {
        const ID: &str = "01a21b8d-6580-7eb0-8f9c-ca68821bc48d";
        let session = SessionId::new(ID);
        let at = |name: &str| format!("{SESSIONS}/%2Fhome%2Fdev%2Fwork/{ID}/{name}");
        let updates = ClientPath::Transcript { agent: Agent::Grok, session: session.clone() };
        let events = ClientPath::Subagent { session, agent: "".into() };
        for (name, place) in [("updates.jsonl", updates), ("events.jsonl", events)] {
            let path = at(name);
            let path = Path::new(&path);
            assert_eq!(classify(path), Some(place.clone()));
            assert_eq!(find(&Path::new("/x/y").join(path)), Some(place));
            assert!(path.ancestors().skip(1).all(may_hold));
        }
        for other in ["chat_history.jsonl", "summary.json", "subagents/x/updates.jsonl", "../updates.jsonl"] {
            assert_eq!(classify(Path::new(&at(other))), None, "{other}");
        }
        for other in [
            format!("{SESSIONS}/../{ID}/updates.jsonl"),
            format!("{SESSIONS}/a/prompt_history.jsonl"),
            "auth.json".into(),
        ] {
            assert_eq!(classify(Path::new(&other)), None, "{other}");
        }
        assert!(!may_hold(Path::new(&at("terminal"))));
    }
}
