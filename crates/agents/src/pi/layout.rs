//! Classifies a path below pi's folder by its name alone.
//!
//! `sessions/<folder of the working folder>/<time>_<id>.jsonl` is a session (pi 1.5.2; Oh My Pi names the folders in other ways).
//! Keys, extensions, and the files of Oh My Pi's subagents are left alone.

use std::path::Path;

use watchbill_core::ids::{Agent, SessionId};

use crate::paths::ClientPath;
use crate::traits::TopFolder;

/// The folder of sessions.
pub const FOLDERS: &[TopFolder] = &[TopFolder { name: SESSIONS, deep: true }];

const SESSIONS: &str = "sessions";

/// Classifies a path relative to pi's folder.
pub fn classify(relative: &Path) -> Option<ClientPath> {
    id_of(relative).map(place)
}

/// The session that a path names, below any folder.
pub fn find(path: &Path) -> Option<ClientPath> {
    let root = path.ancestors().nth(3)?;
    classify(path.strip_prefix(root).ok()?)
}

/// Whether a folder can hold sessions. Oh My Pi keeps a folder beside each session.
pub fn may_hold(relative: &Path) -> bool {
    relative.iter().count() <= 2
}

fn place(id: &str) -> ClientPath {
    ClientPath::Transcript { agent: Agent::Pi, session: SessionId::new(id) }
}

/// The session's id in a path below pi's folder.
fn id_of(relative: &Path) -> Option<&str> {
    let names: Option<Vec<&str>> = relative.iter().map(|name| name.to_str()).collect();
    let [SESSIONS, folder, name] = names?[..] else { return None };
    let (time, id) = name.strip_suffix(".jsonl")?.split_once('_')?;
    // `2026-11-27T05-29-55-322Z`
    let is_time = time.len() == 24 && time.ends_with('Z') && time.as_bytes()[10] == b'T';
    let is_id = !id.is_empty() && id.bytes().all(|byte| byte == b'-' || byte.is_ascii_alphanumeric());
    (folder != ".." && is_time && is_id).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_known_and_nothing_else() {
        let name = "2026-11-27T05-29-55-322Z_01a21b7b-4d79-72fb-a336-6ee4dd3e12e1.jsonl";
        for folder in ["--home-dev-work--", "-work"] {
            let path = Path::new(SESSIONS).join(folder).join(name);
            let session = SessionId::new("01a21b7b-4d79-72fb-a336-6ee4dd3e12e1");
            let place = Some(ClientPath::Transcript { agent: Agent::Pi, session });
            assert_eq!(classify(&path), place.clone());
            assert_eq!(find(&Path::new("/home/dev/x").join(&path)), place);
            assert!(may_hold(path.parent().unwrap()) && !may_hold(&path));
        }
        for other in [
            "auth.json".to_owned(),
            format!("sessions/{name}"),
            format!("sessions/../{name}"),
            format!("sessions/a/b/{name}"),
            format!("x/a/{name}"),
            format!("sessions/a/{}", name.replace(".jsonl", " 2.jsonl")),
            "sessions/a/2026-11-27T05-29-55-322Z_.jsonl".into(),
            "sessions/a/x_01a21b7b.jsonl".into(),
            "sessions/a/2026-11-27T05-29-55-322Z.jsonl".into(),
        ] {
            assert_eq!(classify(Path::new(&other)), None, "{other}");
        }
    }
}
