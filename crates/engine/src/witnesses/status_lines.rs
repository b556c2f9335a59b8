//! What the clients say in their status lines: of their sessions, and of the limits of their accounts.

use std::collections::HashMap;
use std::sync::Arc;

use watchbill_core::hook::StatusLine;
use watchbill_core::ids::{Agent, SessionId};
use watchbill_core::limits::{KnownLimit, Limit, Limits};
use watchbill_core::time::Timestamp;

/// Number of sessions in memory. Beyond it, the one that was silent for longest goes.
const MAX_SESSIONS: usize = 4096;

/// The newest word on a session.
#[derive(Debug)]
pub struct StatusWord {
    /// The word.
    pub word: Arc<StatusLine>,
    /// When it was new.
    pub at: Timestamp,
    /// When it was last heard: the client repeats it.
    pub heard: Timestamp,
}

/// The newest words.
#[derive(Debug, Default)]
pub struct StatusLines {
    sessions: HashMap<SessionId, StatusWord>,
    limits: Limits,
    /// The limits that subscribers get, and whether there may be others by now.
    published: Arc<[KnownLimit]>,
    is_due: bool,
}

impl StatusLines {
    /// Takes what a client says of a session, and of the account of the agent's folder, if that is watched. Returns whether
    /// that is news.
    pub fn take(
        &mut self,
        agent: Agent,
        folder: Option<&Arc<str>>,
        session: &SessionId,
        said: &Arc<StatusLine>,
        at: Timestamp,
    ) -> bool {
        if let Some(before) = self.sessions.get_mut(session) {
            before.heard = before.heard.max(at);
            if before.word == *said || before.at > at {
                return false;
            }
        }
        let before = self.sessions.get(session);
        let is_known = before.is_some();
        let is_fresh = before.is_some_and(|before| said.is_after_request(&before.word));
        if let Some(folder) = folder.filter(|_| is_fresh || !is_known) {
            self.is_due |= self.limits.take(agent, folder, session, at, &said.limits, is_fresh);
        }
        if self.sessions.len() >= MAX_SESSIONS && !is_known {
            let oldest =
                self.sessions.iter().min_by_key(|(id, said)| (said.heard, *id)).map(|(id, _)| id.clone());
            oldest.map(|oldest| self.sessions.remove(&oldest));
        }
        self.sessions.insert(session.clone(), StatusWord { word: Arc::clone(said), at, heard: at });
        true
    }

    /// Takes what a transcript says of the limits of the account of an agent's folder.
    pub fn take_limits(
        &mut self,
        agent: Agent,
        folder: &Arc<str>,
        session: &SessionId,
        said: &[Limit],
        at: Timestamp,
    ) {
        self.is_due |= self.limits.take(agent, folder, session, at, said, true);
    }

    /// When the limit ends that stopped a session of this account then.
    pub fn used_up_until(&self, agent: Agent, folder: &str, since: Timestamp) -> Option<Timestamp> {
        self.limits.used_up_until(agent, folder, since)
    }

    /// The newest word on a session.
    pub fn of(&self, session: &SessionId) -> Option<&StatusWord> {
        self.sessions.get(session)
    }

    /// The limits that subscribers get.
    pub fn published(&self) -> &Arc<[KnownLimit]> {
        &self.published
    }

    /// A span has ended.
    pub fn set_due(&mut self) {
        self.is_due = true;
    }

    /// Brings the published limits up to date. Returns the end of the next span if they may have changed.
    pub fn publish(&mut self, now: Timestamp) -> Option<Option<Timestamp>> {
        std::mem::take(&mut self.is_due).then(|| {
            self.published = self.limits.running(now).into();
            self.limits.next_end(now)
        })
    }

    /// The clock was set back to `now`.
    pub fn turn_back(&mut self, now: Timestamp) {
        for said in self.sessions.values_mut() {
            (said.at, said.heard) = (said.at.min(now), said.heard.min(now));
        }
        self.limits.turn_back(now);
    }
}
