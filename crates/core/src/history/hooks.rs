//! Rows from hook events. They come earlier than the transcript's rows, and hold facts that the transcript lacks.

use std::borrow::Cow;
use std::sync::Arc;

use super::boilerplate::{without_quotes, without_reminders};
use super::fold::HistoryFold;
use super::fold::plans::{PLAN_LIMIT, content_after_write, execution_of, plan_text, shows_plan};
use super::fold::turn::prompt_hash;
use super::private::{keep_public, rest_closes_block, strip_private};
use super::rows::{
    Activity, Batch, BatchId, BatchOrigin, BatchStatus, CallOutcome, Ended, Execution, Item, PlanEvent,
    PlanEventKind, RowSink,
};
use super::settings::HistorySettings;
use crate::hook::{HookEvent, HookOrigin, HookPayload, HookTexts, HookToolCall};
use crate::session::facts::first_line;
use crate::time::Timestamp;
use crate::tool::ToolKind;
use crate::transcript::json::Raw;
use crate::transcript::record::PromptOrigin;

/// A hook event with its origin, payload and texts.
#[derive(Debug, Clone, Copy)]
pub struct HookEventParts<'h> {
    /// The sender and the time.
    pub origin: &'h HookOrigin,
    /// The parsed payload.
    pub payload: &'h HookPayload,
    /// Its long texts.
    pub texts: &'h HookTexts<'h>,
}

impl HistoryFold {
    /// Applies a hook event of the session. Events may come in any order, before or after the records of the same
    /// facts. The same event again changes nothing. Call it only for the fold of a session's own transcript.
    pub fn apply_hook_event(
        &mut self,
        event: HookEventParts<'_>,
        settings: &HistorySettings,
        sink: RowSink<'_>,
    ) {
        let at = event.origin.at;
        let cwd = event.payload.cwd.as_deref();
        if cwd.is_some_and(|cwd| settings.exclude.excludes(cwd)) {
            return;
        }
        if let Some(call) = event.payload.event.call() {
            let input = event.texts.tool_input.unwrap_or_default();
            if settings.exclude.call_names_excluded(&call.tool, input, cwd) {
                return;
            }
        }
        match &event.payload.event {
            HookEvent::UserPromptSubmit { task_notification, .. } => {
                self.hook_prompt(event, *task_notification, settings, sink);
            }
            HookEvent::PreToolUse(call) => self.hook_call(event, call, CallOutcome::Pending, settings, sink),
            HookEvent::PostToolUse(call) => {
                self.hook_call(event, call, outcome(event.texts), settings, sink);
                self.hook_plan(event, call, settings, sink);
            }
            HookEvent::PostToolUseFailure { call, .. } => {
                self.hook_call(event, call, CallOutcome::Error, settings, sink);
            }
            HookEvent::PermissionDenied(call) => {
                self.hook_call(event, call, CallOutcome::Denied, settings, sink)
            }
            HookEvent::Stop { .. } => {
                let ended = Ended { status: BatchStatus::Completed, at, error: None };
                self.hook_end(event, ended, settings, sink);
            }
            HookEvent::StopFailure { message, error } => {
                let error = if message.is_empty() { error } else { message };
                let ended = Ended { status: BatchStatus::Failed, at, error: Some(error.to_string()) };
                self.hook_end(event, ended, settings, sink);
            }
            _ => {}
        }
    }

