//! One event of an own session, as far as its row needs it.

use std::sync::Arc;

use crate::ids::SessionId;
use crate::session::state::StateKind;
use crate::transcript::record::Usage;

/// One event of an own session. The protocol's `OwnWhat` has the texts; these are the facts in them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnFact {
    /// The agent is ready, or says again what it is.
    Init {
        /// The agent's id of the session.
        session: SessionId,
        /// Its model.
        model: Option<Arc<str>>,
        /// Its permission mode.
        mode: Option<Arc<str>>,
        /// Its version.
        version: Option<Arc<str>>,
        /// Its process id.
        pid: Option<u32>,
    },
    /// A prompt changed its place.
    Prompt {
        /// Its id.
        id: Arc<str>,
        /// Its text.
        text: Arc<str>,
        /// Where it is.
        place: PromptPlace,
    },
    /// Queued prompts wait for the user, with the cause; `None`: they wait no longer.
    Held(Option<Arc<str>>),
    /// A turn began.
    TurnStart,
    /// The agent wrote text or thought.
    Output,
    /// The agent uses a tool.
    ToolUse {
        /// The id of the call.
        id: Arc<str>,
        /// The tool's name.
        tool: Arc<str>,
        /// The input in one line.
        target: Arc<str>,
    },
    /// A tool has ended.
    ToolResult {
        /// The id of the call.
        id: Arc<str>,
    },
    /// The agent asks.
    Asked {
        /// The id of the request.
        id: Arc<str>,
        /// Permission, question or plan.
        kind: StateKind,
        /// The tool's name.
        tool: Arc<str>,
        /// The request in one line.
        summary: Arc<str>,
    },
    /// It asks no longer.
    AskClosed {
        /// The id of the request.
        id: Arc<str>,
    },
    /// The request to the model failed and is tried again, in words.
    Retry(Arc<str>),
    /// The conversation is being compacted; `true`: that has ended.
    Compaction(bool),
    /// The model or the mode changed.
    Changed {
        /// The model.
        model: Option<Arc<str>>,
        /// The mode.
        mode: Option<Arc<str>>,
    },
    /// The conversation goes on under another id of the agent.
    Moved(SessionId),
    /// Something failed, in words.
    Failed(Arc<str>),
    /// The turn goes on although it was interrupted, in words.
    Unresponsive(Arc<str>),
    /// How full the context is, in tokens.
    Context {
        /// Tokens in it.
        used: u64,
        /// Tokens that fit.
        size: Option<u64>,
    },
    /// A turn has ended.
    TurnEnd {
        /// `completed`, `interrupted`, `error`, `limit`, `login`, `max_turns`.
        reason: Arc<str>,
        /// Its tokens.
        tokens: Option<Usage>,
    },
    /// The agent's process was started.
    Started(u32),
    /// The end was asked for, and so many processes are left.
    Ending(usize),
    /// The last process has ended.
    Ended {
        /// The user asked for it.
        asked: bool,
        /// The exit code of the agent.
        code: Option<i32>,
        /// The signal that ended it.
        signal: Option<i32>,
        /// Its last words on standard error.
        words: Option<Arc<str>>,
    },
    /// Anything else.
    Other,
}

/// Where a prompt is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptPlace {
    /// In the host's queue.
    Queued,
    /// Written to the agent, or taken up by it.
    Running,
    /// Done, or dropped.
    Over,
    /// In doubt: the agent ended before it said that it has it.
    Lost,
}
