//! The rows of the history, and how two reports of one row are merged.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ids::RecordId;
use crate::session::usage::RequestKey;
use crate::time::{Millis, Timestamp};
use crate::transcript::record::{CompactBoundary, Usage};

pub use super::row_kinds::{BatchOrigin, BatchStatus, CallOutcome, PlanEventKind, Role};

/// Where rows go.
pub type RowSink<'k> = &'k mut dyn FnMut(Item<'_>);

/// One thing to store. Rows other than texts are upserts: the stored row and this one are merged.
#[derive(Debug, Clone, PartialEq)]
pub enum Item<'a> {
    /// A working folder of the session, never an excluded one. The same folder may come again.
    Folder(&'a str),
    /// A text for search; it is never merged.
    Text(Text<'a>),
    /// A prompt and its turn.
    Batch(Box<Batch>),
    /// A prompt that a hook reported without an id has one now.
    BatchNamed {
        /// The id so far.
        from: BatchId,
        /// The agent's.
        to: BatchId,
    },
    /// A tool call.
    Activity(Box<Activity>),
    /// A version of a plan.
    Plan(Box<PlanEvent>),
    /// A prompt carries out a plan.
    Execution(Execution),
    /// The tokens of one request.
    Request(Request),
    /// A stretch of the transcript between two compactions. It replaces the stored one of the same number.
    Segment(Segment),
}

/// A stretch of a session's own transcript, from one compaction to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Segment {
    /// Its number in the file, from zero.
    pub number: u32,
    /// Where it begins in the file.
    pub offset: u64,
    /// Time of its first record that can give a row.
    pub started_at: Option<Timestamp>,
    /// Time of its last record, if another segment follows.
    pub ended_at: Option<Timestamp>,
    /// The compaction before it.
    pub boundary: Option<CompactBoundary>,
}

/// A text for search. It stands in the file that was read, at `offset`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text<'a> {
    /// Where the record's line begins in the file.
    pub offset: u64,
    /// Which text of that line, from 0.
    pub part: u16,
    /// The record's id. A fork repeats records: of two hits with the same id and part, search shows one.
    pub record: Option<RecordId>,
    /// The record's time; without one, the newest time before it.
    pub at: Option<Timestamp>,
    /// The kind of text.
    pub role: Role,
    /// The tool's name, for [`Role::ToolInput`] and [`Role::ToolResult`]. `None` for a result whose call is
    /// missing.
    pub tool: Option<&'a str>,
    /// The subagent it belongs to; `sidechain` for agents of 1.0.x, which do not name it.
    pub agent: Option<&'a str>,
    /// By its own fields, the record was copied from another session.
    pub copied: bool,
    /// The text without private blocks, cut at the limit of its role and at a character boundary.
    pub text: &'a str,
    /// Bytes of the line that the cut left out; an escape counts as it is written.
    pub cut: u64,
}

/// Id of a batch: the agent's `promptId`, which hooks call `prompt_id`. For agents before 2.1.87, the id of the
/// prompt's record.
pub type BatchId = Arc<str>;

/// A prompt and its turn. A field is absent if this report does not have it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Batch {
    /// Its id, unique within the session.
    pub id: BatchId,
    /// The source of the prompt. A hook does not tell whether a person typed it.
    pub origin: Option<BatchOrigin>,
    /// The prompt without private blocks and the agent's wrappers, cut. `None` also when all of it was private.
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
    /// Time of the newest event in it.
    pub last_activity_at: Option<Timestamp>,
    /// The agent's last answer, cut, and its time.
    pub response: Option<(Timestamp, String)>,
    /// Whether the turn wrote a plan.
    pub plan: bool,
}

/// A status and its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// The status; [`BatchStatus::Active`] means that it goes on.
    pub status: BatchStatus,
    /// Since when.
    pub at: Timestamp,
    /// For [`BatchStatus::Failed`]: the agent's message.
    pub error: Option<String>,
}

/// The Stop hook fires up to this long before the last record of the turn. That record begins no new turn.
const STOP_LEAD: Millis = Millis(2_000);

impl Ended {
    /// The key by which a later report replaces an earlier one.
    fn weight(&self) -> (Timestamp, BatchStatus, Option<&str>) {
        let lead = if self.status == BatchStatus::Active { Millis(0) } else { STOP_LEAD };
        (self.at + lead, self.status, self.error.as_deref())
    }
}

impl Batch {
    /// A batch with nothing but its id.
    pub fn new(id: BatchId) -> Self {
        Self { id, ..Self::default() }
    }

    /// Whether its turn has ended.
    pub fn is_over(&self) -> bool {
        self.ended.as_ref().is_some_and(|ended| ended.status != BatchStatus::Active)
    }

    /// Adds the facts of another report of the same batch. The order of reports does not matter.
    pub fn merge(&mut self, other: &Self) {
        self.origin = self.origin.max(other.origin);
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
        self.hide_private();
    }

