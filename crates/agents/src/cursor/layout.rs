//! Classifies a path below Cursor's folder by its name alone.
//!
//! `projects/<project>/agent-transcripts/<id>/<id>.jsonl` is a session, or `…/<id>.jsonl` (files of 2026). All else is left alone:
//! databases, keys, and the files of subagents.

use std::path::Path;

use watchbill_core::ids::{Agent, SessionId};

use crate::paths::ClientPath;
use crate::traits::TopFolder;

/// The folder of projects.
pub const FOLDERS: &[TopFolder] = &[TopFolder { name: PROJECTS, deep: true }];

const PROJECTS: &str = "projects";
const TRANSCRIPTS: &str = "agent-transcripts";

/// Classifies a path relative to Cursor's folder.
pub fn classify(relative: &Path) -> Option<ClientPath> {
    let session = SessionId::new(id_of(relative)?);
    Some(ClientPath::Transcript { agent: Agent::Cursor, session })
}

/// The session that a path names, below any folder.
pub fn find(path: &Path) -> Option<ClientPath> {
    let transcripts = path.ancestors().find(|above| above.ends_with(TRANSCRIPTS))?;
    classify(path.strip_prefix(transcripts.ancestors().nth(3)?).ok()?)
}

/// Whether a folder can hold sessions. A project has many other files.
pub fn may_hold(relative: &Path) -> bool {
    let mut names = relative.iter().skip(2);
    names.next().is_none_or(|name| name == TRANSCRIPTS) && names.count() <= 1
}

/// The session's id in a path below Cursor's folder.
fn id_of(relative: &Path) -> Option<&str> {
    let names: Option<Vec<&str>> = relative.iter().map(|name| name.to_str()).collect();
    let (folder, name) = match names?[..] {
        [PROJECTS, project, TRANSCRIPTS, name] if project != ".." => (None, name),
        [PROJECTS, project, TRANSCRIPTS, folder, name] if project != ".." => (Some(folder), name),
        _ => return None,
    };
    let id = name.strip_suffix(".jsonl")?;
    let is_id = id.len() == 36 && id.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit());
    (is_id && folder.is_none_or(|folder| folder == id)).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_known_and_nothing_else() {
        let id = "3f6a1c52-0b7e-4d11-9a3c-5e1f00aa77bc";
        let project = "projects/home-dev-work";
        for name in [format!("{id}.jsonl"), format!("{id}/{id}.jsonl")] {
            let path = Path::new(project).join(TRANSCRIPTS).join(name);
            let place = Some(ClientPath::Transcript { agent: Agent::Cursor, session: SessionId::new(id) });
            assert_eq!(classify(&path), place.clone());
            assert_eq!(find(&Path::new("/home/dev/.cursor").join(&path)), place);
            assert!(path.ancestors().skip(1).all(may_hold));
        }
        for other in [
            format!("{project}/agent-transcripts/{id}/subagents/{id}.jsonl"),
            format!("{project}/agent-transcripts/x/{id}.jsonl"),
            format!("{project}/agent-transcripts/{id}.txt"),
            format!("{project}/agent-transcripts/{id} 2.jsonl"),
            format!("{project}/{id}.jsonl"),
            format!("projects/../agent-transcripts/{id}.jsonl"),
            format!("projects/agent-transcripts/{id}.jsonl"),
            format!("chats/x/{id}/store.db"),
            "hooks.json".into(),
        ] {
            assert_eq!(classify(Path::new(&other)), None, "{other}");
        }
        assert!(!may_hold(Path::new("projects/a/terminals")));
        assert!(!may_hold(&Path::new(project).join(TRANSCRIPTS).join(id).join("subagents")));
    }
}
