//! Batches: a prompt and its turn.

use std::sync::Arc;

use super::texts::beyond;
use super::turn::{Turn, prompt_hash};
use super::{HistoryFold, RecordContext};
use crate::history::boilerplate::{without_quotes, without_reminders};
use crate::history::private::keep_public;
use crate::history::rows::{Batch, BatchId, BatchOrigin, BatchStatus, Ended, Item, Request, Role, RowSink};
use crate::ids::RecordId;
use crate::session::answer::{SYNTHETIC, ends_turn};
use crate::session::facts::first_line;
use crate::session::id_set::text_hash;
use crate::session::usage::RequestKey;
use crate::time::Timestamp;
use crate::transcript::payloads::{Payloads, Piece};
use crate::transcript::record::{Assistant, Prompt, PromptOrigin, TokenTotal};

impl HistoryFold {
    pub(super) fn prompt(
        &mut self,
        prompt: &Prompt<'_>,
        full: &dyn Payloads<'_>,
        step: &mut RecordContext<'_, '_>,
    ) {
        let limit = step.settings.words;
        let text = full.prompt(prompt, limit);
        let cut = beyond(limit, &text, || full.prompt(prompt, usize::MAX));
        let origin = match prompt.origin {
            PromptOrigin::Human if full.is_typed() && !self.by_program => BatchOrigin::Human,
            PromptOrigin::Human => BatchOrigin::Program,
            PromptOrigin::TaskNotification => BatchOrigin::TaskNotification,
            PromptOrigin::Peer => BatchOrigin::Peer,
        };
        self.begin_prompt(Piece { text: &text, cut }, origin, full, step);
    }

    /// A prompt that the agent took into the running turn.
    pub(super) fn queued(&mut self, full: &dyn Payloads<'_>, step: &mut RecordContext<'_, '_>) {
        let limit = step.settings.words;
        let (text, origin) = full.queued_prompt(limit);
        let cut = beyond(limit, &text, || full.queued_prompt(usize::MAX).0);
        let origin = match origin {
            Some(PromptOrigin::TaskNotification) => BatchOrigin::TaskNotification,
            Some(PromptOrigin::Peer) => BatchOrigin::Peer,
            Some(PromptOrigin::Human) | None if full.is_typed() => BatchOrigin::Queued,
            Some(PromptOrigin::Human) | None => BatchOrigin::Program,
        };
        self.begin_prompt(Piece { text: &text, cut }, origin, full, step);
    }

    fn begin_prompt(
        &mut self,
        Piece { text, cut }: Piece<'_>,
        origin: BatchOrigin,
        full: &dyn Payloads<'_>,
        step: &mut RecordContext<'_, '_>,
    ) {
        let role = match origin {
            BatchOrigin::Human | BatchOrigin::Queued | BatchOrigin::Program => Role::Prompt,
            BatchOrigin::TaskNotification | BatchOrigin::Peer => Role::Notice,
        };
        if let Some(id) = full.prompt_id() {
            self.prompt_id = Some(Arc::from(id));
        }
        let public = without_quotes(text);
        if step.agent.is_none() {
            let id = self.batch_id(text, full, step);
            self.begin(id, &public, origin, step);
            self.plan_carried_out(&public, full, step);
        }
        self.emit_text(role, None, Piece { text: &public, cut }, step);
    }

    /// The id of a new prompt.
    fn batch_id(&mut self, text: &str, full: &dyn Payloads<'_>, step: &mut RecordContext<'_, '_>) -> BatchId {
        let named: Option<BatchId> = full.prompt_id().map(Arc::from);
        let own = named.clone().unwrap_or_else(|| match step.envelope.uuid {
            Some(RecordId(id)) => Arc::from(format!("{id:032x}")),
            None => Arc::from(format!("byte {}", step.offset)),
        });
        let from = self.prompt_matches.match_record(prompt_hash(text), step.at, own);
        let Some(to) = named.filter(|to| *to != from) else { return from };
        // Hooks before 2.1.196 name no prompt. Records of subagents name this one.
        self.prompt_matches.rename(&from, &to);
        (step.sink)(Item::BatchNamed { from, to: Arc::clone(&to) });
        to
    }

