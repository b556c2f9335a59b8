//! Folds one message of an ACP agent into events.
//!
//! Source: the Agent Client Protocol, version 1, and the talk of Gemini CLI 0.61.0. An update that is not read here passes
//! silently.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use watchbill_core::ids::stable_hash;
use watchbill_core::time::Timestamp;
use watchbill_protocol::own::event::{OwnTokens, OwnWhat, PromptPlace};

use super::requests;
use super::state::{Call, State, WRITER};
use crate::fold::failure::failure;
use crate::fold::json::{list, number, owned, target, text, texts};
use crate::fold::requests::RequestContext;
use crate::fold::rpc::{Message, id_text};

/// The most calls of tools in a turn that are told.
const MAX_CALLS: usize = 10_000;

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
            Message::Notice { method: "session/update", params } => {
                self.update(params.get("update").unwrap_or(&Value::Null), events);
            }
            Message::Notice { .. } => {}
            Message::Call { id, method: "session/request_permission", params } => {
                self.begins(events);
                self.end_block(events);
                let session = self.session.as_deref().unwrap_or_default();
                let around =
                    RequestContext { session, mode: self.facts.mode.as_deref(), cwd: &self.cwd, at, line };
                // No update of the call comes before.
                let tool_call = params.get("toolCall").unwrap_or(&Value::Null);
                let (request, way) = requests::read(id, params, &around);
                self.tell(tool_call, events);
                events.extend(self.requests.opened(request, way));
            }
            Message::Call { id, method, .. } => self.calls.owe(WRITER.unknown(id, method)),
            Message::Result { id, result } => self.answered(&id_text(id), result, events),
            Message::Failure { id, error } => self.refused(&id_text(id), error, events),
        }
    }

    /// The agent has the prompt.
    fn begins(&mut self, events: &mut Vec<OwnWhat>) {
        if let Some(prompt) = &self.running {
            events.extend(self.prompts.reached(prompt, PromptPlace::Started));
        }
    }

    fn update(&mut self, update: &Value, events: &mut Vec<OwnWhat>) {
        match text(update, "sessionUpdate").unwrap_or_default() {
            "agent_message_chunk" => self.grew(update, false, events),
            "agent_thought_chunk" => self.grew(update, true, events),
            "tool_call" | "tool_call_update" => self.tool_call(update, events),
            "current_mode_update" => events.extend(self.facts.changed(None, owned(update, "currentModeId"))),
            "available_commands_update" => {
                let commands = list(update, "availableCommands").filter_map(|command| owned(command, "name"));
                let commands: Vec<_> = commands.collect();
                if commands != self.facts.commands {
                    self.facts.commands = commands;
                    if self.session.is_some() {
                        events.push(self.facts.init());
                    }
                }
            }
            "usage_update" => {
                if let Some(used) = number(update, "used") {
                    events.push(OwnWhat::Context { used, size: number(update, "size") });
                }
            }
            _ => {}
        }
    }

    /// Text outside a turn is replayed history, or a remark of the agent.
    fn grew(&mut self, update: &Value, thinking: bool, events: &mut Vec<OwnWhat>) {
        let content = update.get("content").unwrap_or(&Value::Null);
        let (Some(prompt), Some(delta)) = (self.running.clone(), text(content, "text")) else { return };
        self.begins(events);
        if self.block.1.is_some_and(|was| was != thinking) {
            self.end_block(events);
        }
        self.block.1 = Some(thinking);
        events.push(self.blocks.grew(&format!("{prompt}#{}", self.block.0), thinking, delta));
    }

    fn end_block(&mut self, events: &mut Vec<OwnWhat>) {
        if self.block.1.take().is_some() {
            self.block.0 += 1;
            events.extend(self.blocks.end());
        }
    }

    fn tool_call(&mut self, update: &Value, events: &mut Vec<OwnWhat>) {
        if self.running.is_none() {
            return;
        }
        self.begins(events);
        self.end_block(events);
        self.tell(update, events);
        let Some(id) = owned(update, "toolCallId") else { return };
        let failed = match text(update, "status") {
            Some("completed") => false,
            Some("failed") => true,
            _ => return,
        };
        if !is_first(&mut self.ended, &id) {
            return;
        }
        let parts = list(update, "content").filter_map(|part| part.get("content"));
        let parts: Vec<_> = parts
            .map(|content| text(content, "text").map_or_else(|| texts(content), str::to_owned))
            .collect();
        events.push(OwnWhat::ToolResult { id, text: parts.join("\n"), failed });
    }

    /// Tells of a call of a tool once.
    fn tell(&mut self, tool_call: &Value, events: &mut Vec<OwnWhat>) {
        let Some(id) = owned(tool_call, "toolCallId") else { return };
        if !is_first(&mut self.told, &id) {
            return;
        }
        let tool = text(tool_call, "kind").unwrap_or("tool").to_owned();
        let title = text(tool_call, "title").unwrap_or_default();
        let input = tool_call.get("rawInput").filter(|raw| raw.is_object()).cloned();
        let input = input.unwrap_or_else(|| json!({ "title": title }));
        let target = if title.is_empty() { target(&input) } else { target_of(title) };
        events.push(OwnWhat::ToolUse { id, tool, input, target, parent: None });
    }

    /// The agent answered a call of ours.
    fn answered(&mut self, id: &str, result: &Value, events: &mut Vec<OwnWhat>) {
        match self.calls.answered(id) {
            Some(Call::Initialize) => self.initialized(result),
            Some(Call::Session(known)) => self.opened(known, result, events),
            Some(Call::SetModel(model)) => events.extend(self.facts.changed(Some(model), None)),
            Some(Call::SetMode(mode)) => events.extend(self.facts.changed(None, Some(mode))),
            Some(Call::Prompt) => {
                let reason = match text(result, "stopReason") {
                    Some("cancelled") => "interrupted",
                    Some("max_turn_requests") => "max_turns",
                    _ => "completed",
                };
                self.ended(id, reason, tokens(result), events);
            }
            Some(Call::Other) | None => {}
        }
    }

    fn initialized(&mut self, result: &Value) {
        self.facts.version = result.get("agentInfo").and_then(|info| owned(info, "version"));
        let mut params = json!({ "cwd": self.cwd, "mcpServers": [] });
        let line = match self.resume.clone() {
            None => self.calls.call("session/new", &params),
            // An agent that cannot load a session says so itself. No new one is started in its place.
            Some(session) => {
                params["sessionId"] = session.into();
                self.calls.call("session/load", &params)
            }
        };
        self.calls.owe(line);
    }

    fn opened(&mut self, known: Option<String>, result: &Value, events: &mut Vec<OwnWhat>) {
        self.session = owned(result, "sessionId").or(known);
        self.facts.session = self.session.clone().unwrap_or_default();
        let none = Value::Null;
        let (modes, models) = (result.get("modes").unwrap_or(&none), result.get("models").unwrap_or(&none));
        self.facts.modes = list(modes, "availableModes").filter_map(|mode| owned(mode, "id")).collect();
        self.facts.models =
            list(models, "availableModels").filter_map(|model| owned(model, "modelId")).collect();
        self.facts.mode = owned(modes, "currentModeId");
        self.facts.model = owned(models, "currentModelId");
        events.push(self.facts.init());
        if let Some(mode) = self.wanted_mode.take().filter(|mode| self.facts.mode.as_ref() != Some(mode))
            && let Some(line) = self.session_call("session/set_mode", "modeId", &mode)
        {
            self.calls.owe(line);
        }
        if let Some(model) = self.wanted_model.take().filter(|model| self.facts.model.as_ref() != Some(model))
            && let Some(line) = self.session_call("session/set_model", "modelId", &model)
        {
            self.calls.owe(line);
        }
    }

    fn ended(&mut self, id: &str, reason: &str, tokens: Option<OwnTokens>, events: &mut Vec<OwnWhat>) {
        self.end_block(events);
        events.extend(self.prompts.reached(id, PromptPlace::Done));
        events.push(OwnWhat::TurnEnd { reason: reason.to_owned(), tokens, prompts: vec![id.to_owned()] });
        self.running = None;
        self.block = (0, None);
        self.told.clear();
        self.ended.clear();
    }

    fn refused(&mut self, id: &str, error: &Value, events: &mut Vec<OwnWhat>) {
        let said = text(error, "message").unwrap_or("no reason was given");
        // Source: the protocol's error code for a missing login.
        let (reason, cause) = match error.get("code").and_then(Value::as_i64) {
            Some(-32000) => ("login", "login"),
            Some(429) => ("limit", "limit"),
            _ => ("error", "api"),
        };
        match self.calls.answered(id) {
            Some(Call::Initialize | Call::Session(_)) => {
                let cause = if cause == "login" { cause } else { "start" };
                events.push(failure(cause, format!("The agent did not open the session: {said}")));
            }
            Some(Call::Prompt) => {
                events.push(failure(cause, said));
                self.ended(id, reason, None, events);
            }
            Some(Call::SetModel(_) | Call::SetMode(_)) => {
                events.push(failure("command", format!("The agent refused: {said}")));
            }
            Some(Call::Other) | None => {}
        }
    }
}

/// Whether a call is a new one. Beyond the limit none is.
fn is_first(calls: &mut BTreeSet<u64>, id: &str) -> bool {
    calls.len() < MAX_CALLS && calls.insert(stable_hash(id.as_bytes()))
}

fn target_of(title: &str) -> String {
    target(&json!({ "command": title }))
}

/// The tokens of a prompt, where the agent tells them. Source: `_meta.quota` of Gemini CLI 0.61.0.
fn tokens(result: &Value) -> Option<OwnTokens> {
    let count = result.get("_meta")?.get("quota")?.get("token_count")?;
    let (input, output) = (number(count, "input_tokens")?, number(count, "output_tokens")?);
    Some(OwnTokens { input, output, ..OwnTokens::default() })
}
