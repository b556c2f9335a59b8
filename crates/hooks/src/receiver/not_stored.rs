//! Events that are delivered but not stored: those of excluded work, and those of forgotten sessions.

use std::collections::HashSet;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use watchbill_agents::excluded::is_named_in;

use watchbill_agents::hooks::parse_payload;
use watchbill_core::history::Exclude;
use watchbill_core::hook::HookMessage;
use watchbill_core::ids::SessionId;

use super::forgotten::Forgotten;

/// How many sessions are remembered; one process gets events of fewer.
const SESSIONS: usize = 4096;

/// The excluded paths, the forgotten sessions, and the sessions that have worked in an excluded path.
pub(super) struct StorageFilter {
    exclude: Arc<RwLock<Exclude>>,
    /// Sessions that have worked in an excluded folder. None of their later events is stored, in any folder.
    sessions: HashSet<SessionId>,
    /// Sessions that the user has forgotten.
    forgotten: Forgotten,
}

impl StorageFilter {
    /// Uses the current value of `exclude`, and the file of forgotten sessions.
    pub fn by(exclude: Arc<RwLock<Exclude>>, forgotten: Option<PathBuf>) -> Self {
        Self { exclude, sessions: HashSet::new(), forgotten: Forgotten::by(forgotten) }
    }

    /// Reads the list of forgotten sessions if it has changed.
    ///
    /// # Errors
    /// When the list cannot be read. Then the caller does not know which events it may store.
    pub fn refresh(&mut self) -> io::Result<()> {
        self.forgotten.refresh()
    }

    /// Whether an event must not be stored.
    pub fn leaves_out(&mut self, message: &HookMessage) -> bool {
        if self.forgotten.has(message) {
            return true;
        }
        let exclude = self.exclude.read().unwrap_or_else(PoisonError::into_inner);
        if exclude.is_empty() {
            return false;
        }
        let is_named = || is_named_in(&exclude, &String::from_utf8_lossy(&message.payload));
        // A shortened payload, or one of another program, may still name an excluded path.
        let Ok(event) = message.parsed(parse_payload) else { return is_named() };
        let works_there = [&event.cwd, &event.transcript_path].into_iter().flatten();
        if works_there.into_iter().any(|path| exclude.excludes(path)) {
            if self.sessions.len() >= SESSIONS {
                self.sessions.clear();
            }
            self.sessions.insert(event.session.clone());
            return true;
        }
        self.sessions.contains(&event.session) || is_named()
    }
}

#[cfg(test)]
mod tests {
    use watchbill_core::hook::HookOrigin;
    use watchbill_core::time::Timestamp;

    use super::*;

    fn message(payload: &[u8]) -> HookMessage {
        let (agent, ancestors, terminal, at) = (None, Arc::from([]), None, Timestamp::from_millis(0));
        HookMessage::new(HookOrigin { id: "1".into(), at, order: 1, agent, ancestors, terminal }, payload)
    }

    fn event(session: &str, cwd: &str, rest: &str) -> HookMessage {
        message(
            format!(r#"{{"session_id":"{session}","hook_event_name":"PreToolUse","cwd":"{cwd}"{rest}}}"#)
                .as_bytes(),
        )
    }

    #[test]
    fn events_of_excluded_work_are_left_out_and_so_is_the_rest_of_such_a_session() {
        let exclude = Arc::new(RwLock::new(Exclude::default()));
        let mut left_out = StorageFilter::by(Arc::clone(&exclude), None);
        let secret = event("s", "/home/dev/secret/app", "");
        assert!(!left_out.leaves_out(&secret));
        *exclude.write().expect("no thread panicked") = Exclude::new(["/home/dev/secret".to_owned()]);
        assert!(!left_out.leaves_out(&event("s", "/home/dev/open", "")), "it was never there yet");
        assert!(left_out.leaves_out(&secret));
        assert!(left_out.leaves_out(&event("s", "/home/dev/open", "")), "it has been there");
        assert!(!left_out.leaves_out(&event("t", "/home/dev/open", "")));
        let reads = event("t", "/home/dev/open", r#","tool_input":{"file_path":"/home/dev/secret/key"}"#);
        assert!(left_out.leaves_out(&reads), "what it says of the file");
        assert!(!left_out.leaves_out(&event("t", "/home/dev/open", "")), "and that alone");
        assert!(left_out.leaves_out(&message(&secret.payload[..secret.payload.len() - 1])), "cut");
    }
}
