//! Classifies a path below Amp's folder by its name alone.
//!
//! `threads/T-<uuid>.json` is a session. All else is left alone: keys, settings, the list of typed prompts.

use std::path::Path;

use watchbill_core::ids::{Agent, SessionId};

use crate::paths::ClientPath;
use crate::traits::TopFolder;

/// The folder of sessions.
pub const FOLDERS: &[TopFolder] = &[TopFolder { name: SESSIONS, deep: false }];

const SESSIONS: &str = "threads";

/// Classifies a path relative to Amp's folder.
pub fn classify(relative: &Path) -> Option<ClientPath> {
    let (id, ending) = relative.strip_prefix(SESSIONS).ok()?.to_str()?.split_once('.')?;
    let uuid = id.strip_prefix("T-")?;
    let is_id = uuid.len() == 36 && uuid.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit());
    match ending {
        "json" if is_id => Some(ClientPath::Document { agent: Agent::Amp }),
        "jsonl" if is_id => Some(ClientPath::Transcript { agent: Agent::Amp, session: SessionId::new(id) }),
        _ => None,
    }
}

/// The session that a path names, below any folder.
pub fn find(path: &Path) -> Option<ClientPath> {
    classify(path.strip_prefix(path.ancestors().nth(2)?).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_known_and_nothing_else() {
        let id = "T-5928a90d-d53b-488f-a829-4e36442142ee";
        let place = ClientPath::Transcript { agent: Agent::Amp, session: SessionId::new(id) };
        let path = format!("threads/{id}.jsonl");
        assert_eq!(classify(Path::new(&path)), Some(place.clone()));
        assert_eq!(find(&Path::new("/home/dev/.local/share/amp").join(&path)), Some(place));
        let document = ClientPath::Document { agent: Agent::Amp };
        assert_eq!(classify(Path::new(&format!("threads/{id}.json"))), Some(document));
        for other in [
            format!("threads/{id}.json.tmp"),
            "threads/T-5928a90d.json".into(),
            format!("threads/x/{id}.json"),
            format!("{id}.json"),
            "secrets.json".into(),
        ] {
            assert_eq!(classify(Path::new(&other)), None, "{other}");
        }
    }
}
