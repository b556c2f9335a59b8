//! Folds one output line of Claude Code into events.
//!
//! Source: the `stream-json` output of client 2.1.329. A type or a field that is not read here passes silently.

use serde_json::{Value, json};
use watchbill_core::time::Timestamp;
use watchbill_protocol::own::event::{OwnWhat, PromptPlace};

use super::requests;
use super::state::{Call, State};
use super::{lines, result};
use crate::driver::Conversation;
use crate::fold::failure::failure;
use crate::fold::json::{list, number, owned, target, text, texts};
use crate::fold::requests::RequestContext;

/// The most subagents whose types are known.
const MAX_SUBAGENTS: usize = 256;

impl State {
    /// Folds one line that the agent wrote.
    pub(super) fn fold_message(
        &mut self,
        at: Timestamp,
        line: &str,
        value: &Value,
        events: &mut Vec<OwnWhat>,
    ) {
        match text(value, "type").unwrap_or_default() {
            "system" => self.system(value, events),
            "stream_event" => self.stream(value, events),
            "assistant" => self.assistant(value, events),
            "user" => self.user(value, events),
            "result" => self.result(value, events),
            "command_lifecycle" => self.lifecycle(value, events),
            "control_request" => self.asked(at, line, value, events),
            "control_response" => self.answered(value.get("response").unwrap_or(&Value::Null), events),
            "control_cancel_request" => {
                let id = text(value, "request_id").unwrap_or_default();
                events.extend(self.requests.closed(id, "withdrawn"));
            }
            _ => {}
        }
    }

    fn system(&mut self, value: &Value, events: &mut Vec<OwnWhat>) {
        match text(value, "subtype").unwrap_or_default() {
            "init" => self.init_line(value, events),
            "status" => {
                events.extend(self.facts.changed(None, owned(value, "permissionMode")));
                match text(value, "status") {
                    Some("requesting") => self.runs(events),
                    Some("compacting") => {
                        events.push(OwnWhat::Compaction { done: false, trigger: None, before: None });
                    }
                    _ => {}
                }
            }
            "compact_boundary" => {
                let about = value.get("compact_metadata").unwrap_or(&Value::Null);
                let (trigger, before) = (owned(about, "trigger"), number(about, "pre_tokens"));
                events.push(OwnWhat::Compaction { done: true, trigger, before });
            }
            "api_retry" => {
                events.extend(self.blocks.drop_all());
                let short = |name| number(value, name).and_then(|count| u32::try_from(count).ok());
                let word = text(value, "error").filter(|word| *word != "unknown");
                let cause = match (word, number(value, "error_status")) {
                    (Some(word), Some(status)) => format!("{word} ({status})"),
                    (Some(word), None) => word.to_owned(),
                    (None, Some(status)) => format!("status {status}"),
                    (None, None) => "the connection broke".to_owned(),
                };
                let attempt = short("attempt").unwrap_or(1);
                let wait_ms = number(value, "retry_delay_ms");
                events.push(OwnWhat::Retry { attempt, of: short("max_retries"), wait_ms, cause });
            }
            _ => {}
        }
    }

    /// `init` comes with every turn, and with every session after a `/clear`.
    fn init_line(&mut self, value: &Value, events: &mut Vec<OwnWhat>) {
        let before = self.facts.clone();
        if let Some(session) = owned(value, "session_id") {
            self.facts.session = session;
        }
        let facts = &mut self.facts;
        facts.model = owned(value, "model").or(facts.model.take());
        facts.mode = owned(value, "permissionMode").or(facts.mode.take());
        facts.version = owned(value, "claude_code_version").or(facts.version.take());
        let commands = list(value, "slash_commands").filter_map(Value::as_str);
        let commands: Vec<_> = commands.map(str::to_owned).collect();
        if !commands.is_empty() {
            facts.commands = commands;
        }
        if self.facts.session != before.session {
            events.push(OwnWhat::Moved { session: self.facts.session.clone() });
        }
        if self.facts != before {
            events.push(self.facts.init());
        }
        self.runs(events);
    }