    /// Whether the turn is private as a whole.
    pub(in crate::history) fn is_private(&self) -> bool {
        self.turn.as_ref().is_some_and(|turn| turn.private)
    }

    fn begin(&mut self, id: BatchId, text: &str, origin: BatchOrigin, step: &mut RecordContext<'_, '_>) {
        let is_of_others = matches!(origin, BatchOrigin::TaskNotification | BatchOrigin::Peer);
        let stays_private = is_of_others && self.is_private();
        self.unprompted = false;
        // A prompt may consist of several records.
        if self.turn.as_ref().is_none_or(|turn| turn.id != id) {
            self.close(step.sink);
            self.turn = Some(Turn { id, private: stays_private, over: false, last: step.at, message: None });
        }
        let (offset, record, at) = (step.offset, step.envelope.uuid, step.at);
        let Some(id) = self.turn.as_ref().map(|turn| Arc::clone(&turn.id)) else { return };
        let mut change = Batch::new(id);
        let text = without_reminders(text, false);
        let public = keep_public(&text).filter(|_| !stays_private);
        change.private = public.is_none();
        if let Some(turn) = &mut self.turn {
            turn.private |= change.private;
        }
        change.prompt = public.map(|text| text.trim().to_owned());
        change.origin = Some(origin);
        change.started_at = at;
        change.offset = Some(offset);
        change.record = record;
        change.last_activity_at = at;
        if let Some(changes) = self.turn_changes() {
            changes.merge(&change);
        }
    }

    /// Ends the turn because the next one begins; possibly no record reported its end.
    fn close(&mut self, sink: RowSink<'_>) {
        let lost = self.calls.lose_own(sink);
        let Some(turn) = &self.turn else { return };
        if let (false, Some(at)) = (turn.over, turn.last) {
            let status = if lost { BatchStatus::Interrupted } else { BatchStatus::Completed };
            self.end(status, Some(at), None);
        }
        self.settle_turn(sink);
    }

    /// The turn's changes that the sink lacks, to add to. `None` before the first prompt.
    fn turn_changes(&mut self) -> Option<&mut Batch> {
        let turn = self.turn.as_ref()?;
        Some(self.batch_changes.get_or_insert_with(|| Batch::new(Arc::clone(&turn.id))))
    }

    /// Gives the sink the turn's changes.
    pub(super) fn settle_turn(&mut self, sink: RowSink<'_>) {
        let Some(mut changes) = self.batch_changes.take() else { return };
        if let Some(Turn { over: false, last: Some(at), .. }) = self.turn {
            let goes_on = Ended { status: BatchStatus::Active, at, error: None };
            let change = Batch { ended: Some(goes_on), ..Batch::new(Arc::clone(&changes.id)) };
            changes.merge(&change);
        }
        sink(Item::Batch(Box::new(changes)));
    }

    fn end(&mut self, status: BatchStatus, at: Option<Timestamp>, error: Option<String>) {
        if self.unprompted {
            return;
        }
        let Some(turn) = &mut self.turn else { return };
        turn.over = true;
        let Some(at) = at.or(turn.last) else { return };
        turn.last = turn.last.max(Some(at));
        if let Some(changes) = self.turn_changes() {
            let change =
                Batch { ended: Some(Ended { status, at, error }), ..Batch::new(Arc::clone(&changes.id)) };
            changes.merge(&change);
        }
    }

    pub(super) fn interrupted(&mut self, step: &mut RecordContext<'_, '_>) {
        if step.agent.is_none() {
            self.end(BatchStatus::Interrupted, step.at, None);
        }
    }

    /// The agent was killed. The agent that resumed the session wrote the record of it, so the turn ends at its
    /// own last event.
    pub(super) fn killed(&mut self, step: &mut RecordContext<'_, '_>) {
        if let (None, Some(Turn { over: false, last, .. })) = (&step.agent, &self.turn) {
            self.end(BatchStatus::Interrupted, *last, None);
        }
    }

    pub(super) fn turn_over(&mut self, step: &mut RecordContext<'_, '_>) {
        if step.agent.is_none() {
            self.end(BatchStatus::Completed, step.at, None);
        }
    }

