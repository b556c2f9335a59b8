//! Classifies a path below Qwen's folder by its name alone (0.24.4).
//!
//! `projects/<working folder>/chats/<session>.jsonl` is a session, and `…/subagents/<session>/agent-<id>.jsonl` a subagent of it. All
//! else is left alone, above all `sessions/<pid>.json`, which holds a secret.

use std::path::Path;

use watchbill_core::ids::{Agent, SessionId};

use crate::paths::ClientPath;
use crate::traits::TopFolder;

/// The folder of projects.
pub const FOLDERS: &[TopFolder] = &[TopFolder { name: PROJECTS, deep: true }];

const PROJECTS: &str = "projects";

/// Classifies a path relative to Qwen's folder.
pub fn classify(relative: &Path) -> Option<ClientPath> {
    let (session, subagent) = split(relative)?;
    let session = SessionId::new(session);
    Some(match subagent {
        None => ClientPath::Transcript { agent: Agent::Qwen, session },
        Some(agent) => ClientPath::Subagent { session, agent: agent.into() },
    })
}

/// The session that a path names, below any folder.
pub fn find(path: &Path) -> Option<ClientPath> {
    let below = |count| classify(path.strip_prefix(path.ancestors().nth(count)?).ok()?);
    below(4).or_else(|| below(5))
}

/// Whether a folder can hold such files.
pub fn may_hold(relative: &Path) -> bool {
    match relative.iter().nth(2) {
        None => true,
        Some(name) if name == "chats" => relative.iter().count() == 3,
        Some(name) => name == "subagents" && relative.iter().count() <= 4,
    }
}

/// The session and the subagent of a path.
fn split(relative: &Path) -> Option<(&str, Option<&str>)> {
    let names: Option<Vec<&str>> = relative.iter().map(|name| name.to_str()).collect();
    let (project, session, subagent) = match names?[..] {
        [PROJECTS, project, "chats", name] => (project, name.strip_suffix(".jsonl")?, None),
        [PROJECTS, project, "subagents", session, name] => {
            (project, session, Some(name.strip_prefix("agent-")?.strip_suffix(".jsonl")?))
        }
        _ => return None,
    };
    let is_id = session.len() == 36 && session.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit());
    (is_id && project != "..").then_some((session, subagent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chats_and_subagents_are_known_and_nothing_else() {
        const ID: &str = "a615bd85-86cd-407b-b2b8-b8811dd26536";
        let (session, project) = (SessionId::new(ID), "projects/-home-dev-work");
        let subagent = ClientPath::Subagent { session: session.clone(), agent: "explore-call_c036".into() };
        let chat = ClientPath::Transcript { agent: Agent::Qwen, session };
        for (name, place) in [
            (format!("chats/{ID}.jsonl"), chat),
            (format!("subagents/{ID}/agent-explore-call_c036.jsonl"), subagent),
        ] {
            let path = Path::new(project).join(name);
            assert_eq!(classify(&path), Some(place.clone()));
            assert_eq!(find(&Path::new("/x/y").join(&path)), Some(place));
            assert!(path.ancestors().skip(1).all(may_hold));
        }
        for other in [
            format!("{project}/chats/{ID}.runtime.json"),
            format!("{project}/chats/{ID} 2.jsonl"),
            format!("{project}/{ID}.jsonl"),
            format!("{project}/{ID}/subagents/agent-a1.jsonl"),
            format!("projects/../chats/{ID}.jsonl"),
            "sessions/4711.json".into(),
            "oauth_creds.json".into(),
        ] {
            assert_eq!(classify(Path::new(&other)), None, "{other}");
        }
        assert!(!may_hold(Path::new("projects/a/memory")) && !may_hold(Path::new("projects/a/chats/b")));
    }
}