    fn stream(&mut self, value: &Value, events: &mut Vec<OwnWhat>) {
        // The words of a subagent are no words of the session: its report is the result of its call.
        if text(value, "parent_tool_use_id").is_some() {
            return;
        }
        let event = value.get("event").unwrap_or(&Value::Null);
        match text(event, "type").unwrap_or_default() {
            "message_start" => {
                events.extend(self.blocks.drop_all());
                let id = event.get("message").and_then(|message| text(message, "id")).unwrap_or_default();
                self.message = super::state::Message { id: id.to_owned(), index: None, whole: 0 };
                self.runs(events);
            }
            "content_block_start" => self.message.index = number(event, "index"),
            "content_block_delta" => {
                let (index, delta) = (number(event, "index").unwrap_or(0), event.get("delta"));
                let delta = delta.unwrap_or(&Value::Null);
                self.message.index = Some(index);
                let (thinking, words) = match text(delta, "type") {
                    Some("text_delta") => (false, text(delta, "text")),
                    Some("thinking_delta") => (true, text(delta, "thinking")),
                    _ => return,
                };
                if let Some(words) = words {
                    let block = format!("{}#{index}", self.message.id);
                    events.push(self.blocks.grew(&block, thinking, words));
                }
            }
            _ => {}
        }
    }

    /// A line of an answer: one block, or several of a client that does not stream.
    fn assistant(&mut self, value: &Value, events: &mut Vec<OwnWhat>) {
        let parent = text(value, "parent_tool_use_id");
        if let Some(word) = text(value, "error") {
            // The text of the error comes again with the result.
            self.api_error = Some((word.to_owned(), owned(value, "uuid")));
            return;
        }
        let message = value.get("message").unwrap_or(&Value::Null);
        let id = text(message, "id").unwrap_or_default();
        if parent.is_none() && id != self.message.id {
            self.message = super::state::Message { id: id.to_owned(), index: None, whole: 0 };
        }
        for block in list(message, "content") {
            let words = match text(block, "type") {
                Some("tool_use") => {
                    self.tool_use(block, parent, events);
                    None
                }
                Some("text") => Some((false, text(block, "text"))),
                Some("thinking") => Some((true, text(block, "thinking"))),
                _ => None,
            };
            if parent.is_some() {
                continue;
            }
            let index = self.message.index.unwrap_or(self.message.whole);
            self.message.whole += 1;
            if let Some((thinking, words)) = words {
                let block = format!("{id}#{index}");
                let (words, record) = (words.unwrap_or_default(), text(value, "uuid"));
                events.extend(self.blocks.whole(&block, thinking, words, record));
            }
        }
    }

    fn tool_use(&mut self, block: &Value, parent: Option<&str>, events: &mut Vec<OwnWhat>) {
        let (Some(id), Some(tool)) = (owned(block, "id"), owned(block, "name")) else { return };
        let input = block.get("input").cloned().unwrap_or_default();
        let (target, parent) = (target(&input), parent.map(str::to_owned));
        events.push(OwnWhat::ToolUse { id, tool, input, target, parent });
    }

    fn user(&mut self, value: &Value, events: &mut Vec<OwnWhat>) {
        if let (Some(id), Some(kind)) = (text(value, "agent_id"), owned(value, "subagent_type"))
            && self.subagents.len() < MAX_SUBAGENTS
            && id.len() + kind.len() <= 256
        {
            self.subagents.insert(id.to_owned(), kind);
        }
        // A client without `command_lifecycle` says only so that it began a prompt.
        if value.get("isReplay").and_then(Value::as_bool) == Some(true) {
            self.reached(text(value, "uuid").unwrap_or_default(), PromptPlace::Started, events);
        }
        let content = value.get("message").unwrap_or(&Value::Null);
        for block in list(content, "content") {
            if text(block, "type") != Some("tool_result") {
                continue;
            }
            let Some(id) = owned(block, "tool_use_id") else { continue };
            let failed = block.get("is_error").and_then(Value::as_bool).unwrap_or(false);
            let text = texts(block.get("content").unwrap_or(&Value::Null));
            events.push(OwnWhat::ToolResult { id, text, failed });
        }
    }

    fn lifecycle(&mut self, value: &Value, events: &mut Vec<OwnWhat>) {
        let id = text(value, "command_uuid").unwrap_or_default();
        match text(value, "state") {
            Some("started") => {
                self.runs(events);
                self.reached(id, PromptPlace::Started, events);
            }
            Some("completed") => self.reached(id, PromptPlace::Done, events),
            Some("cancelled") => self.reached(id, PromptPlace::Dropped, events),
            _ => {}
        }
    }

