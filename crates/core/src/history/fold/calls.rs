//! Tool calls: from the call to its result.

use std::sync::Arc;

use super::open_calls::Call;
use super::{HistoryFold, RecordContext};
use crate::history::hooks::input_json;
use crate::history::private::strip_private;
use crate::history::rows::{Activity, BatchId, CallOutcome, Item, Role};
use crate::session::facts::first_line;
use crate::session::id_set::text_hash;
use crate::time::Timestamp;
use crate::tool::ToolKind;
use crate::transcript::bounded_text::without_escapes;
use crate::transcript::payloads::{Payloads, RawBlock};
use crate::transcript::record::{Assistant, Block, Denial, ToolResult};

/// Bytes of a result that are searched for the first line of an error.
const ERROR_LOOK: usize = 512;

/// How many calls of private turns are known by their ids, because their results may come after the next prompt. Also how many
/// processes are known whose output is left out.
const KNOWN: usize = 64;

impl HistoryFold {
    /// The blocks of an answer.
    pub(super) fn blocks(
        &mut self,
        answer: &Assistant<'_>,
        full: &dyn Payloads<'_>,
        step: &mut RecordContext<'_, '_>,
    ) {
        let mut buffer = std::mem::take(&mut self.buffer);
        if let Some(piece) = full.content().string(step.settings.words, &mut buffer) {
            self.note_answer(piece, step);
            self.emit_text(Role::Answer, None, piece, step);
        }
        for (block, parsed) in full.content().blocks().zip(&answer.blocks) {
            match block.kind() {
                "text" => {
                    let piece = block.text(step.settings.words, &mut buffer);
                    self.note_answer(piece, step);
                    self.emit_text(Role::Answer, None, piece, step);
                }
                "thinking" if step.settings.cut > 0 => {
                    let piece = block.thinking(step.settings.cut, &mut buffer);
                    self.emit_text(Role::Thinking, None, piece, step);
                }
                "tool_use" => self.call(block, parsed, full, &mut buffer, step),
                _ => {}
            }
        }
        self.buffer = buffer;
    }

