//! Events that are delivered but not stored: those of excluded work, those of forgotten sessions, and the texts of calls in turns
//! whose prompts are private as a whole.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use watchbill_agents::excluded::is_named_in;

use watchbill_agents::hooks::{payload_of, read_texts};
use watchbill_agents::private_events::{may_be_prompt, without_texts};
use watchbill_core::history::{Exclude, is_wholly_private};
use watchbill_core::hook::{HookEvent, HookMessage, HookPayload, StatusLine};
use watchbill_core::ids::SessionId;
use watchbill_core::transcript::record::PromptOrigin;

use super::forgotten::Forgotten;
use crate::envelope::{Decoded, Envelope, decode};

/// How many sessions are remembered; one process gets events of fewer.
const SESSIONS: usize = 4096;

/// The excluded paths, the forgotten sessions, and the sessions that have worked in an excluded path.
pub(super) struct StorageFilter {
    exclude: Arc<RwLock<Exclude>>,
    /// Sessions that have worked in an excluded folder. None of their later events is stored, in any folder.
    sessions: HashSet<SessionId>,
    /// Sessions that the user has forgotten.
    forgotten: Forgotten,
    /// Sessions whose newest prompt is private as a whole, with the id of that prompt if the client names it.
    private: HashMap<SessionId, Option<Arc<str>>>,
    /// The ids of such prompts, for events that come after the next prompt.
    private_prompts: HashSet<Arc<str>>,
    /// The newest word of each session's status line.
    said: HashMap<SessionId, Arc<StatusLine>>,
    /// Gives equal inputs of tools equal names, which say nothing of them.
    names: RandomState,
}

impl StorageFilter {
    /// Uses the current value of `exclude`, and the file of forgotten sessions.
    pub fn by(exclude: Arc<RwLock<Exclude>>, forgotten: Option<PathBuf>) -> Self {
        Self {
            exclude,
            sessions: HashSet::new(),
            forgotten: Forgotten::by(forgotten),
            private: HashMap::new(),
            private_prompts: HashSet::new(),
            said: HashMap::new(),
            names: RandomState::new(),
        }
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
        if self.forgotten.has(message) || self.was_said(message) {
            return true;
        }
        let exclude = self.exclude.read().unwrap_or_else(PoisonError::into_inner);
        if exclude.is_empty() {
            return false;
        }
        let is_named = || is_named_in(&exclude, &String::from_utf8_lossy(&message.payload));
        // A shortened payload, or one of another program, may still name an excluded path.
        let Ok(event) = payload_of(message) else { return is_named() };
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

    /// Whether a status line says what it said before. The client may draw it every second.
    fn was_said(&mut self, message: &HookMessage) -> bool {
        let Ok(HookPayload { session, event: HookEvent::StatusLine(said), .. }) = payload_of(message) else {
            return false;
        };
        if self.said.get(session).is_some_and(|before| before == said) {
            return true;
        }
        if self.said.len() >= SESSIONS {
            self.said.clear();
        }
        self.said.insert(session.clone(), Arc::clone(said));
        false
    }

    /// Notes whether the newest prompt of a session is private as a whole, if the event is a prompt. A notice goes on with the turn.
    fn note_prompt(&mut self, message: &HookMessage) {
        let Ok(event) = payload_of(message) else { return };
        if !matches!(event.event, HookEvent::UserPromptSubmit { .. }) {
            return;
        }
        let payload = String::from_utf8_lossy(&message.payload);
        let Ok(texts) = read_texts(&payload) else { return };
        let origin = texts.prompt_origin.unwrap_or(PromptOrigin::Human);
        let private = texts.prompt.as_deref().is_some_and(is_wholly_private);
        if !origin.privacy(private, self.private.contains_key(&event.session)) {
            self.private.remove(&event.session);
            return;
        }
        if self.private_prompts.len() >= SESSIONS {
            self.private_prompts.clear();
        }
        self.private_prompts.extend(event.prompt_id.clone());
        self.private.insert(event.session.clone(), event.prompt_id.clone());
    }

    /// Whether an event is of a turn whose prompt is private as a whole. Without the id of its prompt, it is of the newest one.
    fn is_private(&self, event: &HookPayload) -> bool {
        match (&event.prompt_id, self.private.get(&event.session)) {
            (Some(prompt), _) if self.private_prompts.contains(prompt) => true,
            (Some(_), Some(Some(_))) => false,
            (_, newest) => newest.is_some(),
        }
    }

    /// The same for an event in the journal, where few are prompts.
    pub fn note_stored(&mut self, envelope: &Envelope, payload: &[u8]) {
        if may_be_prompt(payload) {
            self.note_prompt(&envelope.message(payload));
        }
    }

    /// The bytes of an event for the journal: without the texts, in a turn whose prompt is private as a whole. Events of one call
    /// still have equal inputs.
    pub fn public<'f>(&mut self, message: &HookMessage, frame: &'f [u8]) -> Cow<'f, [u8]> {
        self.note_prompt(message);
        if !payload_of(message).is_ok_and(|event| self.is_private(event)) {
            return Cow::Borrowed(frame);
        }
        let Decoded::Whole { envelope, .. } = decode(frame) else { return Cow::Borrowed(frame) };
        let name = |input: &str| format!("{:016x}", self.names.hash_one(input));
        match without_texts(&message.payload, name) {
            Some(payload) => Cow::Owned(envelope.encode(&payload)),
            None => Cow::Borrowed(frame),
        }
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
