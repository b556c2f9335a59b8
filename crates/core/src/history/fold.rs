//! Folds the records of one file into rows. The fold keeps the state that a restart needs, and no more.
//!
//! It runs beside the session's fold, in the same pass over the file. The session's fold knows which records were
//! already applied (`has_record`); only new ones come here. Texts go to the sink at once. Other rows are held back
//! in their newest state until [`HistoryFold::settle`], so that a call and its result make one row, not two.

mod calls;
mod open_calls;
mod part;
pub(super) mod plans;
mod segments;
mod texts;
pub(super) mod turn;
mod turns;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::rows::{Batch, Item, Request, RowSink};
use super::settings::HistorySettings;
use crate::ids::SessionId;
use crate::session::subagent::copies_parent;
use crate::time::Timestamp;
use crate::transcript::inherited::Inherited;
use crate::transcript::payloads::Payloads;
use crate::transcript::record::{Attachment, Body, Envelope, Record, System};

pub use open_calls::CALL_LIMIT;
use open_calls::Calls;
use part::Part;
use segments::Segments;
pub use turn::MATCH_SPAN;
use turn::{PromptMatches, Turn};

/// The fold of one file: a session's own transcript, or a subagent's.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct HistoryFold {
    pub(super) session: SessionId,
    /// The subagent whose file it is.
    pub(super) agent: Option<Arc<str>>,
    /// Lines that begin before this offset were applied.
    next: u64,
    /// The running maximum of the records' times.
    clock: Option<Timestamp>,
    pub(super) turn: Option<Turn>,
    /// The agent began a turn without a prompt or an answer so far, as for a compaction. Its end is not that of the turn of the
    /// newest prompt.
    unprompted: bool,
    inherited: Inherited,
    /// A program writes the prompts.
    by_program: bool,
    /// Nothing is stored: the host of the session writes another transcript of it.
    by_host: bool,
    /// The model of the newest settings.
    model: Option<Arc<str>>,
    /// `promptId` of the newest record that has one. In a subagent's file it is the caller's.
    prompt_id: Option<Arc<str>>,
    pub(super) prompt_matches: PromptMatches,
    calls: Calls,
    /// Hashes of the ids of calls in private turns.
    private_calls: Vec<u64>,
    /// Processes that calls which are left out keep running. Later calls get their output.
    left_out_processes: Vec<u64>,
    /// Hashes of the newest title of each kind. The agent appends a title again, up to a hundred times.
    titles: [u64; 4],
    /// The plan that the session works on.
    plan: Option<Arc<str>>,
    /// The working folder of the newest record that names one.
    folder: Option<Arc<str>>,
    /// Folders that the sink got since the last restart.
    #[serde(skip)]
    emitted_folders: Vec<Arc<str>>,
    left_out: bool,
    /// `left_out` follows the current rules. After a restart they may be others than before.
    #[serde(skip)]
    is_judged: bool,
    /// Something was left out since the last [`HistoryFold::take_left_out`].
    #[serde(skip)]
    something_left_out: bool,
    /// The newest typed command names an excluded path, so its output may too.
    #[serde(skip)]
    command_left_out: bool,
    segments: Segments,
    /// The tokens of the newest request. The next record may report them again, with other numbers.
    #[serde(skip)]
    request: Option<Request>,
    /// Changes of the turn that the sink lacks.
    #[serde(skip)]
    pub(super) batch_changes: Option<Batch>,
    #[serde(skip)]
    part: Part,
    #[serde(skip)]
    buffer: String,
}

/// How many folders `emitted_folders` holds. A session that switches between more gives some to the sink again.
const FOLDERS: usize = 16;

/// Data that the handlers of one record share.
pub(super) struct RecordContext<'s, 'k> {
    pub offset: u64,
    pub envelope: &'s Envelope<'s>,
    /// The record's time; without one, the newest time before it.
    pub at: Option<Timestamp>,
    /// The subagent that the record belongs to.
    pub agent: Option<Arc<str>>,
    pub copied: bool,
    pub settings: &'s HistorySettings,
    pub sink: RowSink<'k>,
}

