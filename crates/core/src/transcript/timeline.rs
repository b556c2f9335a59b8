//! Reads a transcript in full, on demand: the timeline that the user sees in an open session.
//!
//! Entries stand in file order; a tool's result joins its call. A record that a client wrote twice counts once.
//! Texts are owned and bounded, so a builder never holds a payload of many megabytes. Private text and excluded paths are left
//! out.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

mod leave_out;

use super::bounded_text::{Bounded, cut, ellipsis, result_text, span};
pub use super::entry::{Entry, Origin, Outcome, ToolCall, What};
use super::inherited::Inherited;
use super::json::Raw;
use super::payloads::{CommandPart, Content, Payloads};
use super::record::{
    Assistant, Attachment, Block, Body, CompactBoundary, CompactTrigger, Denial, Envelope, PromptOrigin,
    Record, System, ToolResult,
};
use crate::history::Exclude;
use crate::ids::RecordId;
use crate::own::split_context;
use crate::session::facts::first_line;
use crate::time::Timestamp;
use crate::tool::ToolKind;
pub use leave_out::EXCLUDED;
use leave_out::{LeaveOut, input_text, public};

/// Longest text of a prompt, an answer or a thought, in bytes.
pub const TEXT_LIMIT: usize = 256 * 1024;

/// Longest input or output of a tool, in bytes.
pub const PAYLOAD_LIMIT: usize = 16 * 1024;

/// How many bytes of a prompt hold what was said before a change of the agent.
fn told_before(content: &Content<'_>) -> usize {
    let first = match content {
        Content::Text(raw) => raw.word(),
        _ => content.blocks().find_map(|block| block.text.word()),
    };
    first.map_or(0, |text| split_context(text).0)
}

/// A tool's result, to be joined with its call.
#[derive(Debug)]
struct PendingResult {
    outcome: Outcome,
    /// The agent's reviewer refused the call.
    reviewed: bool,
    /// Only the text says so.
    by_text: bool,
    output: Bounded,
    at: Option<Timestamp>,
    offset: u64,
    agent: Option<Arc<str>>,
}

/// Builds a timeline from lines, in file order; more lines may follow at any time.
#[derive(Debug, Default)]
pub struct TimelineBuilder {
    entries: Vec<Entry>,
    seen: HashSet<RecordId>,
    inherited: Inherited,
    /// Where each call without a result stands in `entries`.
    open_calls: HashMap<String, usize>,
    /// Results whose call has not come yet: parallel calls are written in any order.
    early_results: HashMap<String, PendingResult>,
    /// A boundary came, and its summary has not come yet.
    awaiting_summary: bool,
    leave_out: LeaveOut,
}

impl TimelineBuilder {
    /// An empty timeline, which leaves out what these rules name.
    pub fn new(exclude: Exclude) -> Self {
        Self { leave_out: LeaveOut::new(exclude), ..Self::default() }
    }

    /// Everything so far, in file order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// All entries, moved out.
    pub fn into_entries(self) -> Vec<Entry> {
        self.entries
    }

    /// Takes the next record, whose line begins at `offset` of its file.
    pub fn push(&mut self, offset: u64, record: &Record<'_>, full: &dyn Payloads<'_>) {
        if self.inherited.takes(record) {
            return;
        }
        let Record { envelope, body } = record;
        if self.leave_out.everything_from(envelope.cwd.as_deref()) {
            self.entries.clear();
            return;
        }
        if envelope.uuid.is_some_and(|uuid| !self.seen.insert(uuid)) {
            return;
        }
        let place = RecordPlace { offset, envelope };
        match body {
            Body::Prompt(p) => {
                let text = ellipsis(Cow::Owned(full.prompt(p, TEXT_LIMIT + 4)), TEXT_LIMIT);
                let origin = match p.origin {
                    PromptOrigin::Human => Origin::Human,
                    PromptOrigin::TaskNotification => Origin::TaskNotification,
                    PromptOrigin::Peer => Origin::Peer,
                };
                if place.agent_id().is_none() {
                    self.leave_out.begin_turn(p.origin, p.private);
                }
                self.add(&place, What::Prompt { text, origin });
                let told = told_before(full.content());
                if told > 0 {
                    self.note(&place, format!("told what was said before, {} kB", told.div_ceil(1000)));
                }
            }
            Body::ToolResults(results) => self.results(&place, full, results),
            Body::Interrupt => self.add(&place, What::Interrupted),
            Body::CompactSummary => {
                // Agents of 1.0.x wrote the summary without a boundary.
                let announced = std::mem::take(&mut self.awaiting_summary);
                if !announced {
                    self.add(&place, What::Boundary(UNKNOWN_BOUNDARY));
                }
            }
            Body::LocalCommand { .. } if !envelope.meta => {
                self.command(&place, full);
            }
            Body::Assistant(answer) => self.answer(&place, answer, full),
            Body::ApiError { .. } => {
                let text = ellipsis(full.words(TEXT_LIMIT + 4), TEXT_LIMIT);
                self.add(&place, What::Error(text));
            }
            Body::System(system) => self.system(&place, full, system),
            Body::Attachment(Attachment::QueuedCommand { private, .. }) => {
                self.queued(&place, full, *private)
            }
            _ => {}
        }
    }

