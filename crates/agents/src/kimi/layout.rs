//! Classifies a path below Kimi's folder by its name alone (2.1.0).
//!
//! `sessions/<workspace>/<session>/agents/main/wire.jsonl` is a session, and that of another agent beside it a subagent of it. All
//! else is left alone: settings, caches, logs.

use std::path::Path;

use watchbill_core::ids::{Agent, SessionId};

use crate::paths::ClientPath;
use crate::traits::TopFolder;

/// The folder of sessions.
pub const FOLDERS: &[TopFolder] = &[TopFolder { name: SESSIONS, deep: true }];

const SESSIONS: &str = "sessions";

/// Classifies a path relative to Kimi's folder.
pub fn classify(relative: &Path) -> Option<ClientPath> {
    let (session, agent) = split(relative)?;
    let session = SessionId::new(session);
    Some(match agent {
        "main" => ClientPath::Transcript { agent: Agent::Kimi, session },
        agent => ClientPath::Subagent { session, agent: agent.into() },
    })
}

/// The session that a path names, below any folder.
pub fn find(path: &Path) -> Option<ClientPath> {
    classify(path.strip_prefix(path.ancestors().nth(6)?).ok()?)
}

/// Whether a folder can hold such files.
pub fn may_hold(relative: &Path) -> bool {
    relative.iter().nth(3).is_none_or(|name| name == "agents") && relative.iter().count() <= 5
}

/// The session and the agent of a path.
fn split(relative: &Path) -> Option<(&str, &str)> {
    let names: Option<Vec<&str>> = relative.iter().map(|name| name.to_str()).collect();
    let [SESSIONS, workspace, session, "agents", agent, "wire.jsonl"] = names?[..] else { return None };
    let id = session.strip_prefix("session_")?;
    let is_id = id.len() == 36 && id.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit());
    (is_id && workspace != ".." && agent != "..").then_some((session, agent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_and_their_subagents_are_known_and_nothing_else() {
        const ID: &str = "session_a54911a7-9aa6-4659-a611-c97192552128";
        let session = SessionId::new(ID);
        let folder = format!("{SESSIONS}/wd_work_6453f2ed0c91/{ID}");
        let subagent = ClientPath::Subagent { session: session.clone(), agent: "agent-0".into() };
        let main = ClientPath::Transcript { agent: Agent::Kimi, session };
        for (agent, place) in [("main", main), ("agent-0", subagent)] {
            let path = Path::new(&folder).join("agents").join(agent).join("wire.jsonl");
            assert_eq!(classify(&path), Some(place.clone()));
            assert_eq!(find(&Path::new("/x/y").join(&path)), Some(place));
            assert!(path.ancestors().skip(1).all(may_hold));
        }
        for other in [
            "state.json".to_owned(),
            format!("{folder}/state.json"),
            format!("{folder}/agents/main/plans/wire.jsonl"),
            format!("{folder}/agents/../wire.jsonl"),
            format!("{SESSIONS}/../{ID}/agents/main/wire.jsonl"),
            format!("{SESSIONS}/wd/session_x/agents/main/wire.jsonl"),
            format!("{SESSIONS}/{ID}/agents/main/wire.jsonl"),
        ] {
            assert_eq!(classify(Path::new(&other)), None, "{other}");
        }
        assert!(!may_hold(Path::new(&folder).join("notify").as_path()));
    }
}
