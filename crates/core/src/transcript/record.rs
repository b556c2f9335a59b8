//! One parsed record of a transcript: the facts that state, lineage, title and usage need, and no more.
//!
//! A record borrows from its line. Payloads that no fold needs (tool output, file contents, prompt snapshots) are
//! skipped, not copied; the timeline reads them on demand. Evidence for the shapes: agents 1.0.51 to 2.1.329.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

pub use super::denial::{Denial, RefusalKind};
pub use super::origin::{SUBAGENT, SessionRecord};
pub use super::tokens::{TokenTotal, Usage};
use crate::ids::RecordId;
use crate::time::Timestamp;
use crate::tool::{Ask, Mode};

/// One record: the fields that nearly every record has, and the content of its type.
#[derive(Debug, Clone, PartialEq)]
pub struct Record<'a> {
    /// Identity, time and place.
    pub envelope: Envelope<'a>,
    /// The content of its type.
    pub body: Body<'a>,
}

/// The fields that chained records share. Metadata records have few of them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Envelope<'a> {
    /// `uuid`; absent on metadata records.
    pub uuid: Option<RecordId>,
    /// The record's number in its session, for agents that number their records.
    pub ordinal: Option<u64>,
    /// `timestamp`; not monotonic in file order, absent on metadata records.
    pub at: Option<Timestamp>,
    /// `sessionId`: the session whose file this is, or, in history copied by 1.0.x, another one.
    pub session_id: Option<Cow<'a, str>>,
    /// `session_id`, since 2.1.207: the session that the writing process started or resumed with.
    pub process_session_id: Option<Cow<'a, str>>,
    /// `forkedFrom.sessionId`, on records copied by `/branch`.
    pub forked_from: Option<Cow<'a, str>>,
    /// `cwd`; may change inside one session.
    pub cwd: Option<Cow<'a, str>>,
    /// `gitBranch`.
    pub branch: Option<Cow<'a, str>>,
    /// `version` of the agent.
    pub version: Option<Cow<'a, str>>,
    /// `entrypoint`: `cli`, `sdk-cli`, …; an open set.
    pub entrypoint: Option<Cow<'a, str>>,
    /// `agentName`: a teammate's name.
    pub agent_name: Option<Cow<'a, str>>,
    /// `agentId`, on a subagent's records.
    pub agent_id: Option<Cow<'a, str>>,
    /// `isSidechain`: a subagent's record, also when it stands in the main file (1.0.x).
    pub sidechain: bool,
    /// `isMeta`: written by the agent, not by the user.
    pub meta: bool,
}

