//! The rows that history consists of, and how two tellings of one row become one.

use std::sync::Arc;

use crate::ids::RecordId;
use crate::session::usage::RequestKey;
use crate::time::{Millis, Timestamp};
use crate::transcript::record::Usage;

/// One thing to store. Rows other than texts are upserts: the stored row and this one are merged.
#[derive(Debug, Clone, PartialEq)]
pub enum Item<'a> {
    /// A text to be found by search; new each time.
    Text(Text<'a>),
    /// A prompt and what became of it.
    Batch(Box<Batch>),
    /// A tool call.
    Activity(Box<Activity>),
    /// A version of a plan.
    Plan(Box<PlanVersion>),
    /// A prompt carries out a plan.
    Execution(Execution),
    /// The tokens of one request.
    Request(Request),
}

/// A text to be found by search. Its place is the file that was read, at `offset`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text<'a> {
    /// Where the record's line begins in the file.
    pub offset: u64,
    /// Which text of that line, from 0.
    pub part: u16,
    /// The record. A fork repeats records: of two hits with one id and part, one is shown.
    pub record: Option<RecordId>,
    /// When; the newest time before it for a record without one.
    pub at: Option<Timestamp>,
    /// Whose words.
    pub role: Role,
    /// The tool's name, for [`Role::ToolInput`] and [`Role::ToolResult`]; not known for a result whose call is missing.
    pub tool: Option<&'a str>,
    /// The subagent it belongs to; `sidechain` for clients of 1.0.x, which do not name it.
    pub agent: Option<&'a str>,
    /// The record says of itself that it was copied from another session.
    pub copied: bool,
    /// The text, without private blocks, cut at the limit for its role and at a character.
    pub text: &'a str,
    /// Bytes of the line that were left out by the cut; escapes count as they are written.
    pub cut: u64,
}

/// Whose words a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Somebody asked: the person, or for a subagent its caller.
    Prompt,
    /// The agent answered.
    Answer,
    /// The agent thought.
    Thinking,
    /// What a tool was called with.
    ToolInput,
    /// What a tool gave.
    ToolResult,
    /// What a compaction kept.
    Summary,
    /// A title of the session.
    Title,
    /// A slash command or a `!` line of the person, and what it printed.
    Command,
    /// The notice that background work has ended, or the words of another session.
    Notice,
}

impl Role {
    /// Every role, in the order of their numbers.
    pub const ALL: [Self; 9] = [
        Self::Prompt,
        Self::Answer,
        Self::Thinking,
        Self::ToolInput,
        Self::ToolResult,
        Self::Summary,
        Self::Title,
        Self::Command,
        Self::Notice,
    ];

    /// The word in JSON, on the command line and in the store.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Answer => "answer",
            Self::Thinking => "thinking",
            Self::ToolInput => "tool_input",
            Self::ToolResult => "tool_result",
            Self::Summary => "summary",
            Self::Title => "title",
            Self::Command => "command",
            Self::Notice => "notice",
        }
    }

    /// The role of a word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.word() == word)
    }
}

/// Names one batch: the client's `promptId`, which hooks call `prompt_id`; before 2.1.87 the prompt record's own id.
pub type BatchId = Arc<str>;

/// A prompt, and what became of it. Absent fields are not told here.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Batch {
    /// Its name within the session.
    pub id: BatchId,
    /// Who asked.
    pub origin: Option<BatchOrigin>,
    /// The prompt without private blocks and the client's wrappers, cut. `None` also when all of it was private.
    pub prompt: Option<String>,
    /// All of the prompt was private.
    pub private: bool,
    /// When it was asked.
    pub started_at: Option<Timestamp>,
    /// Where the prompt's line begins in the session's transcript.
    pub offset: Option<u64>,
    /// The prompt's record.
    pub record: Option<RecordId>,
    /// How the turn stands, and since when.
    pub ended: Option<Ended>,
    /// The newest thing that happened in it.
    pub last_activity_at: Option<Timestamp>,
    /// The last words of the agent, cut, and when it said them.
    pub response: Option<(Timestamp, String)>,
    /// Whether it wrote a plan.
    pub plan: bool,
}

/// Who asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BatchOrigin {
    /// The person.
    Human,
    /// The person, while a turn ran: the prompt was taken into it.
    Queued,
    /// A background task or subagent has ended.
    TaskNotification,
    /// Another session.
    Peer,
}