impl HistoryFold {
    /// The fold of an unread file: the transcript of `session`, or of its subagent.
    pub fn new(session: SessionId, agent: Option<&str>) -> Self {
        Self {
            session,
            agent: agent.map(Arc::from),
            next: 0,
            clock: None,
            turn: None,
            unprompted: false,
            inherited: Inherited::default(),
            by_program: false,
            by_host: false,
            model: None,
            prompt_id: None,
            prompt_matches: PromptMatches::default(),
            calls: Calls::default(),
            private_calls: Vec::new(),
            left_out_processes: Vec::new(),
            titles: [0; 4],
            plan: None,
            folder: None,
            emitted_folders: Vec::new(),
            left_out: false,
            is_judged: false,
            something_left_out: false,
            command_left_out: false,
            segments: Segments::default(),
            request: None,
            batch_changes: None,
            part: Part::default(),
            buffer: String::new(),
        }
    }

    /// Applies a record of the line that begins at `offset`. A line before the newest applied one changes nothing.
    /// The caller leaves out records that the session's fold already has.
    pub fn apply(
        &mut self,
        offset: u64,
        record: &Record<'_>,
        full: &dyn Payloads<'_>,
        settings: &HistorySettings,
        sink: RowSink<'_>,
    ) {
        if offset < self.next {
            return;
        }
        if self.inherited.takes(record) {
            return;
        }
        if let Body::Session(session) = &record.body {
            self.by_host = session.by_host;
        }
        if self.by_host {
            return;
        }
        let envelope = &record.envelope;
        self.note_folder(envelope, settings, sink);
        if !gives_rows(&record.body) {
            return;
        }
        self.clock = self.clock.max(envelope.at);
        let mut step = RecordContext {
            offset,
            envelope,
            at: envelope.at.or(self.clock),
            agent: self.agent_of(envelope),
            copied: envelope.forked_from.is_some()
                || envelope.session_id.as_deref().is_some_and(|id| id != self.session.as_str()),
            settings,
            sink,
        };
        if self.is_copy_of_session() || self.is_left_out(settings) {
            // Only the tokens are kept. In the first case the session's own file holds everything else. In the
            // second case the user excludes everything else.
            match &record.body {
                Body::Assistant(answer) => self.note_request(answer, &mut step),
                Body::Tokens(tokens) => self.note_tokens(tokens, &mut step),
                _ => {}
            }
            return;
        }
        if self.agent.is_none() && !envelope.sidechain {
            self.segments.apply(offset, record, step.sink);
        }
        self.dispatch(&record.body, full, &mut step);
    }

    /// Gives the sink all rows that were held back. Call it after a stretch of lines, before the rows and the fold
    /// are stored.
    pub fn settle(&mut self, sink: RowSink<'_>) {
        // All lines so far are complete: the last one gives no more objects.
        self.next = self.part.end().max(self.next);
        self.calls.settle(sink);
        self.settle_turn(sink);
        if let Some(request) = self.request.take() {
            sink(Item::Request(request));
        }
    }

    /// The working folder of the newest record that names one.
    pub fn folder(&self) -> Option<&str> {
        self.folder.as_deref()
    }

    /// A stored prompt of the transcript, at most [`MATCH_SPAN`] away from a hook event that names no prompt and comes next.
    /// The fold keeps only the newest prompts.
    pub fn recall_prompt(&mut self, prompt: &Batch) {
        self.prompt_matches.recall(prompt);
    }

    /// The session whose file it is, or whose subagent's.
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// The subagent whose file it is.
    pub fn agent(&self) -> Option<&Arc<str>> {
        self.agent.as_ref()
    }

