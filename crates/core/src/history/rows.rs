//! The rows that history consists of, and how two tellings of one row become one.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ids::RecordId;
use crate::session::usage::RequestKey;
use crate::time::{Millis, Timestamp};
use crate::transcript::record::{CompactBoundary, Usage};

pub use super::words::{BatchOrigin, BatchStatus, Outcome, PlanWord, Role};

/// Where rows go.
pub type Sink<'k> = &'k mut dyn FnMut(Item<'_>);

/// One thing to store. Rows other than texts are upserts: the stored row and this one are merged.
#[derive(Debug, Clone, PartialEq)]
pub enum Item<'a> {
    /// A folder in which it was worked, the first time that records tell of it, or once more; never one that is left out.
    Folder(&'a str),
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
    /// A stretch of the transcript between two compactions, in place of what was told under its number.
    Segment(Segment),
}

/// A stretch of a session's own transcript, from one compaction to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Segment {
    /// Its number in the file, from zero.
    pub number: u32,
    /// Where it begins in the file.
    pub offset: u64,
    /// Time of its first record that tells something.
    pub started_at: Option<Timestamp>,
    /// Time of its last one, when another segment follows.
    pub ended_at: Option<Timestamp>,
    /// The compaction before it.
    pub boundary: Option<CompactBoundary>,
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