    fn add(&mut self, place: &RecordPlace<'_>, what: What) {
        let has_text = !matches!(what, What::Tool(_) | What::Boundary(_) | What::Interrupted | What::Note(_));
        if self.leave_out.is_private() && has_text {
            return;
        }
        let Some(what) = public(what) else { return };
        self.entries.push(Entry {
            offset: place.offset,
            uuid: place.envelope.uuid,
            at: place.envelope.at,
            agent_id: place.agent_id(),
            what,
        });
    }

    fn note(&mut self, place: &RecordPlace<'_>, text: impl Into<String>) {
        let text = text.into();
        if !text.is_empty() {
            self.add(place, What::Note(text));
        }
    }

    fn answer(&mut self, place: &RecordPlace<'_>, answer: &Assistant<'_>, full: &dyn Payloads<'_>) {
        if let Content::Text(raw) = *full.content() {
            return self.response(place, raw);
        }
        for (block, parsed) in full.content().blocks().zip(&answer.blocks) {
            match block.kind.word() {
                Some("text") => self.response(place, block.text),
                Some("thinking") => {
                    let text = cut(block.thinking, TEXT_LIMIT);
                    // Most thoughts are empty, because the agent keeps only their signature.
                    if !text.trim().is_empty() {
                        self.add(place, What::Thinking(text));
                    }
                }
                Some("tool_use") => {
                    let Block::ToolUse { id, tool, target, .. } = parsed else { continue };
                    let left_out = self.leave_out.call(tool, block.input, full.process(block));
                    let (target, input) = match left_out {
                        Some(word) => (word, Bounded::default()),
                        None => (target.as_ref(), input_text(block.input, PAYLOAD_LIMIT)),
                    };
                    let mut call = ToolCall {
                        id: id.to_string(),
                        target: target.to_owned(),
                        tool: tool.to_string(),
                        input: input.text,
                        input_cut: input.cut,
                        left_out: left_out.is_some(),
                        outcome: Outcome::Pending,
                        refusal: None,
                        output: None,
                        output_cut: false,
                        duration: None,
                        result_offset: None,
                        agent: None,
                    };
                    match self.early_results.remove(&call.id) {
                        Some(result) => join(&mut call, place.envelope.at, result, &self.leave_out),
                        None => {
                            self.open_calls.insert(call.id.clone(), self.entries.len());
                        }
                    }
                    self.add(place, What::Tool(Box::new(call)));
                }
                _ => {}
            }
        }
    }

    fn response(&mut self, place: &RecordPlace<'_>, raw: Raw<'_>) {
        let text = cut(raw, TEXT_LIMIT);
        if !text.trim().is_empty() {
            self.add(place, What::Response(text));
        }
    }