    /// Notes the folder of a record, and gives it to the sink unless the sink got it lately. Later exclusions look
    /// for these folders.
    fn note_folder(&mut self, envelope: &Envelope<'_>, settings: &HistorySettings, sink: RowSink<'_>) {
        // A record without a folder belongs to the folder of the record before it.
        let Some(cwd) = envelope.cwd.as_deref().filter(|cwd| !cwd.is_empty()) else { return };
        if self.folder.as_deref() == Some(cwd) {
            return;
        }
        let emitted = self.emitted_folders.iter().find(|emitted| ***emitted == *cwd).cloned();
        let is_emitted = emitted.is_some();
        let folder = emitted.unwrap_or_else(|| Arc::from(cwd));
        (self.left_out, self.is_judged) = (settings.exclude.excludes(cwd), true);
        if !self.left_out && !is_emitted {
            sink(Item::Folder(cwd));
            if self.emitted_folders.len() == FOLDERS {
                self.emitted_folders.remove(0);
            }
            self.emitted_folders.push(Arc::clone(&folder));
        }
        self.folder = Some(folder);
    }

    /// Whether the user excludes the current folder.
    fn is_left_out(&mut self, settings: &HistorySettings) -> bool {
        if settings.exclude.is_empty() {
            return false;
        }
        if !std::mem::replace(&mut self.is_judged, true) {
            self.left_out = self.folder.as_deref().is_some_and(|folder| settings.exclude.excludes(folder));
        }
        self.something_left_out |= self.left_out;
        self.left_out
    }

    /// Whether an exclusion left anything out since the last call.
    pub fn take_left_out(&mut self) -> bool {
        std::mem::take(&mut self.something_left_out)
    }

    /// Whether the file begins with a copy of nearly all records of its session.
    fn is_copy_of_session(&self) -> bool {
        self.agent.as_deref().is_some_and(copies_parent)
    }

    fn agent_of(&self, envelope: &Envelope<'_>) -> Option<Arc<str>> {
        match &self.agent {
            Some(agent) => Some(Arc::clone(agent)),
            // Agents of 1.0.x write a subagent's records into the session's file and do not name the subagent.
            None => envelope.sidechain.then(|| envelope.agent_id.as_deref().unwrap_or("sidechain").into()),
        }
    }

    fn dispatch(&mut self, body: &Body<'_>, full: &dyn Payloads<'_>, step: &mut RecordContext<'_, '_>) {
        match body {
            Body::Prompt(prompt) => self.prompt(prompt, full, step),
            Body::ToolResults(results) => self.results(results, full, step),
            Body::Assistant(answer) => self.answer(answer, full, step),
            Body::Interrupt => self.interrupted(step),
            Body::ApiError { text, .. } => self.failed(text, full, step),
            Body::CompactSummary => self.summary(full, step),
            Body::LocalCommand { .. } => self.command(full, step),
            Body::System(System::TurnDuration { .. }) => self.turn_over(step),
            Body::System(System::AwaySummary) => self.summary(full, step),
            Body::System(_) => self.command(full, step),
            Body::Attachment(Attachment::QueuedCommand { .. }) => self.queued(full, step),
            Body::Attachment(Attachment::TurnEnd) => self.turn_over(step),
            Body::Attachment(_) => self.plan_announced(full, step),
            Body::Title { kind, text } => self.title(*kind, text, step),
            Body::Session(session) => self.by_program = session.by_program,
            Body::TurnStarted => self.unprompted = true,
            Body::Settings { model: Some(model), .. } => self.model = Some(Arc::from(&**model)),
            Body::Tokens(tokens) => self.note_tokens(tokens, step),
            _ => {}
        }
    }
}

/// Whether a record can give a row at all.
fn gives_rows(body: &Body<'_>) -> bool {
    match body {
        Body::System(system) => match system {
            System::TurnDuration { .. } | System::AwaySummary | System::CompactBoundary(_) => true,
            System::Other(subtype) => subtype == "local_command",
            _ => false,
        },
        Body::Prompt(_)
        | Body::ToolResults(_)
        | Body::Assistant(_)
        | Body::Interrupt
        | Body::ApiError { .. }
        | Body::CompactSummary
        | Body::LocalCommand { .. }
        | Body::Attachment(_)
        | Body::Title { .. }
        | Body::Session(_)
        | Body::TurnStarted
        | Body::Settings { .. }
        | Body::Tokens(_) => true,
        _ => false,
    }
}
