//! Names the paths at which the sessions of opencode's database are shown.
//!
//! `opencode.db/<session>.jsonl` is a session. A session that another one started is that one's subagent, and lies in
//! `opencode.db/<session>/subagents/agent-<child>.jsonl`. No such files exist: the database itself has the name of their folder.

use std::path::{Path, PathBuf};

use watchbill_core::ids::{Agent, SessionId};

use crate::paths::ClientPath;

/// The database below opencode's folder.
pub const DATABASE: &str = "opencode.db";

const SUBAGENTS: &str = "subagents";

/// Classifies a path relative to opencode's folder.
pub fn classify(relative: &Path) -> Option<ClientPath> {
    if is_database(relative) {
        return Some(ClientPath::Database { agent: Agent::Opencode });
    }
    let (session, child) = ids(relative.strip_prefix(DATABASE).ok()?)?;
    let session = SessionId::new(session);
    Some(match child {
        Some(child) => ClientPath::Subagent { session, agent: child.into() },
        None => ClientPath::Transcript { agent: Agent::Opencode, session },
    })
}

/// The session that a path names, below any folder.
pub fn find(path: &Path) -> Option<ClientPath> {
    let folder = path.ancestors().find(|above| above.file_name().is_some_and(|name| name == DATABASE))?;
    classify(path.strip_prefix(folder.parent()?).ok()?)
}

/// The path of a session below the database. `top` is the session at the beginning of its parents.
pub fn path_of(session: &str, top: Option<&str>) -> PathBuf {
    match top {
        Some(top) => Path::new(top).join(SUBAGENTS).join(format!("agent-{session}.jsonl")),
        None => PathBuf::from(format!("{session}.jsonl")),
    }
}

/// The session of such a path.
pub fn session_of(below: &Path) -> Option<&str> {
    let (session, child) = ids(below)?;
    Some(child.unwrap_or(session))
}

/// The database, or the log of its newest changes.
fn is_database(relative: &Path) -> bool {
    let name = relative.to_str();
    name.is_some_and(|name| matches!(name.strip_prefix(DATABASE), Some("" | "-wal")))
}

/// The session of a path below the database, and its subagent.
fn ids(below: &Path) -> Option<(&str, Option<&str>)> {
    let names: Option<Vec<&str>> = below.iter().map(|name| name.to_str()).collect();
    match names?.as_slice() {
        [name] => Some((is_id(name.strip_suffix(".jsonl")?)?, None)),
        [session, SUBAGENTS, name] => {
            let child = name.strip_prefix("agent-")?.strip_suffix(".jsonl")?;
            Some((is_id(session)?, Some(is_id(child)?)))
        }
        _ => None,
    }
}

fn is_id(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("ses_")?;
    (!rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::project_of;

    #[test]
    fn sessions_and_the_database_are_known_and_nothing_else() {
        let session = SessionId::new("ses_df6bea441ffeh6jIuKlZxPA6m7");
        let top = Path::new(DATABASE).join(path_of(session.as_str(), None));
        let place = ClientPath::Transcript { agent: Agent::Opencode, session: session.clone() };
        assert_eq!(classify(&top), Some(place.clone()));
        assert_eq!(find(&Path::new("/home/dev/x").join(&top)), Some(place));
        let child = path_of("ses_1", Some(session.as_str()));
        assert_eq!(session_of(&child), Some("ses_1"));
        let child = Path::new(DATABASE).join(child);
        let place = ClientPath::Subagent { session, agent: "ses_1".into() };
        assert_eq!(classify(&child), Some(place));
        let project = project_of(&Path::new("/home/dev/x").join(&child), Some("/home/dev/work"));
        assert_eq!(project.as_deref(), Some("-home-dev-work"), "a subagent belongs to the same agent");
        for database in ["opencode.db", "opencode.db-wal"] {
            let place = ClientPath::Database { agent: Agent::Opencode };
            assert_eq!(classify(Path::new(database)), Some(place), "{database}");
        }
        for other in [
            "opencode.db-shm",
            "auth.json",
            "opencode.db/ses_.jsonl",
            "opencode.db/msg_1.jsonl",
            "opencode.db/../auth.json",
            "opencode.db/ses_1/ses_2.jsonl",
            "x/opencode.db",
            "storage/ses_1.jsonl",
        ] {
            assert_eq!(classify(Path::new(other)), None, "{other}");
        }
    }
}