    fn results(&mut self, place: &RecordPlace<'_>, full: &dyn Payloads<'_>, results: &[ToolResult<'_>]) {
        let blocks = full.content().blocks().filter(|b| b.kind.word() == Some("tool_result"));
        for (result, block) in results.iter().zip(blocks) {
            let outcome = if result.denied == Some(Denial::User) && full.was_stopped() {
                Outcome::Interrupted
            } else if result.denied.is_some() {
                Outcome::Denied
            } else if result.background_task.is_some() || result.async_agent.is_some() {
                Outcome::Background
            } else if result.is_error {
                Outcome::Error
            } else {
                Outcome::Ok
            };
            let finished = PendingResult {
                outcome,
                reviewed: matches!(result.denied, Some(Denial::Reviewer(_))),
                by_text: result.denied_by_text,
                output: result_text(block.content, PAYLOAD_LIMIT),
                at: place.envelope.at,
                offset: place.offset,
                agent: full.started_agent().map(Arc::from),
            };
            let call = self.open_calls.remove(result.id.as_ref()).and_then(|at| self.entries.get_mut(at));
            match call {
                Some(Entry { what: What::Tool(call), at: called, .. }) => {
                    if call.left_out {
                        self.leave_out.goes_on(full.process(block));
                    }
                    join(call, *called, finished, &self.leave_out);
                }
                _ => {
                    self.early_results.insert(result.id.clone().into_owned(), finished);
                }
            }
        }
    }

    fn command(&mut self, place: &RecordPlace<'_>, full: &dyn Payloads<'_>) {
        if self.leave_out.is_private() {
            return;
        }
        for part in full.commands(PAYLOAD_LIMIT) {
            match part {
                CommandPart::Command(typed) if !self.leave_out.typed(&typed) => {
                    self.add(place, What::Command(typed));
                }
                CommandPart::Output(output) if !self.leave_out.printed(&output) => self.note(place, output),
                CommandPart::Command(_) | CommandPart::Output(_) => {}
            }
        }
    }

    fn system(&mut self, place: &RecordPlace<'_>, full: &dyn Payloads<'_>, system: &System<'_>) {
        match system {
            System::CompactBoundary(boundary) => {
                self.awaiting_summary = true;
                self.add(place, What::Boundary(*boundary));
            }
            System::TurnDuration { pending_agents } => {
                let Some(ms) = full.duration_ms() else { return };
                let background = match pending_agents {
                    0 => String::new(),
                    1 => ", 1 agent goes on in the background".to_owned(),
                    n => format!(", {n} agents go on in the background"),
                };
                self.note(place, format!("The turn took {}{background}.", span(ms)));
            }
            System::StopHookSummary { prevented: true } => {
                self.note(place, "A stop hook asked the agent to go on.")
            }
            System::Retry { attempt, max, in_ms, status } => {
                let status = status.map_or(String::new(), |s| format!(" with status {s}"));
                let attempt = match (attempt, max) {
                    (Some(n), Some(max)) => format!(" (attempt {n} of {max})"),
                    (Some(n), None) => format!(" (attempt {n})"),
                    _ => String::new(),
                };
                let wait = in_ms.map_or(String::new(), |ms| format!(" in {}", span(ms)));
                self.note(place, format!("The request failed{status}; next try{wait}{attempt}."));
            }
            System::Other(subtype) if subtype == "local_command" => {
                self.command(place, full);
            }
            System::AwaySummary | System::Other(_)
                if !(place.envelope.meta || self.leave_out.is_private()) =>
            {
                let text = full.words(PAYLOAD_LIMIT);
                if *system == System::AwaySummary || !self.leave_out.printed(&text) {
                    self.note(place, text.trim());
                }
            }
            _ => {}
        }
    }

    fn queued(&mut self, place: &RecordPlace<'_>, full: &dyn Payloads<'_>, private: bool) {
        let (text, origin) = full.queued_prompt(TEXT_LIMIT + 4);
        let text = ellipsis(Cow::Owned(text), TEXT_LIMIT);
        self.leave_out.begin_turn(origin.unwrap_or(PromptOrigin::Human), private);
        let origin = match origin {
            Some(PromptOrigin::TaskNotification) => Origin::TaskNotification,
            Some(PromptOrigin::Peer) => Origin::Peer,
            Some(PromptOrigin::Human) | None => Origin::Queued,
        };
        self.add(place, What::Prompt { text, origin });
    }
}

const UNKNOWN_BOUNDARY: CompactBoundary =
    CompactBoundary { trigger: CompactTrigger::Unknown, pre_tokens: None, post_tokens: None };

/// Where an entry comes from.
struct RecordPlace<'e> {
    offset: u64,
    envelope: &'e Envelope<'e>,
}

impl RecordPlace<'_> {
    fn agent_id(&self) -> Option<Arc<str>> {
        match &self.envelope.agent_id {
            Some(id) => Some(Arc::from(id.as_ref())),
            None => self.envelope.sidechain.then(|| Arc::from("sidechain")),
        }
    }
}

fn join(call: &mut ToolCall, called: Option<Timestamp>, result: PendingResult, leave_out: &LeaveOut) {
    call.outcome = result.outcome;
    call.output = leave_out.output(call, &result.output.text);
    call.output_cut = call.output.is_some() && result.output.cut;
    // A text of others may say the same.
    let may_say_so = !(result.by_text && ToolKind::of(&call.tool).returns_foreign_text());
    call.refusal =
        (result.reviewed && may_say_so).then(|| reviewers_words(call.output.as_deref().unwrap_or_default()));
    call.duration = called.zip(result.at).map(|(called, ended)| ended.since(called));
    call.result_offset = Some(result.offset);
    call.agent = result.agent;
}

/// The reviewer's reason on one line: what follows "Reason:", else the first line.
fn reviewers_words(output: &str) -> String {
    first_line(output.split_once("Reason:").map_or(output, |(_, reason)| reason))
}
