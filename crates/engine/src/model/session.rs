//! What the engine keeps of one session.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use watchbill_core::ids::SessionId;
use watchbill_core::roster::row::PendingTool;
use watchbill_core::transcript::record::Usage;

use crate::model::paths::FilePath;

/// What the engine keeps of one session beside the files themselves.
#[derive(Debug, Default)]
pub struct Session {
    /// Its main transcripts. More than one for a moment when `/cd` moves the file between projects.
    /// In order, and no tree of its own: there are thousands of sessions.
    pub mains: Vec<FilePath>,
    /// Its subagents' transcripts, and what each adds to the tokens.
    pub agents: BTreeMap<FilePath, Usage>,
    /// The sum over `agents`, so that an append costs the same however many there are.
    pub agent_tokens: Usage,
    /// Subagents that were seen to run.
    pub agents_running: BTreeSet<FilePath>,
    /// Those of `agents` that repeat requests of this session: compaction workers.
    pub copies: BTreeSet<FilePath>,
    /// What it copied from the session it was forked from: counted there.
    pub inherited: Usage,
    /// What `inherited` and the tokens of `copies` were worked out from.
    pub shared: Option<Shared>,
    /// How many requests its transcript held when the copies of it were last looked at.
    pub requests: usize,
    /// What running subagents have called and not yet got, by their files.
    pub agent_calls: BTreeMap<FilePath, Vec<PendingTool>>,
    /// The root under which it was found.
    pub root: Option<Arc<Path>>,
    /// The repository that its launch folder is in.
    pub repo_root: Option<Arc<str>>,
    /// The transcript, and the revision of its lineage, that the chains were resolved with.
    pub lineage: Option<(FilePath, u64)>,
}

/// Numbers of requests: while they stand, so does what was worked out from them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shared {
    /// In its own transcript.
    pub own: usize,
    /// In the transcript that it copied from, and whose that is.
    pub origin: Option<(SessionId, usize)>,
    /// In the transcripts of compaction workers.
    pub copies: usize,
}

impl Session {
    /// A main transcript is there.
    pub fn add_main(&mut self, path: FilePath) {
        if let Err(at) = self.mains.binary_search(&path) {
            self.mains.reserve_exact(1);
            self.mains.insert(at, path);
        }
    }

    /// Replaces what one subagent adds to the tokens.
    pub fn set_agent_tokens(&mut self, path: &FilePath, now: Usage) {
        let before = self.agents.insert(path.clone(), now).unwrap_or_default();
        self.agent_tokens = plus(minus(self.agent_tokens, before), now);
    }

    /// Notes whether a subagent runs, as its own file tells.
    pub fn set_agent_running(&mut self, path: &FilePath, running: bool) {
        if running {
            self.agents_running.insert(path.clone());
        } else {
            self.agents_running.remove(path);
        }
    }

    /// A subagent's file is gone.
    pub fn forget_agent(&mut self, path: &Path) {
        let path = path.as_os_str();
        if let Some(before) = self.agents.remove(path) {
            self.agent_tokens = minus(self.agent_tokens, before);
        }
        self.agents_running.remove(path);
        self.copies.remove(path);
        self.agent_calls.remove(path);
    }

    /// Notes what a subagent has called and not yet got.
    pub fn set_agent_calls(&mut self, path: &FilePath, calls: Vec<PendingTool>) {
        if calls.is_empty() {
            self.agent_calls.remove(path);
        } else {
            self.agent_calls.insert(path.clone(), calls);
        }
    }

    /// Whether nothing is known of it any more.
    pub fn is_empty(&self) -> bool {
        self.mains.is_empty() && self.agents.is_empty()
    }
}

/// The sum, by parts.
pub fn plus(a: Usage, b: Usage) -> Usage {
    Usage {
        input: a.input.saturating_add(b.input),
        output: a.output.saturating_add(b.output),
        cache_read: a.cache_read.saturating_add(b.cache_read),
        cache_write: a.cache_write.saturating_add(b.cache_write),
    }
}

/// The difference, by parts, never below zero.
pub fn minus(a: Usage, b: Usage) -> Usage {
    Usage {
        input: a.input.saturating_sub(b.input),
        output: a.output.saturating_sub(b.output),
        cache_read: a.cache_read.saturating_sub(b.cache_read),
        cache_write: a.cache_write.saturating_sub(b.cache_write),
    }
}
