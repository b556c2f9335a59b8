//! Folds one message of Codex into events.
//!
//! Source: the talk of `codex app-server` 0.169.0. A method or a field that is not read here passes silently.

use serde_json::Value;
use watchbill_core::time::Timestamp;
use watchbill_protocol::own::event::{OwnTokens, OwnWhat, PromptPlace};

use super::items;
use super::mode::Mode;
use super::requests;
use super::state::{Call, State, WRITER};
use crate::fold::failure::failure;
use crate::fold::json::{number, owned, text};
use crate::fold::requests::RequestContext;
use crate::fold::rpc::{Message, id_text};

/// The most items of a turn that are known at once.
const MAX_ITEMS: usize = 256;

/// The most bytes of them. A request about an item beyond cannot be shown.
const MAX_ITEM_BYTES: usize = 128 << 10;

impl State {
    /// Folds one message of the agent.
    pub(super) fn fold_message(
        &mut self,
        at: Timestamp,
        line: &str,
        message: Message<'_>,
        events: &mut Vec<OwnWhat>,
    ) {
        match message {
            Message::Notice { method, params } if self.is_ours(params) => self.notice(method, params, events),
            Message::Notice { .. } => {}
            Message::Call { id, method, params } => self.asked(at, line, (id, method, params), events),
            Message::Result { id, result } => self.answered(&id_text(id), result, events),
            Message::Failure { id, error } => self.refused(&id_text(id), error, events),
        }
    }

    /// Threads of subagents talk over the same pipe.
    fn is_ours(&self, params: &Value) -> bool {
        match (text(params, "threadId"), &self.thread) {
            (Some(told), Some(thread)) => told == thread,
            _ => true,
        }
    }

    fn notice(&mut self, method: &str, params: &Value, events: &mut Vec<OwnWhat>) {
        let turn = params.get("turn").unwrap_or(&Value::Null);
        match method {
            "turn/started" => self.runs(text(turn, "id"), events),
            "turn/completed" => self.completed(turn, events),
            "item/started" => {
                let item = params.get("item").unwrap_or(&Value::Null);
                events.extend(items::started(item));
                if let Some(id) = owned(item, "id").filter(|_| self.items.len() < MAX_ITEMS) {
                    // A request about a change of files does not say what changes. Other items are only known.
                    let kept = if item.get("changes").is_some() { item.clone() } else { Value::Null };
                    let size = |id: &str, kept: &Value| id.len() + kept.to_string().len();
                    let known: usize = self.items.iter().map(|(id, kept)| size(id, kept)).sum();
                    if known + size(&id, &kept) <= MAX_ITEM_BYTES {
                        self.items.insert(id, kept);
                    }
                }
            }
            "item/completed" => {
                let item = params.get("item").unwrap_or(&Value::Null);
                let was_told = text(item, "id").is_some_and(|id| self.items.remove(id).is_some());
                if !was_told {
                    events.extend(items::started(item));
                }
                items::completed(item, &mut self.blocks, events);
            }
            "item/agentMessage/delta" => self.grew(params, false, events),
            "item/reasoning/summaryTextDelta" | "item/reasoning/textDelta" => self.grew(params, true, events),
            "thread/tokenUsage/updated" => {
                self.usage(params.get("tokenUsage").unwrap_or(&Value::Null), events)
            }
            "serverRequest/resolved" => {
                let call = params.get("requestId").unwrap_or(&Value::Null);
                if let Some(id) = self.requests.find(|way| &way.call == call) {
                    events.extend(self.requests.closed(&id, "withdrawn"));
                }
            }
            "error" if params.get("willRetry").and_then(Value::as_bool) == Some(true) => {
                events.extend(self.blocks.drop_all());
                events.push(items::retry(params.get("error").unwrap_or(&Value::Null)));
            }
            _ => {}
        }
    }

    fn grew(&mut self, params: &Value, thinking: bool, events: &mut Vec<OwnWhat>) {
        if let (Some(item), Some(delta)) = (text(params, "itemId"), text(params, "delta")) {
            events.push(self.blocks.grew(item, thinking, delta));
        }
    }