    /// One result can answer several prompts: those that came while tools ran went into the same turn.
    fn result(&mut self, value: &Value, events: &mut Vec<OwnWhat>) {
        let mut errors = list(value, "errors").filter_map(Value::as_str);
        if !self.is_ready && errors.any(|error| error.starts_with("No conversation found")) {
            // The agent ends. There was no turn.
            self.start_refusal = Some(Conversation::Missing);
            events.extend(result::read(value, None).error);
            return;
        }
        let named = list(value, "user_message_uuids").filter_map(Value::as_str);
        let mut prompts: Vec<String> = named.filter(|id| self.prompts.knows(id)).map(str::to_owned).collect();
        for begun in self.prompts.at(PromptPlace::Started) {
            if !prompts.contains(&begun) {
                prompts.push(begun);
            }
        }
        for id in &prompts {
            self.reached(id, PromptPlace::Done, events);
        }
        let (api_error, in_record) = self.api_error.take().unzip();
        let mut ended = result::read(value, api_error.as_deref());
        if let Some(OwnWhat::Error { record, .. }) = &mut ended.error {
            *record = in_record.flatten();
        }
        events.extend(self.blocks.end());
        events.extend(ended.error);
        let tokens = result::tokens(value);
        events.push(OwnWhat::TurnEnd { reason: ended.reason.to_owned(), tokens, prompts });
        self.is_running = false;
        let usage = self.call(&json!({ "subtype": "get_context_usage", "detail": "summary" }));
        self.due.push(usage);
    }

    fn asked(&mut self, at: Timestamp, line: &str, value: &Value, events: &mut Vec<OwnWhat>) {
        let Some(id) = text(value, "request_id") else { return };
        let call = value.get("request").unwrap_or(&Value::Null);
        let (session, mode) = (self.facts.session.as_str(), self.facts.mode.as_deref());
        let around = RequestContext { session, mode, cwd: &self.cwd, at, line };
        match requests::read(id, call, &self.subagents, &around) {
            Some((request, way)) => events.extend(self.requests.opened(request, way)),
            None => self.due.push(lines::unknown_call(id, text(call, "subtype").unwrap_or_default())),
        }
    }

    /// The agent answered a call of ours.
    fn answered(&mut self, response: &Value, events: &mut Vec<OwnWhat>) {
        let Some(call) = text(response, "request_id").and_then(|id| self.calls.remove(id)) else { return };
        let body = response.get("response").unwrap_or(&Value::Null);
        if text(response, "subtype") == Some("error") {
            let said = text(response, "error").unwrap_or("no reason was given");
            match call {
                Call::Initialize => {
                    events.push(failure("start", format!("Claude Code did not start: {said}")))
                }
                Call::SetModel(_) | Call::SetMode(_) | Call::Interrupt | Call::TakeBack(_) => {
                    events.push(failure("command", format!("Claude Code refused: {said}")));
                }
                Call::ContextUsage | Call::Other => {}
            }
            return;
        }
        match call {
            Call::Initialize => self.initialized(body, events),
            Call::SetModel(wanted) => {
                let model = owned(body, "model").unwrap_or(wanted);
                events.extend(self.facts.changed(Some(model), None));
            }
            Call::SetMode(wanted) => {
                let mode = owned(body, "mode").unwrap_or(wanted);
                events.extend(self.facts.changed(None, Some(mode)));
            }
            Call::Interrupt => {
                for id in list(body, "cancelled").filter_map(Value::as_str) {
                    self.reached(id, PromptPlace::Dropped, events);
                }
            }
            Call::ContextUsage => {
                if let Some(used) = number(body, "totalTokens") {
                    events.push(OwnWhat::Context { used, size: number(body, "maxTokens") });
                }
            }
            Call::TakeBack(id) => {
                if body.get("cancelled").and_then(Value::as_bool) == Some(true) {
                    self.reached(&id, PromptPlace::Dropped, events);
                }
            }
            Call::Other => {}
        }
    }

    fn initialized(&mut self, body: &Value, events: &mut Vec<OwnWhat>) {
        let facts = &mut self.facts;
        facts.version = owned(body, "claude_code_version");
        facts.pid = number(body, "pid").and_then(|pid| u32::try_from(pid).ok());
        facts.mode = owned(body, "current_permission_mode").or(facts.mode.take());
        facts.models = list(body, "models").filter_map(|model| owned(model, "value")).collect();
        facts.commands = list(body, "commands").filter_map(|command| owned(command, "name")).collect();
        self.is_ready = true;
        events.push(self.facts.init());
    }
}
