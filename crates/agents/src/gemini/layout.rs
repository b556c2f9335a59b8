//! Classifies a path below Gemini's folder by its name alone (0.61).
//!
//! `tmp/<project>/chats/session-<time>-<8 characters of the id>.jsonl` is a session, and `chats/<id of the session>/<agent>.jsonl` a
//! subagent's. Older clients wrote a session as one document, `session-….json`. `tmp/<project>/.project_root` has the
//! working folder. All else is left alone: keys and logs.

use std::path::{Path, PathBuf};

use watchbill_core::ids::{Agent, SessionId};

use crate::paths::ClientPath;
use crate::traits::TopFolder;

/// The folder of projects.
pub const FOLDERS: &[TopFolder] = &[TopFolder { name: PROJECTS, deep: true }];

const PROJECTS: &str = "tmp";
const CHATS: &str = "chats";
/// The file beside the chats of a project.
const WORKING_FOLDER: &str = ".project_root";
/// A file's name has so many characters of a session's id.
const SHORT: usize = 8;
/// `2026-11-23T16-28`
const TIME: usize = 16;

/// Classifies a path relative to Gemini's folder.
pub fn classify(relative: &Path) -> Option<ClientPath> {
    let is_document = relative.extension().is_some_and(|extension| extension == "json");
    let (session, subagent) = split(relative)?;
    let session = SessionId::new(session);
    Some(match subagent {
        Some(agent) => ClientPath::Subagent { session, agent: agent.into() },
        None if is_document => ClientPath::Document { agent: Agent::Gemini },
        None => ClientPath::Transcript { agent: Agent::Gemini, session },
    })
}

/// The session that a path names, below any folder.
pub fn find(path: &Path) -> Option<ClientPath> {
    classify(path.strip_prefix(chats_of(path)?.ancestors().nth(3)?).ok()?)
}

/// Whether a folder can hold sessions. A project has many other files.
pub fn may_hold(relative: &Path) -> bool {
    let mut names = relative.iter().skip(2);
    names.next().is_none_or(|name| name == CHATS) && names.count() <= 1
}

/// The name of a session in the names of files.
pub fn short(id: &str) -> &str {
    id.get(..SHORT).unwrap_or(id)
}

/// The file that has the working folder of a session.
pub fn working_folder(path: &Path) -> Option<PathBuf> {
    Some(chats_of(path)?.with_file_name(WORKING_FOLDER))
}

fn chats_of(path: &Path) -> Option<&Path> {
    path.ancestors().find(|above| above.ends_with(CHATS))
}

/// The name of the session in a path below Gemini's folder, and its subagent.
fn split(relative: &Path) -> Option<(&str, Option<&str>)> {
    let names: Option<Vec<&str>> = relative.iter().map(|name| name.to_str()).collect();
    let is_id =
        |id: &str| !id.is_empty() && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    match names?[..] {
        [PROJECTS, project, CHATS, name] if project != ".." => {
            let name = name.strip_prefix("session-")?;
            let name = name.strip_suffix(".jsonl").or_else(|| name.strip_suffix(".json"))?;
            let (time, id) = name.split_at_checked(TIME)?;
            let id = id.strip_prefix('-').filter(|id| id.len() <= SHORT && is_id(id))?;
            (time.as_bytes()[TIME - 6] == b'T').then_some((id, None))
        }
        [PROJECTS, project, CHATS, session, name] if project != ".." && is_id(session) => {
            let agent = name.strip_suffix(".jsonl").filter(|agent| is_id(agent))?;
            Some((short(session), Some(agent)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_and_subagents_are_known_and_nothing_else() {
        let session = SessionId::new("14c59a54");
        let chats = Path::new("tmp/work/chats");
        let main = (
            chats.join("session-2026-11-23T16-28-14c59a54.jsonl"),
            ClientPath::Transcript { agent: Agent::Gemini, session: session.clone() },
        );
        let agent = "2b4d125c-083a-49a8-bdc3-0a6cb7d1825c";
        let subagent = (
            chats.join(format!("14c59a54-cb06-4496-a11e-6790cf8c8cbf/{agent}.jsonl")),
            ClientPath::Subagent { session, agent: agent.into() },
        );
        for (path, place) in [main, subagent] {
            assert_eq!(classify(&path), Some(place.clone()));
            let whole = Path::new("/home/dev/.gemini").join(&path);
            assert_eq!(find(&whole), Some(place));
            let beside = Path::new("/home/dev/.gemini/tmp/work/.project_root");
            assert_eq!(working_folder(&whole).as_deref(), Some(beside));
            assert!(path.ancestors().skip(1).all(may_hold));
        }
        let document = chats.join("session-2026-11-23T16-28-14c59a54.json");
        assert_eq!(classify(&document), Some(ClientPath::Document { agent: Agent::Gemini }));
        for other in [
            "tmp/work/logs.json",
            "tmp/work/chats/14c59a54-cb06-4496-a11e-6790cf8c8cbf/2b4d125c.json",
            "tmp/work/chats/session-2026-11-23T16-28-14c59a54 2.jsonl",
            "tmp/work/chats/session-2026-11-23T16-28-.jsonl",
            "tmp/work/chats/session-ü.jsonl",
            "tmp/work/chats/14c59a54.jsonl",
            "tmp/work/chats/14c59a54/x/y.jsonl",
            "tmp/../chats/session-2026-11-23T16-28-14c59a54.jsonl",
            "tmp/chats/session-2026-11-23T16-28-14c59a54.jsonl",
            "history/work/chats/session-2026-11-23T16-28-14c59a54.jsonl",
            "oauth_creds.json",
        ] {
            assert_eq!(classify(Path::new(other)), None, "{other}");
        }
        assert!(!may_hold(Path::new("tmp/work/checkpoints")));
        assert_eq!(
            [short("14c59a54-cb06"), short("abc"), short("1234567ü")],
            ["14c59a54", "abc", "1234567ü"]
        );
    }
}
