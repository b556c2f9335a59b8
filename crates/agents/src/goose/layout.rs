//! Names the paths at which the sessions of goose's database are shown: `sessions.db/<session>.jsonl`. No such files exist.

use std::path::{Path, PathBuf};

use watchbill_core::ids::{Agent, SessionId};

use crate::paths::ClientPath;

/// The database in goose's folder of sessions.
pub const DATABASE: &str = "sessions.db";

/// Classifies a path relative to that folder.
pub fn classify(relative: &Path) -> Option<ClientPath> {
    if relative.to_str().is_some_and(|name| matches!(name.strip_prefix(DATABASE), Some("" | "-wal"))) {
        return Some(ClientPath::Database { agent: Agent::Goose });
    }
    let session = SessionId::new(session_of(relative.strip_prefix(DATABASE).ok()?)?);
    Some(ClientPath::Transcript { agent: Agent::Goose, session })
}

/// The session that a path names, below any folder.
pub fn find(path: &Path) -> Option<ClientPath> {
    let folder = path.parent().filter(|folder| folder.ends_with(DATABASE))?;
    classify(path.strip_prefix(folder.parent()?).ok()?)
}

/// The path of a session below the database.
pub fn path_of(session: &str, _: Option<&str>) -> PathBuf {
    PathBuf::from(format!("{session}.jsonl"))
}

/// The session of such a path.
pub fn session_of(below: &Path) -> Option<&str> {
    let id = below.to_str()?.strip_suffix(".jsonl")?;
    let is_id =
        !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    is_id.then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_and_the_database_are_known_and_nothing_else() {
        let path = Path::new(DATABASE).join(path_of("20251108_1", None));
        let session = SessionId::new("20251108_1");
        let place = Some(ClientPath::Transcript { agent: Agent::Goose, session });
        assert_eq!(classify(&path), place);
        assert_eq!(find(&Path::new("/home/dev/x").join(&path)), place);
        for database in ["sessions.db", "sessions.db-wal"] {
            assert_eq!(classify(Path::new(database)), Some(ClientPath::Database { agent: Agent::Goose }));
        }
        for other in [
            "sessions.db-shm",
            "sessions.db/.jsonl",
            "sessions.db/../x.jsonl",
            "x/sessions.db",
            "20250101.jsonl",
        ] {
            assert_eq!(classify(Path::new(other)), None, "{other}");
        }
    }
}
