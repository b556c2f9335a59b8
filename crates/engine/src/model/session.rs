//! The engine's data about one session.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};
use watchbill_agents::Root;
use watchbill_core::ids::SessionId;
use watchbill_core::roster::row::PendingTool;
use watchbill_core::session::refusals::Refusals;
use watchbill_core::session::subagent::SubagentFold;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_core::transcript::record::Usage;

use crate::model::paths::FilePath;
use crate::witnesses::folders::Repository;

/// The engine's data about one session, beside the files themselves.
#[derive(Debug, Default)]
pub struct SessionData {
    /// Its main transcripts. There are two for a moment when `/cd` moves the file between projects. This is a sorted
    /// list, because one tree per session would cost too much memory for thousands of sessions.
    pub mains: Vec<FilePath>,
    /// The transcripts of its subagents, each with the tokens that it adds.
    pub agents: BTreeMap<FilePath, Usage>,
    /// Those of `agents` that are sessions of their own.
    pub parts: BTreeMap<FilePath, SessionId>,
    /// The sum over `agents`. It is kept, so that an append costs the same for any number of subagents.
    pub agent_tokens: Usage,
    /// Subagents that run, as far as known.
    pub agents_running: BTreeSet<FilePath>,
    /// The files of `agents` that repeat requests of this session. Compaction workers write them.
    pub copies: BTreeSet<FilePath>,
    /// If the session is a fork: the tokens that it copied from its origin. Only the origin counts them.
    pub inherited: Usage,
    /// The request counts from which `inherited` and the tokens of `copies` were computed.
    pub request_counts: Option<RequestCounts>,
    /// Number of requests in its transcript when its copies were last compared.
    pub requests: usize,
    /// Open calls of running subagents, by file.
    pub agent_calls: BTreeMap<FilePath, Vec<PendingTool>>,
    /// The requests for permission that files of subagents tell, by file.
    pub asked: BTreeMap<FilePath, PendingTool>,
    /// The calls of subagents that the agent's reviewer refused, by file.
    pub agent_refusals: BTreeMap<FilePath, Refusals>,
    /// Those of `agents` that are of no subagent: they tell only what the session itself asks.
    pub aside: BTreeSet<FilePath>,
    /// The root under which it was found.
    pub root: Option<Root>,
    /// The repository that contains its launch folder.
    pub repository: Option<Repository>,
    /// The transcript with which the chains were resolved, and the revision of its lineage.
    pub lineage: Option<(FilePath, u64)>,
}

/// Numbers of requests. While they stay the same, the values computed from them stay the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestCounts {
    /// In its own transcript.
    pub own: usize,
    /// In the origin's transcript, with the origin's id.
    pub origin: Option<(SessionId, usize)>,
    /// In the transcripts of compaction workers.
    pub copies: usize,
}

/// What the transcript of a subagent says.
#[derive(Debug, Default)]
pub struct AgentState {
    running: bool,
    copies: bool,
    aside: bool,
    calls: Vec<PendingTool>,
    asks: Option<PendingTool>,
    refusals: Refusals,
}

impl AgentState {
    /// Takes it from the subagent's fold.
    pub fn of(fold: &SubagentFold, now: Timestamp, silence: Millis) -> Self {
        let copies = fold.copies_parent();
        let running = !copies && fold.is_running(now, silence);
        let mut refusals = if copies { Refusals::default() } else { fold.refusals().clone() };
        if !running {
            refusals.end_row();
        }
        Self {
            running,
            copies,
            aside: fold.agent().is_empty(),
            calls: if copies { Vec::new() } else { fold.pending_tools().cloned().collect() },
            asks: fold.asks().cloned(),
            refusals,
        }
    }
}

impl SessionData {
    /// Adds a main transcript.
    pub fn add_main(&mut self, path: FilePath) {
        if let Err(at) = self.mains.binary_search(&path) {
            self.mains.reserve_exact(1);
            self.mains.insert(at, path);
        }
    }

    /// Sets the tokens that one subagent adds.
    pub fn set_agent_tokens(&mut self, path: &FilePath, now: Usage) {
        let before = self.agents.insert(path.clone(), now).unwrap_or_default();
        self.agent_tokens = plus(minus(self.agent_tokens, before), now);
    }

    /// Sets what the transcript of a subagent says.
    pub fn set_agent(&mut self, path: &FilePath, tokens: Usage, state: AgentState) {
        self.set_agent_tokens(path, tokens);
        for (holds, paths) in [
            (state.running, &mut self.agents_running),
            (state.copies, &mut self.copies),
            (state.aside, &mut self.aside),
        ] {
            if holds {
                paths.insert(path.clone());
            } else {
                paths.remove(path);
            }
        }
        self.agent_calls.remove(path);
        if !state.calls.is_empty() {
            self.agent_calls.insert(path.clone(), state.calls);
        }
        self.asked.remove(path);
        self.asked.extend(state.asks.map(|call| (path.clone(), call)));
        self.agent_refusals.remove(path);
        if state.refusals.shown().is_some() {
            self.agent_refusals.insert(path.clone(), state.refusals);
        }
    }

    /// Removes the data of a subagent whose file is gone.
    pub fn forget_agent(&mut self, path: &Path) {
        let path = path.as_os_str();
        if let Some(before) = self.agents.remove(path) {
            self.agent_tokens = minus(self.agent_tokens, before);
        }
        self.agents_running.remove(path);
        self.copies.remove(path);
        self.parts.remove(path);
        self.agent_calls.remove(path);
        self.agent_refusals.remove(path);
        self.asked.remove(path);
        self.aside.remove(path);
    }

    /// Whether the session has no transcripts left.
    pub fn is_empty(&self) -> bool {
        self.mains.is_empty() && self.agents.is_empty()
    }
}

/// The sum, field by field.
pub fn plus(a: Usage, b: Usage) -> Usage {
    Usage {
        input: a.input.saturating_add(b.input),
        output: a.output.saturating_add(b.output),
        cache_read: a.cache_read.saturating_add(b.cache_read),
        cache_write: a.cache_write.saturating_add(b.cache_write),
    }
}

/// The difference, field by field, never below zero.
pub fn minus(a: Usage, b: Usage) -> Usage {
    Usage {
        input: a.input.saturating_sub(b.input),
        output: a.output.saturating_sub(b.output),
        cache_read: a.cache_read.saturating_sub(b.cache_read),
        cache_write: a.cache_write.saturating_sub(b.cache_write),
    }
}