    fn call<'a>(
        &mut self,
        block: &RawBlock<'a>,
        parsed: &Block<'_>,
        full: &dyn Payloads<'a>,
        buffer: &mut String,
        step: &mut RecordContext<'_, '_>,
    ) {
        let (Some((id, tool)), Block::ToolUse { target, .. }) = (block.call(), parsed) else { return };
        let file = full.file(&tool, block);
        let exclude = &step.settings.exclude;
        let input = block.input_json(usize::MAX);
        let folder = exclude.folder_of_call(&tool, input, self.folder.as_deref()).map(Arc::from);
        let goes_on = full.process(block).is_some_and(|process| self.left_out_processes.contains(&process));
        let left_out = goes_on || exclude.call_names_excluded(&tool, input, self.folder.as_deref());
        self.something_left_out |= left_out;
        if step.settings.cut > 0 && !left_out {
            let piece = block.input_words(step.settings.cut, buffer);
            self.emit_text(Role::ToolInput, Some(tool.as_ref()), piece, step);
        }
        let tool: Arc<str> = Arc::from(tool);
        let batch = self.batch_of(step);
        let skipped = left_out || step.settings.skips_tool(&tool);
        let plan = if left_out {
            None
        } else {
            self.plan_in_call(&tool, file.as_deref(), block, batch.as_ref(), step)
        };
        let id: Arc<str> = Arc::from(id);
        let private = self.is_private();
        if private {
            keep_newest(&mut self.private_calls, text_hash(&id));
        }
        let pending = (!skipped).then(|| {
            let bare = Activity {
                batch: batch.clone(),
                agent: step.agent.clone(),
                tool: Some(Arc::clone(&tool)),
                at: step.at,
                offset: Some(step.offset),
                outcome: Some(CallOutcome::Pending),
                ..Activity::new(Arc::clone(&id))
            };
            if private {
                return Box::new(bare);
            }
            Box::new(Activity {
                target: public(target),
                file: file.as_deref().map(|file| strip_private(file).into_owned()),
                input: input_json(input, step.settings.input),
                ..bare
            })
        });
        if let Some(ended) = self.calls.take_early(&id) {
            if let Some(mut activity) = pending {
                activity.duration_ms = span_ms(step.at, ended);
                (step.sink)(Item::Activity(activity));
            }
            return;
        }
        let agent = step.agent.is_some();
        let call = Call { id, tool, batch, agent, at: step.at, skipped, left_out, folder, plan, pending };
        self.calls.push(call, step.sink);
    }

    /// The batch of a call that begins now. In a subagent's file it is the caller's batch, if the agent names it.
    fn batch_of(&self, step: &RecordContext<'_, '_>) -> Option<BatchId> {
        match (&self.agent, &self.turn) {
            (Some(_), _) => self.prompt_id.clone(),
            (None, Some(turn)) => Some(Arc::clone(&turn.id)),
            (None, None) => step.agent.as_ref().and(self.prompt_id.clone()),
        }
    }

    /// Results of calls.
    pub(super) fn results(
        &mut self,
        results: &[ToolResult<'_>],
        full: &dyn Payloads<'_>,
        step: &mut RecordContext<'_, '_>,
    ) {
        if let (Some(_), Some(id)) = (&self.agent, full.prompt_id())
            && self.prompt_id.as_deref() != Some(id)
        {
            self.prompt_id = Some(Arc::from(id));
        }
        if full.was_killed() {
            self.killed(step);
        }
        self.note_activity(false, step);
        let mut buffer = std::mem::take(&mut self.buffer);
        let blocks = full.content().blocks().filter(|block| block.kind() == "tool_result");
        for (result, block) in results.iter().zip(blocks) {
            self.result(result, block, full, &mut buffer, step);
        }
        self.buffer = buffer;
    }

    fn result(
        &mut self,
        result: &ToolResult<'_>,
        block: &RawBlock<'_>,
        full: &dyn Payloads<'_>,
        buffer: &mut String,
        step: &mut RecordContext<'_, '_>,
    ) {
        let mut call = self.calls.take(&result.id);
        if call.is_none() {
            self.calls.note_early(&result.id, step.at);
        }
        // A tool that returns text of others can return the words of a refusal.
        let is_foreign = call.as_ref().is_none_or(|call| ToolKind::of(&call.tool).returns_foreign_text());
        let is_refusal = result.denied.is_some() && !(result.denied_by_text && is_foreign);
        let outcome = if full.was_killed() { CallOutcome::Lost } else { outcome(result, is_refusal) };
        let failed = matches!(outcome, CallOutcome::Error | CallOutcome::Denied);
        let limit = if failed { step.settings.cut.max(ERROR_LOOK) } else { step.settings.cut };
        let (mut error, mut reason) = (None, None);
        let private = self.is_private() || self.private_calls.contains(&text_hash(&result.id));
        let hidden = private || call.as_ref().is_some_and(|call| call.left_out);
        if hidden && let Some(process) = full.process(block) {
            self.left_out_processes.retain(|known| *known != process);
            keep_newest(&mut self.left_out_processes, process);
        }
        if limit > 0 && !private {
            let piece = block.result(limit, buffer);
            let tool = call.as_ref().map(|call| &*call.tool);
            let folder = call.as_ref().and_then(|call| call.folder.as_deref()).or(self.folder.as_deref());
            let left_out = hidden || step.settings.exclude.output_names_excluded(tool, piece.text, folder);
            self.something_left_out |= left_out;
            error = (failed && !left_out).then(|| {
                let head = &piece.text[..piece.text.floor_char_boundary(ERROR_LOOK)];
                public(&first_line(&without_escapes(head)))
            });
            let is_users = is_refusal && result.denied == Some(Denial::User) && !left_out;
            reason = is_users.then(|| refusal_reason(piece.text).and_then(public)).flatten();
            if step.settings.cut > 0 && !left_out {
                self.emit_text(Role::ToolResult, call.as_ref().map(|call| &*call.tool), piece, step);
            }
        }
        if let Some(plan) = call.as_ref().and_then(|call| Some((Arc::clone(&call.tool), call.plan.clone()?)))
        {
            self.plan_in_result(&plan.0, plan.1, outcome, full, step);
        }
        if call.as_ref().is_some_and(|call| call.skipped) {
            return;
        }
        let called = call.as_ref().and_then(|call| call.at);
        let mut activity = match &mut call {
            Some(call) => call.take_change(),
            // A result without a call: the call is already stored, or its line is missing.
            None => Box::new(Activity { agent: step.agent.clone(), ..Activity::new(Arc::from(&*result.id)) }),
        };
        activity.outcome = Some(outcome);
        activity.ended_at = step.at;
        activity.duration_ms = span_ms(called, step.at);
        activity.result_offset = Some(step.offset);
        activity.error = error.flatten();
        activity.reason = reason;
        (step.sink)(Item::Activity(activity));
    }
}

/// Keeps the newest numbers.
fn keep_newest(known: &mut Vec<u64>, newest: u64) {
    if known.len() == KNOWN {
        known.remove(0);
    }
    known.push(newest);
}

fn span_ms(called: Option<Timestamp>, ended: Option<Timestamp>) -> Option<u64> {
    called.zip(ended).and_then(|(called, ended)| u64::try_from(ended.since(called).0).ok())
}

/// How the client tells the agent that the user refused a call, and what stands before the user's words (2.0.15 to 2.1.329).
const REFUSED: &str = "The user doesn't want to ";
const USER_SAID: &str = "the user said:";

/// What the user said when refusing a call, from the result that the client wrote.
fn refusal_reason(text: &str) -> Option<&str> {
    let at = text.starts_with(REFUSED).then(|| text.find(USER_SAID)).flatten()? + USER_SAID.len();
    let reason = text[at..].split("\n\nNote:").next()?.trim();
    (!reason.is_empty()).then_some(reason)
}

fn outcome(result: &ToolResult<'_>, is_refusal: bool) -> CallOutcome {
    if is_refusal {
        CallOutcome::Denied
    } else if result.background_task.is_some() || result.async_agent.is_some() {
        CallOutcome::Background
    } else if result.is_error {
        CallOutcome::Error
    } else {
        CallOutcome::Ok
    }
}

/// The text without private blocks; `None` if nothing is left.
fn public(text: &str) -> Option<String> {
    let text = strip_private(text);
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}