    /// Of a turn whose prompt is private as a whole, no text is kept. The agent's message about a failure is no such text.
    pub fn hide_private(&mut self) {
        if self.private {
            (self.prompt, self.response) = (None, None);
        }
    }
}

/// A tool call. A field is absent if this report does not have it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Activity {
    /// `tool_use_id`, unique within the session. A fork repeats the ids of its original.
    pub id: Arc<str>,
    /// The batch it belongs to. If it is `None`, recovery finds one.
    pub batch: Option<BatchId>,
    /// The subagent that made the call.
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
    pub outcome: Option<CallOutcome>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// How long it ran, as a hook measured it; else from the call's record to the result's.
    pub duration_ms: Option<u64>,
    /// Where the result's line begins in the file that was read. The result's text is there.
    pub result_offset: Option<u64>,
    /// The first words of an error.
    pub error: Option<String>,
    /// What the user said when refusing the call.
    pub reason: Option<String>,
}

impl Activity {
    /// Takes every text of the call away.
    pub fn hide_texts(&mut self) {
        (self.target, self.file, self.input, self.error, self.reason) = (None, None, None, None, None);
    }

    /// A call with nothing but its id.
    pub fn new(id: Arc<str>) -> Self {
        Self { id, ..Self::default() }
    }

    /// Adds the facts of another report of the same call. The order of reports does not matter.
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
        // A hook measures the tool alone. The records include the wait for permission.
        least(&mut self.duration_ms, other.duration_ms);
        least(&mut self.result_offset, other.result_offset);
        longest(&mut self.error, other.error.as_deref());
        longest(&mut self.reason, other.reason.as_deref());
    }
}

/// A plan at one time. The same text again is no new version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanEvent {
    /// Id of the plan: the path of its file. Without a file, the session and the batch, or the text's hash.
    pub plan: Arc<str>,
    /// The file.
    pub path: Option<Arc<str>>,
    /// When.
    pub at: Option<Timestamp>,
    /// The batch that wrote it.
    pub batch: Option<BatchId>,
    /// Its text, without private blocks, cut. `None` if the report has no text. Then its file may have it.
    pub content: Option<String>,
    /// The text in the call's input, for a report and a file without one.
    pub given: Option<String>,
    /// What happened to it.
    pub word: PlanEventKind,
}

/// A prompt carries out a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execution {
    /// The plan's name, where it is known.
    pub plan: Option<Arc<str>>,
    /// The plan's text in the prompt, cut like [`PlanEvent::content`]. It stands for a plan with the same text,
    /// in any session: after `/clear` nothing else ties the two.
    pub content: Option<String>,
    /// The batch.
    pub batch: BatchId,
    /// When.
    pub at: Option<Timestamp>,
}

/// The tokens of one request.
///
/// A client repeats the tokens on each block of the answer, and clients before 2.1.98 wrote placeholders first. So
/// the greatest number of each kind counts, from any file. Forks and re-appended history repeat a request. It
/// belongs to the session that had it first, by time and then by id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Its id, unique over all sessions.
    pub key: RequestKey,
    /// When the answer came.
    pub at: Option<Timestamp>,
    /// The model, by the last line of the answer.
    pub model: Option<Arc<str>>,
    /// The tokens.
    pub usage: Usage,
    /// The subagent that sent it.
    pub agent: Option<Arc<str>>,
    /// By its own fields, the record was copied from another session.
    pub copied: bool,
}

impl Request {
    /// Adds the facts of a later report of the same request by the same file. Only the model depends on the order.
    pub fn merge(&mut self, other: &Self) {
        least(&mut self.at, other.at);
        self.model = other.model.clone().or(self.model.take());
        least(&mut self.agent, other.agent.clone());
        self.copied &= other.copied;
        self.merge_usage(None, other.usage);
    }

    /// Adds the tokens of another record.
    pub(super) fn merge_usage(&mut self, at: Option<Timestamp>, theirs: Usage) {
        least(&mut self.at, at);
        let mine = &mut self.usage;
        mine.input = mine.input.max(theirs.input);
        mine.output = mine.output.max(theirs.output);
        mine.cache_read = mine.cache_read.max(theirs.cache_read);
        mine.cache_write = mine.cache_write.max(theirs.cache_write);
    }
}

/// A present value replaces an absent one; of two, the lesser stays.
fn least<T: Ord>(mine: &mut Option<T>, theirs: Option<T>) {
    if let Some(theirs) = theirs
        && mine.as_ref().is_none_or(|mine| theirs < *mine)
    {
        *mine = Some(theirs);
    }
}

/// A present text replaces an absent one. Of two texts the longer stays, because the other one may have been cut
/// shorter.
fn longest(mine: &mut Option<String>, theirs: Option<&str>) {
    if let Some(theirs) = theirs
        && mine.as_deref().is_none_or(|mine| (mine.len(), mine) < (theirs.len(), theirs))
    {
        *mine = Some(theirs.to_owned());
    }
}
