//! One row: everything that the window, the command line and scripts know about a session.

use std::sync::Arc;

use crate::attention::Need;
use crate::evidence::cause_without_prefix;
use crate::hook::{StatusLine, TerminalContext};
use crate::ids::{Agent, ChainId, SessionId};
use crate::own::witness::OwnWay;
use crate::requests::open::Asked;
use crate::session::refusals::RefusedRow;
use crate::session::state::{State, StateKind};
use crate::session::work::Outcome;
use crate::time::Timestamp;
use crate::transcript::record::Usage;

pub use crate::roster::reason::{PendingTool, Reason, Source};

/// A session as the roster shows it. The field names follow the TrackedSession schema of the contract.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The agent's id of the session.
    pub session_id: SessionId,
    /// Whose session it is.
    pub agent: Agent,
    /// What it is doing.
    pub state: State,
    /// The kind within the state.
    pub state_kind: Option<StateKind>,
    /// Since when the state holds.
    pub state_since: Timestamp,
    /// Why the state holds.
    pub state_reason: Reason,
    /// When the limit that stopped it ends.
    pub limit_resets_at: Option<Timestamp>,
    /// What the session needs the user for, once the need has lasted for the dwell. All counts of needs use this
    /// field.
    pub needs: Option<Need>,
    /// What it asks now, where a hook process waits for the answer.
    pub request: Option<Asked>,
    /// The user snoozed it until this time.
    pub snoozed_until: Option<Timestamp>,
    /// When the snooze ended. From then on the session needs the user anew.
    pub snooze_ended_at: Option<Timestamp>,
    /// The user put it away, and nothing new has happened in it since.
    pub put_away: bool,
    /// Its turn has ended, and the user has not looked at it since.
    pub unseen: bool,
    /// Tool calls without a result, oldest first; those of subagents newest first.
    pub pending_tools: Vec<PendingTool>,
    /// The first prompt of the user, one line.
    pub goal: Option<Arc<str>>,
    /// The newest summary or the newest answer's first line.
    pub summary: Option<Arc<str>>,
    /// What came of the turn that ended.
    pub outcome: Option<Outcome>,
    /// The strongest title known.
    pub title: Option<Arc<str>>,
    /// Git branch of the newest record.
    pub branch: Option<Arc<str>>,
    /// The repository's top folder, if it was found.
    pub repo_root: Option<Arc<str>>,
    /// The top folder of the repository's main working tree, if the session works in another one.
    pub worktree_of: Option<Arc<str>>,
    /// The project: the name of the folder in which the transcript lies.
    pub project_id: Option<Arc<str>>,
    /// The folder the session was launched in (the first `cwd`).
    pub cwd: Option<Arc<str>>,
    /// The transcript.
    pub transcript_path: Option<Arc<str>>,
    /// Time of the newest record that is activity.
    pub last_activity_at: Timestamp,
    /// Time of the first record.
    pub created_at: Option<Timestamp>,
    /// The work goes on in another session.
    pub superseded: Option<Supersession>,
    /// The chain.
    pub work_chain_id: ChainId,
    /// The user's name for the chain.
    pub work_chain_name: Option<Arc<str>>,
    /// Compactions in the whole chain.
    pub compaction_count: u32,
    /// Segments in the whole chain.
    pub segment_count: u32,
    /// The newest known permission mode.
    pub permission_mode: Option<Arc<str>>,
    /// Model of the newest answer.
    pub model: Option<Arc<str>>,
    /// Client version of the newest record.
    pub agent_version: Option<Arc<str>>,
    /// Live process, if one is known.
    pub pid: Option<u32>,
    /// The terminal that the process runs in, as its hooks or the registry name it.
    pub terminal: Option<Arc<TerminalContext>>,
    /// Tokens of the session and its subagents, each request once.
    pub tokens: Option<Usage>,
    /// Tokens in the context after the newest answer.
    pub context_used: Option<u64>,
    /// The size of the context, as the client says it. Otherwise the tokens at which the agent last compacted this work by
    /// itself. `None` if it never did, and if the context holds more tokens by now: then its size is greater.
    pub context_size: Option<u64>,
    /// The client's own word on how full the context is, in hundredths of a percent.
    pub context_percent: Option<u32>,
    /// Subagents (running, all).
    pub subagents: Subagents,
    /// Background shells that still run.
    pub background_tasks: u32,
    /// Prompts that wait for the turn to end.
    pub queued_prompts: u32,
    /// The calls that the agent's reviewer refused.
    pub refused: Option<Arc<RefusedRow>>,
    /// How a program started it, in the agent's word; `None` for sessions of people and own sessions.
    pub started_by: Option<Arc<str>>,
    /// The shell command that shows a background session of its agent: it runs without a terminal, and no other process may
    /// resume it.
    pub attach: Option<Arc<str>>,
    /// A pull request the session is tied to.
    pub pull_request: Option<(u64, Arc<str>)>,
    /// What the client last said in its status line, and when.
    pub said: Option<(Arc<StatusLine>, Timestamp)>,
    /// A process of this session runs.
    pub live: bool,
    /// It is an own session.
    pub own: Option<Arc<OwnRow>>,
}

/// What makes a session one of our own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnRow {
    /// The id by which its host is reached. The session's id is another one after a `/clear` or a resume.
    pub id: Arc<str>,
    /// Pipes or a terminal.
    pub way: OwnWay,
    /// The program: the agent's word, or `shell`.
    pub agent: Arc<str>,
    /// Why queued prompts wait for the user.
    pub held: Option<Arc<str>>,
    /// An agent started it, or went on with it.
    pub by_agent: bool,
}

impl Row {
    /// Since when its state concerns the user: the end of a snooze counts as a new beginning.
    pub fn needed_since(&self) -> Timestamp {
        self.snooze_ended_at.map_or(self.state_since, |at| at.max(self.state_since))
    }

    /// The folder that names its project: the repository, else the launch folder.
    pub fn project_folder(&self) -> Option<&Arc<str>> {
        self.worktree_of.as_ref().or(self.repo_root.as_ref()).or(self.cwd.as_ref())
    }

    /// Whether the user can answer nothing there: a program started it, and no hook of ours waits for an answer.
    pub const fn is_unattended(&self) -> bool {
        self.started_by.is_some() && self.request.is_none()
    }

    /// The cause of an error, a limit or a retry, without the witness. `None` in other states, and if the cause is
    /// not known.
    pub fn error(&self) -> Option<&str> {
        let wrong =
            matches!(self.state_kind, Some(StateKind::Error | StateKind::Limit | StateKind::Retrying));
        if wrong { cause_without_prefix(&self.state_reason.detail) } else { None }
    }
}

/// Where a session's work goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Supersession {
    /// The session that took over.
    pub by: SessionId,
    /// When.
    pub at: Option<Timestamp>,
}

/// Subagents of one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Subagents {
    /// How many run.
    pub running: u32,
    /// How many were ever started.
    pub total: u32,
}
