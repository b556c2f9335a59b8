//! Classifies a path below Droid's folder by its name alone (0.225.2).
//!
//! `sessions/<working folder>/<session>.jsonl` is a session. All else is left alone: keys, settings, the list of typed prompts.

use std::path::Path;

use watchbill_core::ids::{Agent, SessionId};

use crate::paths::ClientPath;
use crate::traits::TopFolder;

/// The folder of sessions.
pub const FOLDERS: &[TopFolder] = &[TopFolder { name: SESSIONS, deep: true }];

const SESSIONS: &str = "sessions";

/// Classifies a path relative to Droid's folder.
pub fn classify(relative: &Path) -> Option<ClientPath> {
    let session = SessionId::new(id_of(relative)?);
    Some(ClientPath::Transcript { agent: Agent::Droid, session })
}

/// The session that a path names, below any folder.
pub fn find(path: &Path) -> Option<ClientPath> {
    classify(path.strip_prefix(path.ancestors().nth(3)?).ok()?)
}

/// Whether a folder can hold sessions.
pub fn may_hold(relative: &Path) -> bool {
    relative.iter().count() <= 2
}

fn id_of(relative: &Path) -> Option<&str> {
    let names: Option<Vec<&str>> = relative.iter().map(|name| name.to_str()).collect();
    let [SESSIONS, folder, name] = names?[..] else { return None };
    let id = name.strip_suffix(".jsonl")?;
    let is_id = id.len() == 36 && id.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit());
    (is_id && folder != "..").then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_known_and_nothing_else() {
        const ID: &str = "84b912cb-b5e2-407d-ac97-cea1365637cd";
        let path = format!("{SESSIONS}/-home-dev-work/{ID}.jsonl");
        let place = Some(ClientPath::Transcript { agent: Agent::Droid, session: SessionId::new(ID) });
        let path = Path::new(&path);
        assert_eq!(classify(path), place.clone());
        assert_eq!(find(&Path::new("/x/y").join(path)), place);
        assert!(path.ancestors().skip(1).all(may_hold) && !may_hold(path));
        for other in [
            format!("{SESSIONS}/a/{ID}.settings.json"),
            format!("{SESSIONS}/a/{ID} 2.jsonl"),
            format!("{SESSIONS}/../{ID}.jsonl"),
            format!("{SESSIONS}/{ID}.jsonl"),
            format!("{SESSIONS}/a/b/{ID}.jsonl"),
            "auth.json".into(),
        ] {
            assert_eq!(classify(Path::new(&other)), None, "{other}");
        }
    }
}
