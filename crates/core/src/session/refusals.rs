//! Calls that the agent's own reviewer refused without asking the user.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::requests::request::SuggestedRule;
use crate::roster::row::PendingTool;
use crate::session::id_set::text_hash;
use crate::time::Timestamp;
use crate::tool::ToolKind;
pub use crate::transcript::record::RefusalKind;
use crate::transcript::record::{Denial, ToolResult};

/// So many refused calls are told apart, so that a transcript and a hook count one call once.
pub const KNOWN_REFUSALS: usize = 64;
/// So many refusals in a row deserve the user's attention.
pub const MANY_IN_A_ROW: u32 = 3;

/// A refused call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The tool's name; empty if the call's record is not known.
    pub tool: Arc<str>,
    /// What the call acts on, one line.
    pub target: Arc<str>,
    /// When it was refused.
    pub at: Timestamp,
    /// Why.
    pub kind: RefusalKind,
}

/// What a row says about refused calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// How many calls of the session were refused.
    pub count: u32,
    /// How many since a call last ran and since the user's last prompt.
    pub in_a_row: u32,
    /// When the first of these was refused.
    pub row_since: Timestamp,
    /// The newest.
    pub last: Refusal,
}

impl Refused {
    /// The agent makes no progress without the user: many refusals in a row, or no reviewer.
    pub const fn is_stuck(&self) -> bool {
        let unavailable = matches!(self.last.kind, RefusalKind::Unavailable);
        self.in_a_row >= MANY_IN_A_ROW || (unavailable && self.in_a_row > 0)
    }
}

/// The same with the rule that would allow the newest call, where the agent has such rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedRow {
    /// The calls.
    pub refused: Refused,
    /// The rule, and where it belongs.
    pub allow: Option<SuggestedRule>,
}

/// The refused calls of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusals {
    shown: Option<Refused>,
    /// Hashes of the ids of the newest refused calls.
    known: Vec<u64>,
}

impl Refusals {
    /// Adds a refused call, once for each id. `is_newest`: no call ran since.
    pub fn add(&mut self, id: &str, refusal: Refusal, is_newest: bool) {
        let hash = text_hash(id);
        if self.known.contains(&hash) {
            return;
        }
        if self.known.len() == KNOWN_REFUSALS {
            self.known.remove(0);
        }
        self.known.push(hash);
        let Some(shown) = &mut self.shown else {
            let (in_a_row, row_since) = (u32::from(is_newest), refusal.at);
            self.shown = Some(Refused { count: 1, in_a_row, row_since, last: refusal });
            return;
        };
        shown.count = shown.count.saturating_add(1);
        if is_newest {
            if shown.in_a_row == 0 {
                shown.row_since = refusal.at;
            }
            shown.in_a_row = shown.in_a_row.saturating_add(1);
        }
        if refusal.at >= shown.last.at {
            shown.last = refusal;
        }
    }

    /// The result of a call. A refusal that only the words of a result tell counts if its tool returns no text of others.
    pub(crate) fn fold_result(&mut self, result: &ToolResult<'_>, call: Option<&PendingTool>, at: Timestamp) {
        let Some(Denial::Reviewer(kind)) = result.denied else {
            if result.denied.is_none() {
                self.end_row();
            }
            return;
        };
        let is_foreign = call.is_none_or(|call| ToolKind::of(&call.tool).returns_foreign_text());
        if result.denied_by_text && is_foreign {
            return;
        }
        let (tool, target) = call
            .map_or_else(|| (Arc::from(""), Arc::from("")), |call| (call.tool.clone(), call.target.clone()));
        self.add(&result.id, Refusal { tool, target, at, kind }, true);
    }

    /// A call ran, a prompt came, or a subagent has ended: the row of refusals is over.
    pub fn end_row(&mut self) {
        if let Some(shown) = &mut self.shown {
            shown.in_a_row = 0;
        }
    }

    /// Adds what a subagent of the session was refused.
    pub fn join(&mut self, other: &Self) {
        let Some(more) = &other.shown else { return };
        self.known.extend(&other.known);
        let Some(shown) = &mut self.shown else {
            self.shown = Some(more.clone());
            return;
        };
        shown.count = shown.count.saturating_add(more.count);
        if more.in_a_row > shown.in_a_row {
            (shown.in_a_row, shown.row_since) = (more.in_a_row, more.row_since);
        }
        if more.last.at > shown.last.at {
            shown.last = more.last.clone();
        }
    }

    /// Clears the target of the newest call, because the user may exclude it.
    pub(crate) fn forget_target(&mut self) -> bool {
        let Some(shown) = self.shown.as_mut().filter(|shown| !shown.last.target.is_empty()) else {
            return false;
        };
        shown.last.target = Arc::from("");
        true
    }

    /// What a row says; `None` if no call was refused.
    pub fn shown(&self) -> Option<&Refused> {
        self.shown.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(at: i64, kind: RefusalKind) -> Refusal {
        let (tool, target) = ("Bash".into(), "git push".into());
        Refusal { tool, target, at: Timestamp::from_millis(at), kind }
    }

    #[test]
    fn a_call_that_two_witnesses_tell_counts_once() {
        let mut refusals = Refusals::default();
        for (id, at) in [("a", 1), ("b", 2), ("a", 3)] {
            refusals.add(id, refusal(at, RefusalKind::Blocked), true);
        }
        let shown = refusals.shown().unwrap();
        assert_eq!((shown.count, shown.in_a_row, shown.last.at), (2, 2, Timestamp::from_millis(2)));
    }

    #[test]
    fn three_in_a_row_or_no_reviewer_are_stuck() {
        let mut refusals = Refusals::default();
        let stuck = |refusals: &Refusals| refusals.shown().unwrap().is_stuck();
        for (n, id) in ["a", "b", "c"].iter().enumerate() {
            refusals.add(id, refusal(n as i64, RefusalKind::Blocked), true);
            assert_eq!(stuck(&refusals), n == 2, "{id}");
        }
        refusals.end_row();
        assert!(!stuck(&refusals));
        refusals.add("d", refusal(9, RefusalKind::Unavailable), true);
        assert!(stuck(&refusals));
        assert_eq!(refusals.shown().unwrap().row_since, Timestamp::from_millis(9));
        refusals.end_row();
        assert!(!stuck(&refusals), "a call was judged since");
    }

    #[test]
    fn a_subagents_refusals_are_added() {
        let (mut own, mut part) = (Refusals::default(), Refusals::default());
        own.add("a", refusal(5, RefusalKind::Blocked), true);
        for (id, at) in [("b", 1), ("c", 2)] {
            part.add(id, refusal(at, RefusalKind::Blocked), true);
        }
        own.join(&part);
        let shown = own.shown().unwrap();
        assert_eq!((shown.count, shown.in_a_row), (3, 2));
        assert_eq!((shown.last.at.as_millis(), shown.row_since.as_millis()), (5, 1));
        own.add("c", refusal(9, RefusalKind::Blocked), true);
        assert_eq!(own.shown().unwrap().count, 3, "a hook told the call of the subagent too");
        // A subagent that has ended is stuck no more.
        let mut other = Refusals::default();
        part.end_row();
        other.join(&part);
        assert_eq!((other.shown().unwrap().count, other.shown().unwrap().in_a_row), (2, 0));
    }
}
