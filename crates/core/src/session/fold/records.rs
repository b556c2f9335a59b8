//! How each kind of record changes a session.

use std::sync::Arc;

use super::SessionFold;
use crate::history::boilerplate::{plan_in_prompt, without_quotes, without_reminders};
use crate::history::strip_private;
use crate::limits::Limit;
use crate::session::answer::{SYNTHETIC, ends_turn, is_usage_limit, with_reset_time};
use crate::session::effect::Effect;
use crate::session::facts::{first_line, keep, one_line};
use crate::session::id_set::text_hash;
use crate::session::machine::Event;
use crate::session::state::{State, StateKind};
use crate::session::turn::Retry;
use crate::session::usage::RequestKey;
use crate::time::{Millis, Timestamp};
use crate::tool::{Ask, Mode, ToolKind};
use crate::transcript::record::{
    Assistant, Attachment, Block, Body, CompactBoundary, CompactTrigger, Denial, Envelope, Prompt,
    PromptOrigin, Record, System, TEXT_LIMIT, ToolResult,
};

/// Longest announced wait for a retry that is believed.
const RETRY_LIMIT: u64 = 3_600_000;

impl SessionFold {
    /// Applies one record at its effective time. The deadlines up to then have fired.
    pub(super) fn fold(&mut self, record: &Record<'_>, now: Timestamp, out: &mut Vec<Effect>) {
        let envelope = &record.envelope;
        if envelope.at.is_some() && self.facts.created_at.is_none() {
            self.facts.created_at = Some(now);
        }
        if envelope.sidechain {
            self.fold_sidechain(record, now);
            return;
        }
        self.ancestry.observe(envelope, &record.body, Some(now));
        self.fold_envelope(envelope);
        let step = RecordContext { envelope, now, out };
        match &record.body {
            Body::Prompt(prompt) => self.fold_prompt(prompt, step),
            Body::ToolResults(results) => self.fold_results(results, step),
            Body::Interrupt => {
                self.turn.pending.clear();
                self.end(StateKind::Interrupted, step);
            }
            Body::Assistant(answer) => self.fold_answer(answer, step),
            Body::ApiError { kind, text, .. } => {
                let line = first_line(&with_reset_time(text));
                let limit = is_usage_limit(kind.as_deref(), text);
                self.turn.failure = (!line.is_empty()).then(|| line.into());
                self.turn.pending.clear();
                self.end(if limit { StateKind::Limit } else { StateKind::Error }, step);
            }
            Body::System(system) => self.fold_system(system, step),
            Body::Progress => {
                // It comes from a tool that runs. So no permission is pending now, even if silence suggested one.
                if self.in_turn() || !self.turn.pending.is_empty() {
                    self.turn.pending.heartbeat(now);
                    self.touch(&step);
                    self.machine.handle(Event::Moved, now, &self.turn, step.out);
                }
            }
            Body::Attachment(Attachment::SessionStart { source }) => self.fold_process_start(source, step),
            Body::Attachment(Attachment::TurnEnd) => {
                self.turn.pending.clear();
                self.end(StateKind::TurnEnded, step);
            }
            Body::Attachment(Attachment::QueuedCommand { text, private }) => {
                self.turn.private |= private;
                self.fold_notice(text, now);
                if self.in_turn() {
                    self.touch(&step);
                }
            }
            Body::Queue(operation) => self.fold_queue(operation, now),
            Body::Title { kind, text } => {
                let line = one_line(text);
                keep(self.facts.title_slot(*kind), Some(&line));
            }
            Body::PermissionMode(mode) => self.fold_mode(mode, step),
            Body::PullRequest { number, url } => {
                if self.facts.pull_request.as_ref().is_none_or(|(n, u)| n != number || **u != **url) {
                    self.facts.pull_request = Some((*number, Arc::from(&**url)));
                }
            }
            Body::TurnStarted => {
                self.turn.pending.clear();
                self.turn.failure = None;
                self.marks_turns = true;
                self.move_on(Event::Prompted, step);
            }
            Body::Compaction(runs) => self.fold_compaction(*runs, step),
            Body::Permission { id, tool, target, waits } => {
                if *waits {
                    self.turn.pending.call(id, tool, target, Ask::Permission, now);
                }
                // A dialog that Escape closed may be answered after the end of the turn. That begins no new one.
                if *waits || self.turn.pending.answer(id) {
                    self.move_on(Event::Moved, step);
                }
            }
            Body::Settings { model, mode } => {
                keep(&mut self.facts.model, model.as_deref());
                if let Some((word, mode)) = mode {
                    keep(&mut self.facts.permission_mode, Some(word));
                    self.turn.pending.mode = *mode;
                    self.machine.handle(Event::Reconsider, now, &self.turn, step.out);
                }
            }
            Body::Tokens(tokens) => {
                if let Some(usage) = self.inherited.request(tokens) {
                    self.ledger.note(RequestKey::of_total(&self.lineage().session, tokens), usage);
                }
                self.facts.context_used = tokens.context.or(self.facts.context_used);
                let limits: Vec<Limit> = tokens.limits.into_iter().flatten().collect();
                if !limits.is_empty() {
                    self.facts.limits = Some((limits, now));
                }
            }
            Body::Moved { branch, .. } => {
                keep(&mut self.facts.branch, branch.as_deref().map(strip_private).as_deref());
            }
            Body::CompactSummary
            | Body::LocalCommand { .. }
            | Body::Meta
            | Body::LastPrompt(_)
            | Body::LeftWorktree
            | Body::ContinuedIn(_)
            | Body::Session(_)
            | Body::Attachment(Attachment::Other)
            | Body::Irrelevant
            | Body::Unknown(_) => {}
        }
        self.count_background();
        // The silence so far may mean something else now: a record without a time may have begun a turn, or a mode
        // changed which tools may ask.
        self.machine.fire_until(now, &self.turn, out);
    }