    fn hook_prompt(
        &mut self,
        event: HookEventParts<'_>,
        notice: bool,
        settings: &HistorySettings,
        sink: RowSink<'_>,
    ) {
        let at = event.origin.at;
        let texts = event.texts;
        let Some(text) = texts.notice.as_deref().or(texts.prompt.as_deref()) else { return };
        let words = &text[..text.floor_char_boundary(settings.words)];
        let id = match &event.payload.prompt_id {
            Some(id) => Arc::clone(id),
            None => self.prompt_matches.match_hook(prompt_hash(words), at, &event.origin.id),
        };
        let words = without_quotes(words);
        let words = without_reminders(&words, false);
        // A notice may quote the turn that it goes on with.
        let of_others = notice || event.texts.prompt_origin == Some(PromptOrigin::Peer);
        let public = keep_public(&words).filter(|_| !(of_others && self.is_private()));
        let mut batch = Batch::new(Arc::clone(&id));
        batch.private = public.is_none();
        batch.prompt = public.map(|text| text.trim().to_owned());
        // The hook fires for a prompt that a program sent, too, and does not tell them apart. The record does.
        batch.origin = match event.texts.prompt_origin {
            Some(PromptOrigin::Peer) => Some(BatchOrigin::Peer),
            _ => notice.then_some(BatchOrigin::TaskNotification),
        };
        batch.started_at = Some(at);
        batch.last_activity_at = Some(at);
        batch.ended = Some(Ended { status: BatchStatus::Active, at, error: None });
        sink(Item::Batch(Box::new(batch)));
        if let Some(execution) = execution_of(None, &words, id, Some(at), settings) {
            sink(Item::Execution(execution));
        }
    }

    /// The batch of an event. Hooks of agents before 2.1.196 do not name it; then it is the newest one.
    fn hook_batch(&self, event: HookEventParts<'_>) -> Option<BatchId> {
        let newest = || {
            self.prompt_matches.newest(event.origin.at).or_else(|| Some(Arc::clone(&self.turn.as_ref()?.id)))
        };
        event.payload.prompt_id.clone().or_else(newest)
    }

    fn hook_end(
        &mut self,
        event: HookEventParts<'_>,
        ended: Ended,
        settings: &HistorySettings,
        sink: RowSink<'_>,
    ) {
        // The end of a subagent's turn does not end the session's turn.
        let (None, Some(id)) = (&event.payload.agent_id, self.hook_batch(event)) else { return };
        let at = event.origin.at;
        let mut batch = Batch::new(id);
        batch.last_activity_at = Some(at);
        if ended.status == BatchStatus::Completed {
            let text = event.texts.last_assistant_message.as_deref();
            let text = text.map(|text| without_reminders(text, false));
            batch.response = text
                .as_deref()
                .and_then(keep_public)
                .map(|text| text.trim().to_owned())
                .filter(|text| !text.is_empty())
                .map(|text| (at, text[..text.floor_char_boundary(settings.response)].to_owned()));
        }
        batch.ended = Some(ended);
        sink(Item::Batch(Box::new(batch)));
    }

    fn hook_call(
        &mut self,
        event: HookEventParts<'_>,
        call: &HookToolCall,
        outcome: CallOutcome,
        settings: &HistorySettings,
        sink: RowSink<'_>,
    ) {
        let Some(id) = call.id.clone().filter(|_| !settings.skips_tool(&call.tool)) else { return };
        let at = event.origin.at;
        let input = event.texts.tool_input.map(Raw::Nested).unwrap_or_default();
        let cwd = event.payload.cwd.as_deref();
        let is_storable = |text: &&str| !settings.exclude.output_names_excluded(Some(&call.tool), text, cwd);
        let ended = outcome != CallOutcome::Pending;
        let text = |text: &str| Some(strip_private(text).into_owned()).filter(|text| !text.is_empty());
        sink(Item::Activity(Box::new(Activity {
            // If the hook names no batch, the transcript will. A guess could not be undone.
            batch: event.payload.prompt_id.clone(),
            agent: event.payload.agent_id.clone(),
            tool: Some(Arc::clone(&call.tool)),
            target: text(&call.target),
            file: ["file_path", "notebook_path"]
                .iter()
                .filter(|_| ToolKind::of(&call.tool).is_of_file())
                .find_map(|key| input.get(key).whole())
                .and_then(|file| text(&file)),
            input: event.texts.tool_input.and_then(|json| input_json(json, settings.input)),
            // A hook after the call reports the call's duration, not its start.
            at: if ended { began(at, event.texts.duration_ms) } else { Some(at) },
            outcome: Some(outcome),
            ended_at: ended.then_some(at),
            duration_ms: event.texts.duration_ms.filter(|_| ended),
            error: event
                .texts
                .error
                .as_deref()
                .filter(|_| ended)
                .filter(is_storable)
                .and_then(|error| text(&first_line(error))),
            ..Activity::new(id)
        })));
    }

