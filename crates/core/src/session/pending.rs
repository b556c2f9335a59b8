//! Tool calls without a result, and which of them may be waiting for the user's permission.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::roster::row::PendingTool;
use crate::session::id_set::text_hash;
use crate::session::state::StateKind;
use crate::time::Timestamp;
use crate::tool::{Ask, Mode};

/// Limit of open calls; no client makes so many at once. Beyond it the oldest is forgotten, so that a broken file
/// cannot fill the memory.
const LIMIT: usize = 256;

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Call {
    shown: PendingTool,
    ask: Ask,
}

/// Limit of results that came before their calls. Parallel calls are written in any order, milliseconds apart.
const EARLY_LIMIT: usize = 32;

/// The calls without a result, oldest first. A handful at most, so a list beats a map.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct PendingTools {
    calls: Vec<Call>,
    /// Hashes of the ids of results whose calls have not come yet.
    early: Vec<u64>,
    /// The newest sign that a tool really runs. Before it no call waited for permission.
    heartbeat: Option<Timestamp>,
    /// The permission mode.
    pub mode: Mode,
}

impl PendingTools {
    /// Notes a call. Requests for permission may have one id, if the agent gives them none: each waits for an answer of its own.
    pub fn call(&mut self, id: &str, tool: &str, target: &str, ask: Ask, since: Timestamp) {
        let is_known = |calls: &mut Self| calls.calls.iter().any(|call| &*call.shown.id == id);
        if ask != Ask::Permission && (is_known(self) || self.take_early(id)) {
            return;
        }
        if self.calls.len() == LIMIT {
            self.calls.remove(0);
        }
        self.calls.push(Call {
            shown: PendingTool { id: id.into(), tool: tool.into(), target: target.into(), since },
            ask,
        });
    }

    /// Removes the call with this id, and no other; `false` if it was not there. A call that comes later is closed
    /// then.
    pub fn answer(&mut self, id: &str) -> bool {
        let found = self.calls.iter().position(|call| &*call.shown.id == id);
        match found {
            Some(at) => drop(self.calls.remove(at)),
            None if id.is_empty() => {}
            None => {
                if self.early.len() == EARLY_LIMIT {
                    self.early.remove(0);
                }
                self.early.push(text_hash(id));
            }
        }
        found.is_some()
    }

    /// The open call with this id.
    pub fn get(&self, id: &str) -> Option<&PendingTool> {
        self.iter().find(|call| &*call.id == id)
    }

    fn take_early(&mut self, id: &str) -> bool {
        if self.early.is_empty() {
            return false;
        }
        let (hash, before) = (text_hash(id), self.early.len());
        self.early.retain(|early| *early != hash);
        self.early.len() < before
    }

    /// A tool gave a sign of life.
    pub fn heartbeat(&mut self, at: Timestamp) {
        self.heartbeat = self.heartbeat.max(Some(at));
    }

    /// The clock was set back: times after `at` become `at`.
    pub fn set_back(&mut self, at: Timestamp) {
        self.heartbeat = self.heartbeat.min(Some(at));
        for call in &mut self.calls {
            call.shown.since = call.shown.since.min(at);
        }
    }

    /// Forgets all calls: no result is expected any more.
    pub fn clear(&mut self) {
        self.calls.clear();
        self.early.clear();
    }

    /// Forgets the calls made at or before `at`: the process that made them is gone.
    pub fn forget_until(&mut self, at: Timestamp) {
        self.calls.retain(|call| call.shown.since > at);
    }

    /// Clears the targets of all calls except questions and plans. Returns whether any target was set.
    pub fn forget_targets(&mut self) -> bool {
        let mut known = false;
        for call in self.calls.iter_mut().filter(|call| !matches!(call.ask, Ask::Question | Ask::Plan)) {
            known |= !call.shown.target.is_empty();
            call.shown.target = "".into();
        }
        known
    }

    /// Whether none is open.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// The open calls, oldest first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &PendingTool> {
        self.calls.iter().map(|call| &call.shown)
    }

    /// The kind of an open question or plan. It addresses the user, so it counts at once.
    pub fn open_question_kind(&self) -> Option<StateKind> {
        self.open_question().map(|call| match call.ask {
            Ask::Plan => StateKind::Plan,
            Ask::Permission => StateKind::Permission,
            _ => StateKind::Question,
        })
    }

    /// The oldest request for permission that the transcript tells.
    pub fn permission(&self) -> Option<&PendingTool> {
        self.calls.iter().find(|call| call.ask == Ask::Permission).map(|call| &call.shown)
    }

    /// The text of the open question or plan.
    pub fn question(&self) -> Option<&Arc<str>> {
        self.open_question().map(|call| &call.shown.target)
    }

    fn open_question(&self) -> Option<&Call> {
        self.calls.iter().find(|call| matches!(call.ask, Ask::Question | Ask::Plan | Ask::Permission))
    }

    /// The oldest call that may be waiting for permission.
    pub fn permission_suspect(&self) -> Option<&PendingTool> {
        self.calls.iter().find(|call| self.mode.may_ask(call.ask)).map(|call| &call.shown)
    }

    /// Since when the call that may be waiting for permission has been silent.
    pub fn suspect_since(&self) -> Option<Timestamp> {
        self.permission_suspect().map(|call| self.heartbeat.map_or(call.since, |beat| beat.max(call.since)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_without_ids_of_their_own_are_answered_one_by_one() {
        let mut pending = PendingTools::default();
        let ask = |pending: &mut PendingTools| {
            pending.call("Bash", "Bash", "", Ask::Permission, Timestamp::from_millis(1));
        };
        pending.answer("Bash");
        ask(&mut pending);
        ask(&mut pending);
        pending.answer("Bash");
        assert!(pending.permission().is_some());
        pending.answer("Bash");
        assert!(pending.permission().is_none());
    }

    #[test]
    fn a_result_removes_its_own_call_only() {
        let mut pending = PendingTools::default();
        let at = Timestamp::from_millis(1);
        pending.call("a", "Bash", "ls", Ask::Tool, at);
        pending.call("b", "Bash", "pwd", Ask::Tool, at);
        pending.call("b", "Bash", "pwd", Ask::Tool, at);
        assert!(!pending.answer("c"));
        assert!(pending.answer("a"));
        assert_eq!(pending.iter().map(|call| &*call.id).collect::<Vec<_>>(), ["b"]);
    }

    #[test]
    fn the_mode_decides_which_tools_may_ask() {
        for (tool, mode, asks) in [
            ("Edit", "default", true),
            ("Edit", "acceptEdits", false),
            ("MultiEdit", "acceptEdits", false),
            ("Bash", "acceptEdits", true),
            ("Bash", "auto", false),
            ("Bash", "bypassPermissions", false),
            ("mcp__x__y", "dontAsk", false),
            ("mcp__x__y", "plan", true),
            ("Read", "default", false),
            ("TaskUpdate", "default", false),
            ("Agent", "default", false),
            ("WebFetch", "a mode of tomorrow", true),
        ] {
            let mut pending = PendingTools { mode: Mode::of(mode), ..PendingTools::default() };
            pending.call("a", tool, "", Ask::of(tool, false), Timestamp::from_millis(1));
            assert_eq!(pending.permission_suspect().is_some(), asks, "{tool} in {mode}");
        }
    }

    #[test]
    fn the_number_of_open_calls_is_limited() {
        let mut pending = PendingTools::default();
        for n in 0..1000 {
            pending.call(&n.to_string(), "Bash", "", Ask::Tool, Timestamp::from_millis(n));
        }
        assert_eq!(pending.iter().len(), LIMIT);
    }
}