    fn fold_envelope(&mut self, envelope: &Envelope<'_>) {
        keep(&mut self.facts.branch, envelope.branch.as_deref().map(strip_private).as_deref());
        keep(&mut self.facts.version, envelope.version.as_deref());
        keep(&mut self.facts.teammate, envelope.agent_name.as_deref().map(one_line).as_deref());
        keep(&mut self.facts.entrypoint, envelope.entrypoint.as_deref());
    }

    /// A subagent's record in the main file (1.0.x): its tokens count, and it shows that the turn is alive, but it
    /// never moves the parent's turn.
    fn fold_sidechain(&mut self, record: &Record<'_>, now: Timestamp) {
        if let Body::Assistant(answer) = &record.body {
            self.note_usage(answer, &record.envelope);
        }
        if record.envelope.at.is_some() && self.in_turn() {
            self.turn.last_activity = self.turn.last_activity.max(Some(now));
            self.facts.last_activity_at = self.turn.last_activity;
        }
    }

    fn fold_prompt(&mut self, prompt: &Prompt<'_>, step: RecordContext<'_, '_>) {
        match prompt.origin {
            PromptOrigin::Human => {
                // The agent sends no prompt before every call has its result, so calls that are still open are
                // orphaned.
                self.turn.pending.clear();
                self.facts.refusals.end_row();
                self.facts.work.begin(step.now);
                self.fold_goal(&prompt.text);
            }
            PromptOrigin::TaskNotification => {
                let known = prompt.task_id.as_deref().is_some_and(|id| self.end_background(id))
                    || self.fold_notice(&prompt.text, step.now);
                if !known {
                    // It may be a subagent that only the agent counted: one that was woken again.
                    self.turn.announced_agents = self.turn.announced_agents.saturating_sub(1);
                }
            }
            PromptOrigin::Peer => {}
        }
        if let Some(mode) = prompt.permission_mode.as_deref() {
            self.set_mode(mode);
        }
        self.turn.failure = None;
        self.turn.private = prompt.origin.privacy(prompt.private, self.turn.private);
        self.facts.prompt_at = self.facts.prompt_at.max(Some(step.now));
        self.move_on(Event::Prompted, step);
    }

    pub(super) fn fold_goal(&mut self, text: &str) {
        if self.facts.goal.is_none() {
            keep(&mut self.facts.goal, Some(&goal_of(text)));
        }
    }