impl BatchOrigin {
    /// The word in JSON and in the store.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Queued => "queued",
            Self::TaskNotification => "task_notification",
            Self::Peer => "peer",
        }
    }

    /// The origin of a word.
    pub fn of(word: &str) -> Option<Self> {
        [Self::Human, Self::Queued, Self::TaskNotification, Self::Peer].into_iter().find(|o| o.word() == word)
    }
}

/// How a turn stands. Later ones win where two witnesses name the same moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BatchStatus {
    /// It runs.
    Active,
    /// The agent said its last word.
    Completed,
    /// The person stopped it.
    Interrupted,
    /// The request failed for good.
    Failed,
}

impl BatchStatus {
    /// The word in JSON and in the store.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Completed => "completed",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
        }
    }

    /// The status of a word.
    pub fn of(word: &str) -> Option<Self> {
        [Self::Active, Self::Completed, Self::Interrupted, Self::Failed]
            .into_iter()
            .find(|s| s.word() == word)
    }
}

/// A status and the moment it was told for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// The status; [`BatchStatus::Active`] means that it goes on.
    pub status: BatchStatus,
    /// Since when.
    pub at: Timestamp,
    /// For [`BatchStatus::Failed`]: what the client said.
    pub error: Option<String>,
}

/// The Stop hook fires up to so long before the last record of the turn: that record is no new turn.
const STOP_LEAD: Millis = Millis(2_000);

impl Ended {
    /// The order in which a later telling replaces an earlier one.
    fn weight(&self) -> (Timestamp, BatchStatus, Option<&str>) {
        let lead = if self.status == BatchStatus::Active { Millis(0) } else { STOP_LEAD };
        (self.at + lead, self.status, self.error.as_deref())
    }
}

impl Batch {
    /// A batch of which only the name is known.
    pub fn new(id: BatchId) -> Self {
        Self { id, ..Self::default() }
    }

    /// Takes over what another telling of the same batch knows. In any order the result is the same.
    pub fn merge(&mut self, other: &Self) {
        least(&mut self.origin, other.origin);
        longest(&mut self.prompt, other.prompt.as_deref());
        self.private |= other.private;
        least(&mut self.started_at, other.started_at);
        least(&mut self.offset, other.offset);
        least(&mut self.record, other.record);
        if let Some(ended) = &other.ended
            && self.ended.as_ref().is_none_or(|known| known.weight() < ended.weight())
        {
            self.ended = Some(ended.clone());
        }
        self.last_activity_at = self.last_activity_at.max(other.last_activity_at);
        if other.response > self.response {
            self.response.clone_from(&other.response);
        }
        self.plan |= other.plan;
    }
}

/// A tool call. Absent fields are not told here.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Activity {
    /// `tool_use_id`, unique within the session. A fork repeats its original's.
    pub id: Arc<str>,
    /// The batch it belongs to; `None` is for recovery to find out.
    pub batch: Option<BatchId>,
    /// The subagent that called.
    pub agent: Option<Arc<str>>,
    /// The tool.
    pub tool: Option<Arc<str>>,
    /// What it acts on, in one line.
    pub target: Option<String>,
    /// The file it touched.
    pub file: Option<String>,
    /// The input as JSON text, without private blocks, cut.
    pub input: Option<String>,
    /// When it was called.
    pub at: Option<Timestamp>,
    /// Where the call's line begins in the file that was read.
    pub offset: Option<u64>,
    /// How it ended.
    pub outcome: Option<Outcome>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// How long it ran, as a hook measured it; else from the call's record to the result's.
    pub duration_ms: Option<u64>,
    /// Where the result's line begins in the file that was read: its text is found there.
    pub result_offset: Option<u64>,
    /// The first words of an error.
    pub error: Option<String>,
}

/// How a tool call ended. Later ones win where two are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// There is no result yet.
    Pending,
    /// Its turn ended without a result.
    Lost,
    /// It goes on in the background.
    Background,
    /// It went well.
    Ok,
    /// It failed.
    Error,
    /// It was refused, by the person or by a rule.
    Denied,
}

impl Outcome {
    /// The word in JSON and in the store.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Lost => "lost",
            Self::Background => "background",
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Denied => "denied",
        }
    }

    /// The outcome of a word.
    pub fn of(word: &str) -> Option<Self> {
        [Self::Pending, Self::Lost, Self::Background, Self::Ok, Self::Error, Self::Denied]
            .into_iter()
            .find(|o| o.word() == word)
    }
}

impl Activity {
    /// A call of which only the id is known.
    pub fn new(id: Arc<str>) -> Self {
        Self { id, ..Self::default() }
    }