    fn usage(&mut self, usage: &Value, events: &mut Vec<OwnWhat>) {
        let total = usage.get("total").unwrap_or(&Value::Null);
        let count = |name| number(total, name).unwrap_or(0);
        let cached = count("cachedInputTokens");
        self.total = OwnTokens {
            input: count("inputTokens").saturating_sub(cached),
            output: count("outputTokens"),
            cache_read: cached,
            cache_write: count("cacheWriteInputTokens"),
        };
        if let Some(used) = usage.get("last").and_then(|last| number(last, "totalTokens")) {
            events.push(OwnWhat::Context { used, size: number(usage, "modelContextWindow") });
        }
    }

    fn completed(&mut self, turn: &Value, events: &mut Vec<OwnWhat>) {
        let prompts = self.prompts.at(PromptPlace::Started);
        for id in &prompts {
            events.extend(self.prompts.reached(id, PromptPlace::Done));
        }
        events.extend(self.blocks.end());
        let reason = match text(turn, "status") {
            Some("interrupted") => "interrupted",
            Some("failed") => {
                let (reason, failure) = items::turn_failure(turn.get("error").unwrap_or(&Value::Null));
                events.push(failure);
                reason
            }
            _ => "completed",
        };
        let tokens = self.is_running.then(|| self.spent()).flatten();
        events.push(OwnWhat::TurnEnd { reason: reason.to_owned(), tokens, prompts });
        self.is_running = false;
        self.turn = None;
        self.items.clear();
    }

    fn asked(
        &mut self,
        at: Timestamp,
        line: &str,
        (id, method, params): (&Value, &str, &Value),
        events: &mut Vec<OwnWhat>,
    ) {
        let session = self.thread.as_deref().unwrap_or_default();
        let item = text(params, "itemId").and_then(|item| self.items.get(item));
        let around = RequestContext { session, mode: self.facts.mode.as_deref(), cwd: &self.cwd, at, line };
        match requests::read(id, method, params, item, &around) {
            Some((request, way)) => events.extend(self.requests.opened(request, way)),
            None => self.calls.owe(WRITER.unknown(id, method)),
        }
    }

    /// The agent answered a call of ours.
    fn answered(&mut self, id: &str, result: &Value, events: &mut Vec<OwnWhat>) {
        match self.calls.answered(id) {
            Some(Call::Initialize) => {
                let agent = text(result, "userAgent").and_then(|agent| agent.split_once('/'));
                self.facts.version = agent.and_then(|(_, rest)| Some(rest.split(' ').next()?.to_owned()));
                self.calls.owe(WRITER.notice("initialized", None));
                let open = self.open_thread();
                self.calls.owe(open);
            }
            Some(Call::Thread) => {
                self.thread = result.get("thread").and_then(|thread| owned(thread, "id"));
                let facts = &mut self.facts;
                facts.session = self.thread.clone().unwrap_or_default();
                facts.model = owned(result, "model").or(facts.model.take());
                facts.mode = Mode::told(result).or(facts.mode.take());
                self.is_ready = self.thread.is_some();
                events.push(self.facts.init());
            }
            Some(Call::Prompt) => {
                let turn = result.get("turn").and_then(|turn| text(turn, "id"));
                self.runs(turn.or(text(result, "turnId")), events);
                events.extend(self.prompts.reached(id, PromptPlace::Started));
            }
            Some(Call::Interrupt | Call::Other) | None => {}
        }
    }

    fn refused(&mut self, id: &str, error: &Value, events: &mut Vec<OwnWhat>) {
        let said = text(error, "message").unwrap_or("no reason was given");
        match self.calls.answered(id) {
            Some(Call::Thread) if said.contains("active writer") => events.push(failure(
                "start",
                format!("Codex refuses to open the session: another process writes it. End that one, or fork. ({said})"),
            )),
            Some(Call::Initialize | Call::Thread) => {
                events.push(failure("start", format!("Codex did not open the session: {said}")));
            }
            Some(Call::Prompt) => {
                events.extend(self.prompts.reached(id, PromptPlace::Dropped));
                events.push(failure("command", format!("Codex refused the prompt: {said}")));
            }
            Some(Call::Interrupt) => events.push(failure("command", format!("Codex refused: {said}"))),
            Some(Call::Other) | None => {}
        }
    }
}
