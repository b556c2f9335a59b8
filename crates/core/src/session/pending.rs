//! Tool calls without a result, and which of them may be waiting for the person's permission.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::roster::row::PendingTool;
use crate::session::state::StateKind;
use crate::time::Timestamp;

/// More calls than any client makes at once; beyond it the oldest is forgotten, so that a broken file cannot
/// fill the memory.
const LIMIT: usize = 256;

/// What an unanswered call of a tool can mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ask {
    /// It runs; no client asks for it.
    Never,
    /// It may ask, unless edits are accepted beforehand.
    Edit,
    /// It may ask.
    Tool,
    /// It is itself a question to the person.
    Question,
    /// It is itself a plan for the person to judge.
    Plan,
}

impl Ask {
    /// Judges a call by its tool's name.
    ///
    /// Measured over 24,000 calls: reading and searching tools answer within a second in every permission
    /// mode and are never asked for; the agent's own book-keeping and subagents are neither. A call into the
    /// background is answered at once.
    pub fn of(tool: &str, background: bool) -> Self {
        match tool {
            "AskUserQuestion" => Self::Question,
            "ExitPlanMode" | "exit_plan_mode" => Self::Plan,
            _ if background => Self::Never,
            "Edit" | "MultiEdit" | "Write" | "NotebookEdit" => Self::Edit,
            "Read" | "NotebookRead" | "Grep" | "Glob" | "LS" | "LSP" => Self::Never,
            "TodoWrite" | "TodoRead" | "Agent" | "Skill" | "ToolSearch" | "SendMessage" | "Monitor" => {
                Self::Never
            }
            "BashOutput" | "KillShell" | "KillBash" | "EnterPlanMode" | "StructuredOutput" | "Sleep" => {
                Self::Never
            }
            "ListMcpResourcesTool" | "ReadMcpResourceTool" => Self::Never,
            _ if tool.starts_with("Task") || tool.starts_with("Cron") => Self::Never,
            _ => Self::Tool,
        }
    }
}

/// What the permission mode leaves to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Mode {
    /// `default`, `manual`, `plan`, or not known: tools may ask.
    #[default]
    Asks,
    /// `acceptEdits`: edits don't.
    AcceptsEdits,
    /// `auto`, `bypassPermissions`, `dontAsk`: nothing does.
    NeverAsks,
}

impl Mode {
    /// Reads the client's word.
    pub fn of(word: &str) -> Self {
        match word {
            "auto" | "bypassPermissions" | "dontAsk" => Self::NeverAsks,
            "acceptEdits" => Self::AcceptsEdits,
            _ => Self::Asks,
        }
    }

    fn lets_ask(self, ask: Ask) -> bool {
        match (self, ask) {
            (_, Ask::Never) | (Self::NeverAsks, _) | (Self::AcceptsEdits, Ask::Edit) => false,
            (_, Ask::Edit | Ask::Tool | Ask::Question | Ask::Plan) => true,
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Call {
    shown: PendingTool,
    ask: Ask,
}

/// The calls without a result, oldest first. A handful at most, so a list beats a map.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct PendingTools {
    calls: Vec<Call>,
    /// The newest sign that a tool really runs: before it nobody waited for permission.
    heartbeat: Option<Timestamp>,
    /// The permission mode.
    pub mode: Mode,
}

impl PendingTools {
    /// Notes a call.
    pub fn call(&mut self, id: &str, tool: &str, target: &str, background: bool, since: Timestamp) {
        if self.calls.iter().any(|call| &*call.shown.id == id) {
            return;
        }
        if self.calls.len() == LIMIT {
            self.calls.remove(0);
        }
        self.calls.push(Call {
            shown: PendingTool { id: id.into(), tool: tool.into(), target: target.into(), since },
            ask: Ask::of(tool, background),
        });
    }

    /// Takes the call with this id out, and no other; `false` when it was not there.
    pub fn answer(&mut self, id: &str) -> bool {
        let found = self.calls.iter().position(|call| &*call.shown.id == id);
        if let Some(at) = found {
            self.calls.remove(at);
        }
        found.is_some()
    }

    /// A tool gave a sign of life.
    pub fn heartbeat(&mut self, at: Timestamp) {
        self.heartbeat = self.heartbeat.max(Some(at));
    }

    /// The clock was set back to `at`: nothing has happened after that.
    pub fn set_back(&mut self, at: Timestamp) {
        self.heartbeat = self.heartbeat.min(Some(at));
        for call in &mut self.calls {
            call.shown.since = call.shown.since.min(at);
        }
    }

    /// Nobody waits for these calls any more.
    pub fn clear(&mut self) {
        self.calls.clear();
    }

    /// Forgets the calls made at or before `at`: the process that made them is gone.
    pub fn forget_until(&mut self, at: Timestamp) {
        self.calls.retain(|call| call.shown.since > at);
    }

    /// Forgets what the calls act on, but for what the agent asks. Says whether anything was known.
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

    /// An open question or plan: these need no time to pass, they are addressed to the person.
    pub fn asking(&self) -> Option<StateKind> {
        self.addressed().map(|call| if call.ask == Ask::Plan { StateKind::Plan } else { StateKind::Question })
    }

    /// What the open question or plan says.
    pub fn question(&self) -> Option<&Arc<str>> {
        self.addressed().map(|call| &call.shown.target)
    }

    fn addressed(&self) -> Option<&Call> {
        self.calls.iter().find(|call| matches!(call.ask, Ask::Question | Ask::Plan))
    }

    /// The oldest call that may be waiting for permission.
    pub fn suspect(&self) -> Option<&PendingTool> {
        self.calls.iter().find(|call| self.mode.lets_ask(call.ask)).map(|call| &call.shown)
    }

    /// Since when a call has been silent that may be waiting for permission.
    pub fn suspect_since(&self) -> Option<Timestamp> {
        self.suspect().map(|call| self.heartbeat.map_or(call.since, |beat| beat.max(call.since)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_takes_out_its_own_call_only() {
        let mut pending = PendingTools::default();
        let at = Timestamp::from_millis(1);
        pending.call("a", "Bash", "ls", false, at);
        pending.call("b", "Bash", "pwd", false, at);
        pending.call("b", "Bash", "pwd", false, at);
        assert!(!pending.answer("c"));
        assert!(pending.answer("a"));
        assert_eq!(pending.iter().map(|call| &*call.id).collect::<Vec<_>>(), ["b"]);
    }

    #[test]
    fn the_mode_decides_who_may_ask() {
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
            pending.call("a", tool, "", false, Timestamp::from_millis(1));
            assert_eq!(pending.suspect().is_some(), asks, "{tool} in {mode}");
        }
    }

    #[test]
    fn calls_without_end_do_not_fill_the_memory() {
        let mut pending = PendingTools::default();
        for n in 0..1000 {
            pending.call(&n.to_string(), "Bash", "", false, Timestamp::from_millis(n));
        }
        assert_eq!(pending.iter().len(), LIMIT);
    }
}