/// The content of a record, by its type.
#[derive(Debug, Clone, PartialEq)]
pub enum Body<'a> {
    /// A prompt that starts or feeds a turn.
    Prompt(Prompt<'a>),
    /// Results of one or more tool calls.
    ToolResults(Vec<ToolResult<'a>>),
    /// `[Request interrupted by user]` as the agent writes it: ends the turn. A pasted lookalike is a prompt.
    Interrupt,
    /// `isCompactSummary`: the summary after a compaction; not a prompt of the user.
    CompactSummary,
    /// A slash command, its output or its caveat; `!` shell input and output. Starts no turn.
    LocalCommand {
        /// `/clear`, `/compact`, … when the record names one, with the slash.
        name: Option<Cow<'a, str>>,
    },
    /// Any other `isMeta` user record.
    Meta,
    /// One content block of an answer (one record per block).
    Assistant(Assistant<'a>),
    /// `isApiErrorMessage`: the request failed for good; ends the turn.
    ApiError {
        /// `error`: `rate_limit`, `server_error`, …; an open set. `usage_limit` is a usage limit for certain.
        kind: Option<Cow<'a, str>>,
        /// The text shown to the user, cut at [`TEXT_LIMIT`] bytes.
        text: Cow<'a, str>,
    },
    /// A `system` record.
    System(System<'a>),
    /// `progress` (2.1.12 to 2.1.42): a heartbeat of a running tool.
    Progress,
    /// An `attachment` that matters to state or lineage.
    Attachment(Attachment<'a>),
    /// `queue-operation`.
    Queue(QueueOperation<'a>),
    /// A title of some kind; the last one of each kind wins, and it is no activity.
    Title {
        /// Where the title comes from.
        kind: TitleKind,
        /// The title itself, cut at [`TEXT_LIMIT`] bytes.
        text: Cow<'a, str>,
    },
    /// `permission-mode`: the mode between prompts.
    PermissionMode(Cow<'a, str>),
    /// `last-prompt`: the newest prompt, repeated at the tail.
    LastPrompt(Cow<'a, str>),
    /// `pr-link`.
    PullRequest {
        /// `prNumber`.
        number: u64,
        /// `prUrl`.
        url: Cow<'a, str>,
    },
    /// `relocated`, and `worktree-state` with a worktree: the client moved the session, and where it can, its file.
    Moved {
        /// `relocatedCwd` or `worktreePath`.
        cwd: Cow<'a, str>,
        /// `worktreeBranch`.
        branch: Option<Cow<'a, str>>,
    },
    /// `worktree-state` without a worktree: the session is back in the folder of its records.
    LeftWorktree,
    /// `continued-in`: the work goes on in the session of this id, `continuedInSessionId` (client 2.1.332).
    ContinuedIn(Cow<'a, str>),
    /// Which session the file holds. It begins the file, and comes again when the session is resumed. One of another
    /// session begins history that was copied from there, see [`Inherited`](super::inherited::Inherited).
    Session(SessionRecord<'a>),
    /// The agent marks the beginning of a turn, which need not have a prompt. From the first mark on, each turn has one.
    TurnStarted,
    /// Whether a compaction runs from here on. Only some agents write that. The boundary is a record of its own.
    Compaction(bool),
    /// A dialog about a call is open, or the user has answered it. Only some agents write that.
    Permission {
        /// The id of the request.
        id: Cow<'a, str>,
        /// The tool.
        tool: Cow<'a, str>,
        /// What the call acts on, in one line.
        target: Cow<'a, str>,
        /// Whether the dialog is open.
        waits: bool,
    },
    /// Settings that hold from here on.
    Settings {
        /// The model.
        model: Option<Cow<'a, str>>,
        /// The permission mode in the agent's word, and which calls may ask in it.
        mode: Option<(Cow<'a, str>, Mode)>,
    },
    /// A running total of the session's tokens. The agent repeats it, and carries it over into forks.
    Tokens(TokenTotal),
    /// A known type without facts about state, lineage, title or usage.
    Irrelevant,
    /// A type that this program does not know. Counted, never an error.
    Unknown(Cow<'a, str>),
}

impl Body<'_> {
    /// Whether the record may quote the content of a file. The words of the user and the model do not count: they may
    /// name any path. The match names each variant, so that a new one cannot pass the check of excluded folders unseen.
    pub fn quotes_files(&self) -> bool {
        match self {
            Self::Prompt(_) | Self::ToolResults(_) | Self::Assistant(_) | Self::LocalCommand { .. } => true,
            Self::Permission { .. } => true,
            Self::Interrupt | Self::CompactSummary | Self::Meta | Self::ApiError { .. } => false,
            Self::System(_) | Self::Attachment(_) | Self::Queue(_) | Self::Title { .. } => false,
            Self::Progress | Self::PermissionMode(_) | Self::LastPrompt(_) | Self::PullRequest { .. } => {
                false
            }
            Self::Moved { .. } | Self::LeftWorktree | Self::ContinuedIn(_) => false,
            Self::Session(_) | Self::TurnStarted | Self::Settings { .. } | Self::Tokens(_) => false,
            Self::Compaction(_) | Self::Irrelevant | Self::Unknown(_) => false,
        }
    }
}

/// Longest text that a record carries into the fold, in bytes; longer ones are cut at a character boundary.
pub const TEXT_LIMIT: usize = 2048;

/// A prompt and its source.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt<'a> {
    /// The text, cut at [`TEXT_LIMIT`] bytes; empty if the prompt has only images.
    pub text: Cow<'a, str>,
    /// Nothing of the whole text but private parts is the user's own.
    pub private: bool,
    /// The source of the prompt.
    pub origin: PromptOrigin,
    /// `permissionMode` at the time.
    pub permission_mode: Option<Cow<'a, str>>,
    /// For [`PromptOrigin::TaskNotification`]: the task or agent that has ended.
    pub task_id: Option<Cow<'a, str>>,
    /// `planContent` and the file that the prompt names: the session whose plan this one carries out.
    pub plan_of: Option<Cow<'a, str>>,
}

/// The source of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptOrigin {
    /// The user, by keyboard, queue or SDK.
    Human,
    /// A background task or subagent has ended and wakes the agent.
    TaskNotification,
    /// Another session, a teammate or a coordinator.
    Peer,
}

impl PromptOrigin {
    /// Whether the turn is private as a whole, if the turn `before` was or was not. Only the user's own prompt begins a public one.
    pub fn privacy(self, private: bool, before: bool) -> bool {
        private || (before && self != Self::Human)
    }
}

/// The outcome of one tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult<'a> {
    /// `tool_use_id`.
    pub id: Cow<'a, str>,
    /// `is_error`.
    pub is_error: bool,
    /// Whether a command ended with the exit code 0. `None` if the agent does not say how it ended.
    pub succeeded: Option<bool>,
    /// Why the call was refused, if it was.
    pub denied: Option<Denial>,
    /// Only the result's text says that it was refused. A tool that returns text of others can write the same.
    pub denied_by_text: bool,
    /// `toolUseResult.backgroundTaskId`: the command goes on in the background.
    pub background_task: Option<Cow<'a, str>>,
    /// `toolUseResult.status == "async_launched"`: the subagent of this id goes on by itself.
    pub async_agent: Option<Cow<'a, str>>,
}

/// One block of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Assistant<'a> {
    /// `message.id`: shared by all blocks of one message.
    pub message_id: Option<Cow<'a, str>>,
    /// `requestId`.
    pub request_id: Option<Cow<'a, str>>,
    /// `message.model`; `<synthetic>` for a message made by the agent.
    pub model: Option<Cow<'a, str>>,
    /// `message.stop_reason`; null on most blocks before 2.1.87.
    pub stop: Option<StopReason>,
    /// `message.usage`.
    pub usage: Option<Usage>,
    /// The blocks; one in practice, but several are read too.
    pub blocks: Vec<Block<'a>>,
    /// `isAbortedMidStream`, since 2.1.222.
    pub aborted: bool,
}

/// Why the model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// `end_turn`.
    EndTurn,
    /// `tool_use`.
    ToolUse,
    /// `stop_sequence`.
    StopSequence,
    /// `max_tokens`.
    MaxTokens,
    /// `refusal`.
    Refusal,
    /// `pause_turn` or a value this program does not know: no evidence of an end.
    Other,
}

/// One content block.
#[derive(Debug, Clone, PartialEq)]
pub enum Block<'a> {
    /// `thinking` or `redacted_thinking`.
    Thinking,
    /// `text`; the text cut at [`TEXT_LIMIT`] bytes.
    Text(Cow<'a, str>),
    /// `tool_use`.
    ToolUse {
        /// `id`.
        id: Cow<'a, str>,
        /// `name`.
        tool: Cow<'a, str>,
        /// What it acts on, in one line: command, path, pattern, question, ….
        target: Cow<'a, str>,
        /// What the call can mean while it has no result, by its tool and its input.
        ask: Ask,
        /// Its success tells that tests pass: see [`crate::tool::is_test_run`].
        is_test: bool,
    },
    /// A kind that does not matter to state.
    Other,
}

/// A `system` record, by its subtype.
#[derive(Debug, Clone, PartialEq)]
pub enum System<'a> {
    /// `turn_duration`: the turn is over.
    TurnDuration {
        /// `pendingBackgroundAgentCount`.
        pending_agents: u32,
    },
    /// `stop_hook_summary`: comes before the end, and also if a hook prevents the end.
    StopHookSummary {
        /// `preventedContinuation`.
        prevented: bool,
    },
    /// `away_summary`: some three minutes after the end of a turn; no activity.
    AwaySummary,
    /// `compact_boundary`.
    CompactBoundary(CompactBoundary),
    /// `api_error`: a retry is coming; the turn goes on.
    Retry {
        /// `retryAttempt`.
        attempt: Option<u32>,
        /// `maxRetries`.
        max: Option<u32>,
        /// `retryInMs`.
        in_ms: Option<u64>,
        /// `error.status`.
        status: Option<u16>,
    },
    /// `local_command`, `informational`, `bridge_status`, `microcompact_boundary`, ….
    Other(Cow<'a, str>),
}

/// Where one segment ends and the next begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactBoundary {
    /// `compactMetadata.trigger`.
    pub trigger: CompactTrigger,
    /// `compactMetadata.preTokens`.
    pub pre_tokens: Option<u64>,
    /// `compactMetadata.postTokens`.
    pub post_tokens: Option<u64>,
}

/// What started a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CompactTrigger {
    /// The context was full.
    Auto,
    /// The user typed `/compact`.
    Manual,
    /// Not recorded (1.0.x has no boundary record, only the summary).
    Unknown,
}

/// An `attachment` that matters.
#[derive(Debug, Clone, PartialEq)]
pub enum Attachment<'a> {
    /// `queued_command`: a queued prompt was taken into the running turn.
    QueuedCommand {
        /// The prompt, cut at [`TEXT_LIMIT`] bytes.
        text: Cow<'a, str>,
        /// Nothing of the whole text but private parts is the user's own.
        private: bool,
    },
    /// `hook_success` of a SessionStart hook; the source follows the colon in `hookName`.
    SessionStart {
        /// `startup`, `resume`, `clear`, `compact`, `fork`.
        source: Cow<'a, str>,
    },
    /// `structured_output`, `max_turns_reached`, `hook_stopped_continuation`: the turn is over, and no answer follows.
    TurnEnd,
    /// Any other.
    Other,
}

/// A `queue-operation`.
#[derive(Debug, Clone, PartialEq)]
pub enum QueueOperation<'a> {
    /// `enqueue`: waits for the turn to end.
    Enqueue {
        /// `content`, cut at [`TEXT_LIMIT`] bytes.
        text: Cow<'a, str>,
    },
    /// `dequeue`: becomes a turn.
    Dequeue,
    /// `remove`: was taken into the running turn, or withdrawn.
    Remove,
    /// `popAll`: the user took all of it back to edit.
    PopAll,
    /// A value this program does not know.
    Other,
}

/// Kinds of titles, weakest first: a stronger one is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TitleKind {
    /// `summary`: belongs to the session that contains its `leafUuid`, usually another one.
    Summary,
    /// `ai-title`.
    Ai,
    /// `agent-name`.
    AgentName,
    /// `custom-title`: the user's own.
    Custom,
}
