//! The fold of one file's records into rows: state enough to go on after a restart, and no more.
//!
//! It is driven beside the fold of the session, from the same pass over the file. That one knows which records were
//! applied already (`has_record`); only new ones come here. Texts are handed out at once. Of the rest the newest
//! telling is kept back until [`HistoryFold::settle`], so that a call whose result follows is one row and not two.

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

use super::rows::{Batch, Item, Request, Sink};
use super::settings::HistorySettings;
use crate::ids::SessionId;
use crate::time::Timestamp;
use crate::transcript::full::Full;
use crate::transcript::record::{Attachment, Body, Envelope, Record, System};

pub use open_calls::CALL_LIMIT;
use open_calls::Calls;
use part::Part;
use segments::Segments;
use turn::{Joins, Turn};

/// One file: a session's own transcript, or a subagent's.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct HistoryFold {
    pub(super) session: SessionId,
    /// The subagent whose file it is.
    pub(super) agent: Option<Arc<str>>,
    /// Lines that begin before here were applied.
    next: u64,
    /// The running maximum of the records' times.
    clock: Option<Timestamp>,
    pub(super) turn: Option<Turn>,
    /// `promptId` of the newest record that names one: in a subagent's file its caller's.
    prompt_id: Option<Arc<str>>,
    pub(super) joins: Joins,
    calls: Calls,
    /// Hashes of the newest title of each kind: they are re-appended up to a hundred times.
    titles: [u64; 4],
    /// The plan that the session works on.
    plan: Option<Arc<str>>,
    /// The working folder of the newest record that names one.
    folder: Option<Arc<str>>,
    /// Folders that were told since the last restart.
    #[serde(skip)]
    told_folders: Vec<Arc<str>>,
    left_out: bool,
    /// `left_out` goes by the rules of now, which may be others than before a restart.
    #[serde(skip)]
    is_judged: bool,
    /// Something was not told since the last time that was asked.
    #[serde(skip)]
    something_left_out: bool,
    /// The command that was typed last names what is left out, and so may what it prints.
    #[serde(skip)]
    command_left_out: bool,
    segments: Segments,
    /// The tokens of the newest request, which the next record may tell anew.
    #[serde(skip)]
    request: Option<Request>,
    /// What is new of the turn.
    #[serde(skip)]
    pub(super) news: Option<Batch>,
    #[serde(skip)]
    part: Part,
    #[serde(skip)]
    buffer: String,
}

/// So many of the folders that were told are remembered: who goes to and fro between more has some told again.
const FOLDERS: usize = 16;

/// What the handlers of one record share.
pub(super) struct Step<'s, 'k> {
    pub offset: u64,
    pub envelope: &'s Envelope<'s>,
    /// Its time, or the newest before it.
    pub at: Option<Timestamp>,
    /// The subagent that the record belongs to.
    pub agent: Option<Arc<str>>,
    pub copied: bool,
    pub settings: &'s HistorySettings,
    pub sink: Sink<'k>,
}

impl HistoryFold {
    /// A file of which nothing is known: the transcript of `session`, or of its subagent.
    pub fn new(session: SessionId, agent: Option<&str>) -> Self {
        Self {
            session,
            agent: agent.map(Arc::from),
            next: 0,
            clock: None,
            turn: None,
            prompt_id: None,
            joins: Joins::default(),
            calls: Calls::default(),
            titles: [0; 4],
            plan: None,
            folder: None,
            told_folders: Vec::new(),
            left_out: false,
            is_judged: false,
            something_left_out: false,
            command_left_out: false,
            segments: Segments::default(),
            request: None,
            news: None,
            part: Part::default(),
            buffer: String::new(),
        }
    }

    /// Takes in a record of the line that begins at `offset`. Lines before the newest one applied change nothing; of
    /// records that the session's fold knows already, the caller gives none.
    pub fn apply(
        &mut self,
        offset: u64,
        record: &Record<'_>,
        full: Full<'_, '_>,
        settings: &HistorySettings,
        sink: Sink<'_>,
    ) {
        if offset < self.next {
            return;
        }
        let envelope = &record.envelope;
        self.works_in(envelope, settings, sink);
        if !says_something(&record.body) {
            return;
        }
        self.clock = self.clock.max(envelope.at);
        let mut step = Step {
            offset,
            envelope,
            at: envelope.at.or(self.clock),
            agent: self.agent_of(envelope),
            copied: envelope.forked_from.is_some()
                || envelope.session_id.as_deref().is_some_and(|id| id != self.session.as_str()),
            settings,
            sink,
        };
        if self.repeats_its_parent() || self.is_left_out(settings) {
            // Of the first, everything but the tokens stands in the session's own file; of the second, the tokens are
            // all that the person has not asked to leave out.
            if let Body::Assistant(answer) = &record.body {
                self.note_request(answer, &mut step);
            }
            return;
        }
        if self.agent.is_none() && !envelope.sidechain {
            self.segments.see(offset, record, step.sink);
        }
        self.dispatch(&record.body, full, &mut step);
    }

