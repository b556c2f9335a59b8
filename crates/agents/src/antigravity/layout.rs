//! Classifies a path below Antigravity's folder by its name alone.
//!
//! `brain/<id>/.system_generated/logs/transcript.jsonl` is a session. All else is left alone: databases, plans, locks and logs.

use std::path::Path;

use watchbill_core::ids::{Agent, SessionId};

use crate::paths::ClientPath;
use crate::traits::TopFolder;

/// The folder of sessions.
pub const FOLDERS: &[TopFolder] = &[TopFolder { name: SESSIONS, deep: true }];

const SESSIONS: &str = "brain";
const BELOW: [&str; 3] = [".system_generated", "logs", "transcript.jsonl"];

/// Classifies a path relative to Antigravity's folder.
pub fn classify(relative: &Path) -> Option<ClientPath> {
    let names: Option<Vec<&str>> = relative.iter().map(|name| name.to_str()).collect();
    let names = names?;
    let [SESSIONS, id, below @ ..] = &names[..] else { return None };
    let is_id = id.len() == 36 && id.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit());
    let session = SessionId::new(id);
    (is_id && below == BELOW).then_some(ClientPath::Transcript { agent: Agent::Antigravity, session })
}

/// The session that a path names, below any folder.
pub fn find(path: &Path) -> Option<ClientPath> {
    classify(path.strip_prefix(path.ancestors().nth(BELOW.len() + 2)?).ok()?)
}

/// Whether a folder can hold sessions. One of a session has many other files.
pub fn may_hold(relative: &Path) -> bool {
    relative.iter().skip(2).zip(BELOW).all(|(name, wanted)| name == wanted) && relative.iter().count() <= 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_known_and_nothing_else() {
        let id = "3f6a1c52-0b7e-4d11-9a3c-5e1f00aa77bc";
        let path = Path::new("brain").join(id).join(".system_generated/logs/transcript.jsonl");
        let place = Some(ClientPath::Transcript { agent: Agent::Antigravity, session: SessionId::new(id) });
        assert_eq!(classify(&path), place);
        assert_eq!(find(&Path::new("/home/dev/.gemini/antigravity-cli").join(&path)), place);
        assert!(path.ancestors().skip(1).all(may_hold));
        for other in [
            format!("brain/{id}/.system_generated/logs/transcript_full.jsonl"),
            format!("brain/{id}/plan.md"),
            "brain/x/.system_generated/logs/transcript.jsonl".into(),
            format!("implicit/{id}/.system_generated/logs/transcript.jsonl"),
            format!("conversations/{id}.db"),
        ] {
            assert_eq!(classify(Path::new(&other)), None, "{other}");
        }
        assert!(!may_hold(&Path::new("brain").join(id).join("media")));
    }
}