    fn fold_results(&mut self, results: &[ToolResult<'_>], step: RecordContext<'_, '_>) {
        let mut ours = false;
        let copied = self.ancestry.is_copied(step.envelope);
        for result in results {
            self.facts.work.fold_result(result, self.turn.pending.get(&result.id));
            if !copied {
                self.facts.refusals.fold_result(result, self.turn.pending.get(&result.id), step.now);
            }
            ours |= self.turn.pending.answer(&result.id);
            if let Some(task) = result.background_task.as_deref() {
                self.tasks.start(task, step.now);
            }
            if let Some(agent) = result.async_agent.as_deref() {
                self.turn.agents.start(agent, step.now);
                self.facts.subagents_launched = self.facts.subagents_launched.saturating_add(1);
            }
        }
        // Results of parallel calls are written late, even after the end of the turn that orphaned them. Such a
        // result begins no new turn. Neither does the result of a call that the user refused.
        let refused = results.iter().any(|result| result.denied == Some(Denial::User));
        let over = self.machine.shown().state == State::WaitingForInput || self.is_closed();
        if ours || !(refused || over) {
            self.move_on(Event::Moved, step);
        } else {
            self.touch(&step);
        }
    }

    fn fold_answer(&mut self, answer: &Assistant<'_>, step: RecordContext<'_, '_>) {
        let is_synthetic = answer.model.as_deref() == Some(SYNTHETIC);
        if is_synthetic && !self.in_turn() {
            // The agent wrote this text itself, for example on a resume. No turn runs.
            return;
        }
        if !is_synthetic {
            keep(&mut self.facts.model, answer.model.as_deref());
            self.note_usage(answer, step.envelope);
            if let Some(usage) = answer.usage {
                let used = [usage.input, usage.cache_read, usage.cache_write, usage.output];
                self.facts.context_used = Some(used.into_iter().fold(0, u64::saturating_add));
            }
        }
        for block in &answer.blocks {
            match block {
                Block::ToolUse { id, tool, target, ask, is_test } => {
                    if *is_test {
                        self.facts.work.runs_tests(id);
                    }
                    if ToolKind::of(tool) == ToolKind::StopTask {
                        self.end_background(target);
                    }
                    self.turn.pending.call(id, tool, target, *ask, step.now);
                }
                Block::Text(text) if !(is_synthetic || self.turn.private) => {
                    let text = without_reminders(text, text.len() >= TEXT_LIMIT);
                    keep(&mut self.facts.summary, Some(&first_line(&text)));
                }
                Block::Text(_) | Block::Thinking | Block::Other => {}
            }
        }
        let message = answer.message_id.as_deref().map(text_hash);
        if ends_turn(answer) {
            self.turn.pending.clear();
            self.end(StateKind::TurnEnded, step);
            self.ended_message = message;
        } else if self.in_turn()
            || !(answer.aborted || self.is_closed() || (message.is_some() && message == self.ended_message))
        {
            self.move_on(Event::Moved, step);
        } else {
            // A late block of an answer that was cut off or is over.
            self.touch(&step);
        }
    }

    fn fold_system(&mut self, system: &System<'_>, step: RecordContext<'_, '_>) {
        match system {
            System::TurnDuration { pending_agents } => {
                self.turn.pending.clear();
                // Agents that count their subagents leave out a count of zero, as agents do that never count.
                // After the first count, no count means zero, even if a notice was missed.
                self.client_counts_agents |= *pending_agents > 0;
                if self.client_counts_agents && *pending_agents == 0 {
                    self.turn.agents.clear();
                }
                self.turn.announced_agents = *pending_agents;
                self.end(StateKind::TurnEnded, step);
            }
            System::CompactBoundary(boundary) => self.fold_boundary(boundary, step),
            System::Retry { attempt, max, in_ms, status } => {
                let wait = Millis(in_ms.unwrap_or(0).min(RETRY_LIMIT).cast_signed());
                let (attempt, max, status) = (*attempt, *max, *status);
                self.turn.retry = Some(Retry { attempt, max, status, due: step.now + wait });
                self.touch(&step);
                self.machine.handle(Event::Retried, step.now, &self.turn, step.out);
            }
            // A Stop hook's summary comes before the end of the turn, and also if the hook prevents the end. A
            // summary for a user who was away comes minutes after the end.
            System::StopHookSummary { .. } | System::AwaySummary | System::Other(_) => {}
        }
    }

    fn fold_boundary(&mut self, boundary: &CompactBoundary, step: RecordContext<'_, '_>) {
        if boundary.post_tokens.is_some() {
            self.facts.context_used = boundary.post_tokens;
        }
        match boundary.trigger {
            // `/compact` runs while no turn does, and no answer follows it.
            CompactTrigger::Manual => {
                self.turn.pending.clear();
                self.end(StateKind::TurnEnded, step);
            }
            // In the middle of a turn: it goes on.
            CompactTrigger::Auto | CompactTrigger::Unknown => self.touch(&step),
        }
    }

    fn fold_compaction(&mut self, runs: bool, step: RecordContext<'_, '_>) {
        if runs {
            // After a silence the turn may still run.
            self.turn.compacts_alone = !self.in_turn() && self.machine.before_silence().is_none();
            self.touch(&step);
            self.machine.handle(Event::Compacting, step.now, &self.turn, step.out);
        } else if self.turn.compacts_alone {
            self.end(StateKind::TurnEnded, step);
        } else if self.machine.shown().kind == Some(StateKind::Compacting) {
            self.move_on(Event::Moved, step);
        } else {
            self.touch(&step);
        }
    }

    fn fold_mode(&mut self, mode: &str, step: RecordContext<'_, '_>) {
        if self.set_mode(mode) {
            self.machine.handle(Event::Reconsider, step.now, &self.turn, step.out);
        }
    }

    fn set_mode(&mut self, mode: &str) -> bool {
        let changed = keep(&mut self.facts.permission_mode, Some(mode));
        if changed {
            self.turn.pending.mode = Mode::of(mode);
        }
        changed
    }

    fn note_usage(&mut self, answer: &Assistant<'_>, envelope: &Envelope<'_>) {
        if let (Some(usage), Some(key)) = (answer.usage, RequestKey::of(answer, envelope.uuid)) {
            self.ledger.note(key, usage);
        }
    }

    /// A turn begins or goes on.
    fn move_on(&mut self, event: Event, step: RecordContext<'_, '_>) {
        self.turn.retry = None;
        self.turn.compacts_alone = false;
        self.ended_message = None;
        self.touch(&step);
        self.machine.handle(event, step.now, &self.turn, step.out);
    }

    /// The turn is over.
    fn end(&mut self, kind: StateKind, step: RecordContext<'_, '_>) {
        self.turn.retry = None;
        self.turn.compacts_alone = false;
        self.touch(&step);
        self.machine.handle(Event::Ended(kind), step.now, &self.turn, step.out);
    }

    /// Notes activity. A record without a time is no activity.
    fn touch(&mut self, step: &RecordContext<'_, '_>) {
        if step.envelope.at.is_some() {
            self.turn.last_activity = self.turn.last_activity.max(Some(step.now));
            self.facts.last_activity_at = self.turn.last_activity;
            if !self.ancestry.is_copied(step.envelope) {
                self.ancestry.active(step.now);
            }
        }
    }

    fn in_turn(&self) -> bool {
        matches!(self.machine.shown().state, State::Working | State::WaitingForApproval)
    }

    /// The agent marks its turns, and marked the end of the last one. What comes now belongs to that turn.
    fn is_closed(&self) -> bool {
        self.marks_turns && !self.in_turn() && self.machine.before_silence().is_none()
    }
}

/// The user's words in a prompt, on one line: no text of the editor or the agent. For a plan that the agent gave
/// itself, its first line.
fn goal_of(text: &str) -> String {
    let cut = text.len() >= TEXT_LIMIT;
    let text = without_quotes(text);
    let text = without_reminders(&text, cut);
    plan_in_prompt(&text).map_or_else(|| one_line(&text), first_line)
}

/// The input of a handler besides the record's own content.
pub(super) struct RecordContext<'r, 'o> {
    pub envelope: &'r Envelope<'r>,
    pub now: Timestamp,
    pub out: &'o mut Vec<Effect>,
}