    /// Gives out what was kept back. To be called when a stretch of lines is over: before rows are stored, and before
    /// the fold is.
    pub fn settle(&mut self, sink: Sink<'_>) {
        // All lines so far are behind us; of the last one no more objects can come.
        self.next = self.part.end().max(self.next);
        self.calls.settle(sink);
        self.settle_turn(sink);
        if let Some(request) = self.request.take() {
            sink(Item::Request(request));
        }
    }

    /// Whose records these are.
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// The subagent whose file it is.
    pub fn agent(&self) -> Option<&Arc<str>> {
        self.agent.as_ref()
    }

    /// Notes the folder of a record, and tells it unless it was told lately: what is excluded later goes by these.
    fn works_in(&mut self, envelope: &Envelope<'_>, settings: &HistorySettings, sink: Sink<'_>) {
        // Records without a folder belong to the one before.
        let Some(cwd) = envelope.cwd.as_deref().filter(|cwd| !cwd.is_empty()) else { return };
        if self.folder.as_deref() == Some(cwd) {
            return;
        }
        let told = self.told_folders.iter().find(|told| ***told == *cwd).cloned();
        let is_told = told.is_some();
        let folder = told.unwrap_or_else(|| Arc::from(cwd));
        (self.left_out, self.is_judged) = (settings.exclude.leaves_out(cwd), true);
        if !self.left_out && !is_told {
            sink(Item::Folder(cwd));
            if self.told_folders.len() == FOLDERS {
                self.told_folders.remove(0);
            }
            self.told_folders.push(Arc::clone(&folder));
        }
        self.folder = Some(folder);
    }

    /// The person wants nothing of this folder stored.
    fn is_left_out(&mut self, settings: &HistorySettings) -> bool {
        if settings.exclude.is_empty() {
            return false;
        }
        if !std::mem::replace(&mut self.is_judged, true) {
            self.left_out = self.folder.as_deref().is_some_and(|folder| settings.exclude.leaves_out(folder));
        }
        self.something_left_out |= self.left_out;
        self.left_out
    }

    /// Whether anything was left out, since the person excludes it, after this was asked last.
    pub fn take_left_out(&mut self) -> bool {
        std::mem::take(&mut self.something_left_out)
    }

    /// A compaction's worker and the maker of suggestions begin with a copy of nearly all their session's records.
    fn repeats_its_parent(&self) -> bool {
        self.agent
            .as_deref()
            .is_some_and(|id| id.starts_with("acompact") || id.starts_with("aprompt_suggestion"))
    }

    fn agent_of(&self, envelope: &Envelope<'_>) -> Option<Arc<str>> {
        match &self.agent {
            Some(agent) => Some(Arc::clone(agent)),
            // Clients of 1.0.x write subagents into the session's file and do not name them.
            None => envelope.sidechain.then(|| envelope.agent_id.as_deref().unwrap_or("sidechain").into()),
        }
    }

    fn dispatch(&mut self, body: &Body<'_>, full: Full<'_, '_>, step: &mut Step<'_, '_>) {
        match body {
            Body::Prompt(prompt) => self.prompt(prompt, full, step),
            Body::ToolResults(results) => self.results(results, full, step),
            Body::Assistant(answer) => self.answer(answer, full, step),
            Body::Interrupt { .. } => self.interrupted(step),
            Body::ApiError { text, .. } => self.failed(text, full, step),
            Body::CompactSummary => self.summary(full, step),
            Body::LocalCommand { .. } => self.command(full, step),
            Body::System(System::TurnDuration { .. }) => self.turn_over(step),
            Body::System(System::AwaySummary) => self.summary(full, step),
            Body::System(_) => self.command(full, step),
            Body::Attachment(Attachment::QueuedCommand { .. }) => self.queued(full, step),
            Body::Attachment(_) => self.plan_announced(full, step),
            Body::Title { kind, text } => self.title(*kind, text, step),
            _ => {}
        }
    }
}

/// Whether a record can give a row at all.
fn says_something(body: &Body<'_>) -> bool {
    match body {
        Body::System(system) => match system {
            System::TurnDuration { .. } | System::AwaySummary | System::CompactBoundary(_) => true,
            System::Other(subtype) => subtype == "local_command",
            _ => false,
        },
        Body::Prompt(_)
        | Body::ToolResults(_)
        | Body::Assistant(_)
        | Body::Interrupt { .. }
        | Body::ApiError { .. }
        | Body::CompactSummary
        | Body::LocalCommand { .. }
        | Body::Attachment(_)
        | Body::Title { .. } => true,
        _ => false,
    }
}