    pub(super) fn failed(&mut self, text: &str, full: &dyn Payloads<'_>, step: &mut RecordContext<'_, '_>) {
        if step.agent.is_none() {
            self.end(BatchStatus::Failed, step.at, Some(first_line(text)));
        }
        self.words(Role::Notice, full, step);
    }

    /// Notes an event in the turn. A result never reopens a turn: its call was still open when the turn ended.
    pub(super) fn note_activity(&mut self, reopens: bool, step: &RecordContext<'_, '_>) {
        if step.agent.is_some() {
            return;
        }
        let Some(turn) = &mut self.turn else { return };
        turn.last = turn.last.max(step.at);
        turn.over &= !reopens;
        let last = turn.last;
        if let Some(changes) = self.turn_changes() {
            changes.last_activity_at = changes.last_activity_at.max(last);
        }
    }

    pub(super) fn answer(
        &mut self,
        answer: &Assistant<'_>,
        full: &dyn Payloads<'_>,
        step: &mut RecordContext<'_, '_>,
    ) {
        if answer.model.as_deref() == Some(SYNTHETIC) {
            // The agent wrote this text itself.
            return;
        }
        self.note_request(answer, step);
        self.unprompted = false;
        // The record completes a transcript that has the prompt.
        if let (None, None, Some(id)) = (&self.turn, &step.agent, full.prompt_id()) {
            self.turn =
                Some(Turn { id: id.into(), private: false, over: false, last: step.at, message: None });
        }
        let message = answer.message_id.as_deref().map(text_hash);
        let late = answer.aborted
            || self
                .turn
                .as_ref()
                .is_some_and(|turn| turn.over && message.is_some() && turn.message == message);
        self.note_activity(!late, step);
        self.blocks(answer, full, step);
        if step.agent.is_none() && ends_turn(answer) {
            self.end(BatchStatus::Completed, step.at, None);
            if let Some(turn) = &mut self.turn {
                turn.message = message;
            }
        }
    }

    /// Notes a text of the agent; the newest one is the batch's response.
    pub(super) fn note_answer(&mut self, piece: Piece<'_>, step: &RecordContext<'_, '_>) {
        let text = without_reminders(piece.text, piece.cut > 0);
        if step.agent.is_some() || self.is_private() || text.trim_ascii_start().is_empty() {
            return;
        }
        let (Some(at), limit) = (step.at, step.settings.response) else { return };
        let Some(text) = keep_public(&text) else { return };
        let text = text.trim();
        let text = &text[..text.floor_char_boundary(limit)];
        if let Some(changes) = self.turn_changes() {
            match &mut changes.response {
                Some((newest, words)) if *newest <= at => {
                    *newest = at;
                    words.clear();
                    words.push_str(text);
                }
                Some(_) => {}
                none => *none = Some((at, text.to_owned())),
            }
        }
    }

    /// Notes the tokens that the newest request added to a running total.
    pub(super) fn note_tokens(&mut self, tokens: &TokenTotal, step: &mut RecordContext<'_, '_>) {
        let Some(usage) = self.inherited.request(tokens) else { return };
        (step.sink)(Item::Request(Request {
            key: RequestKey::of_total(&self.session, tokens),
            at: step.at,
            model: self.model.clone(),
            usage,
            agent: step.agent.clone(),
            copied: false,
        }));
    }

    pub(super) fn note_request(&mut self, answer: &Assistant<'_>, step: &mut RecordContext<'_, '_>) {
        let (Some(usage), Some(key)) = (answer.usage, RequestKey::of(answer, step.envelope.uuid)) else {
            return;
        };
        if let Some(known) = self.request.as_mut().filter(|known| known.key == key) {
            known.merge_usage(step.at, usage);
            // The client may go on with another model in the middle of an answer. The last line names it.
            known.model = answer.model.as_deref().map(Arc::from).or(known.model.take());
            return;
        }
        let request = Request {
            key,
            at: step.at,
            model: answer.model.as_deref().map(Arc::from),
            usage,
            agent: step.agent.clone(),
            copied: step.copied,
        };
        if let Some(done) = self.request.replace(request) {
            (step.sink)(Item::Request(done));
        }
    }
}