    fn hook_plan(
        &mut self,
        event: HookEventParts<'_>,
        call: &HookToolCall,
        settings: &HistorySettings,
        sink: RowSink<'_>,
    ) {
        let response = event.texts.tool_response.as_deref().map(Raw::Nested).unwrap_or_default();
        let field = |key: &str| response.get(key).text(PLAN_LIMIT).map(Cow::into_owned);
        // A plain result has no fields. The input names the file, and has the text before the user's edits.
        let input = event.texts.tool_input.map(Raw::Nested).unwrap_or_default();
        let given = |key: &str| input.get(key).text(PLAN_LIMIT).map(Cow::into_owned);
        let path = field("filePath").or_else(|| given("file_path")).or_else(|| given("planFilePath"));
        let cwd = event.payload.cwd.as_deref();
        if path.as_deref().is_some_and(|path| settings.exclude.excludes_in(cwd, path)) {
            return;
        }
        let path = path.filter(|path| settings.is_plan(path)).map(Arc::<str>::from);
        let batch = self.hook_batch(event);
        let (plan, content, given, word) = if shows_plan(&call.tool) {
            let plan = self.plan_name(batch.as_ref(), path.as_ref());
            (plan, field("plan"), given("plan"), PlanEventKind::Approved)
        } else if let (ToolKind::Write | ToolKind::Edit, Some(path)) = (ToolKind::of(&call.tool), &path) {
            let content = content_after_write(&field, response.get("replaceAll").is_true());
            (Arc::clone(path), content, given("content"), PlanEventKind::Written)
        } else {
            return;
        };
        let at = Some(event.origin.at);
        if let (PlanEventKind::Approved, Some(batch)) = (word, batch.clone()) {
            sink(Item::Execution(Execution { plan: Some(Arc::clone(&plan)), content: None, batch, at }));
        }
        let path = path.or_else(|| settings.is_plan(&plan).then(|| Arc::clone(&plan)));
        let [content, given] = [content, given].map(|text| text.as_deref().and_then(plan_text));
        sink(Item::Plan(Box::new(PlanEvent { plan, path, at, batch, content, given, word })));
    }
}

/// The outcome of a call that a hook reports as run.
fn outcome(texts: &HookTexts<'_>) -> CallOutcome {
    let response = texts.tool_response.as_deref().map(Raw::Nested).unwrap_or_default();
    let background = response.get("backgroundTaskId").is_there()
        || response.get("status").word() == Some("async_launched");
    if background { CallOutcome::Background } else { CallOutcome::Ok }
}

fn began(ended: Timestamp, duration_ms: Option<u64>) -> Option<Timestamp> {
    let span = i64::try_from(duration_ms?).ok()?;
    Some(ended - crate::time::Millis(span))
}

/// A call's input as JSON text, cut, without private blocks. No client writes `<` as an escape. If one does,
/// private blocks cannot be found and nothing is kept.
pub(super) fn input_json(raw: &str, limit: usize) -> Option<String> {
    let (raw, rest) = raw.split_at(raw.floor_char_boundary(limit));
    if rest_closes_block(raw, rest) {
        return None;
    }
    let hidden = ["\\u003c", "\\u003C"].iter().any(|escape| raw.contains(escape));
    let text = if hidden { Cow::Borrowed("") } else { strip_private(raw) };
    (!text.is_empty()).then(|| text.into_owned())
}