    /// Takes over what another telling of the same call knows. In any order the result is the same.
    pub fn merge(&mut self, other: &Self) {
        least(&mut self.batch, other.batch.clone());
        least(&mut self.agent, other.agent.clone());
        least(&mut self.tool, other.tool.clone());
        longest(&mut self.target, other.target.as_deref());
        longest(&mut self.file, other.file.as_deref());
        longest(&mut self.input, other.input.as_deref());
        least(&mut self.at, other.at);
        least(&mut self.offset, other.offset);
        self.outcome = self.outcome.max(other.outcome);
        least(&mut self.ended_at, other.ended_at);
        // A hook measures the tool alone, the records also the wait for permission.
        least(&mut self.duration_ms, other.duration_ms);
        least(&mut self.result_offset, other.result_offset);
        longest(&mut self.error, other.error.as_deref());
    }
}

/// A plan as it stood at some time. The same text again is no new version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanVersion {
    /// Names the plan: its file's path; without a file the session and the batch, or the text's hash.
    pub plan: Arc<str>,
    /// The file.
    pub path: Option<Arc<str>>,
    /// When.
    pub at: Option<Timestamp>,
    /// The batch that wrote it.
    pub batch: Option<BatchId>,
    /// What it says, without private blocks, cut. `None` when only a word about it was said.
    pub content: Option<String>,
    /// What happened to it.
    pub word: PlanWord,
}

/// What happened to a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PlanWord {
    /// It was written or changed.
    Written,
    /// It was shown to the person.
    Proposed,
    /// The person sent it back.
    Rejected,
    /// The person agreed.
    Approved,
}

impl PlanWord {
    /// The word in JSON and in the store.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Written => "written",
            Self::Proposed => "proposed",
            Self::Rejected => "rejected",
            Self::Approved => "approved",
        }
    }

    /// The value of a word.
    pub fn of(word: &str) -> Option<Self> {
        [Self::Written, Self::Proposed, Self::Rejected, Self::Approved].into_iter().find(|w| w.word() == word)
    }
}

/// A prompt carries out a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execution {
    /// The plan's name, where it is known.
    pub plan: Option<Arc<str>>,
    /// The text that came with the prompt, cut as [`PlanVersion::content`] is: a plan of the same text is meant, in
    /// whichever session. After `/clear` nothing else ties the two.
    pub content: Option<String>,
    /// The batch.
    pub batch: BatchId,
    /// When.
    pub at: Option<Timestamp>,
}

/// The tokens of one request.
///
/// A client repeats them on each block of the answer, and clients before 2.1.98 wrote placeholders first: the
/// greatest number of each kind counts, whatever file it stands in. The request belongs to the session in which it
/// was first seen, by time and then by id: forks and re-appended history repeat it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Its name, over all sessions.
    pub key: RequestKey,
    /// When the answer came.
    pub at: Option<Timestamp>,
    /// The model.
    pub model: Option<Arc<str>>,
    /// The tokens.
    pub usage: Usage,
    /// The subagent that asked.
    pub agent: Option<Arc<str>>,
    /// The record says of itself that it was copied from another session.
    pub copied: bool,
}

impl Request {
    /// Takes over what another telling of the same request knows. In any order the result is the same.
    pub fn merge(&mut self, other: &Self) {
        least(&mut self.at, other.at);
        least(&mut self.model, other.model.clone());
        least(&mut self.agent, other.agent.clone());
        self.copied &= other.copied;
        self.see(None, other.usage);
    }

    /// Another record tells the tokens.
    pub(super) fn see(&mut self, at: Option<Timestamp>, theirs: Usage) {
        least(&mut self.at, at);
        let mine = &mut self.usage;
        mine.input = mine.input.max(theirs.input);
        mine.output = mine.output.max(theirs.output);
        mine.cache_read = mine.cache_read.max(theirs.cache_read);
        mine.cache_write = mine.cache_write.max(theirs.cache_write);
    }
}

/// What is told beats what is not; of two, the lesser.
fn least<T: Ord>(mine: &mut Option<T>, theirs: Option<T>) {
    if let Some(theirs) = theirs
        && mine.as_ref().is_none_or(|mine| theirs < *mine)
    {
        *mine = Some(theirs);
    }
}

/// What is told beats what is not; of two texts the longer, since one of them may have been cut shorter.
fn longest(mine: &mut Option<String>, theirs: Option<&str>) {
    if let Some(theirs) = theirs
        && mine.as_deref().is_none_or(|mine| (mine.len(), mine) < (theirs.len(), theirs))
    {
        *mine = Some(theirs.to_owned());
    }
}
