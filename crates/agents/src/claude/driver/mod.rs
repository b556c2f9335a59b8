//! The driver of Claude Code: `stream-json` in both directions.

mod lines;
mod messages;
mod requests;
mod result;
mod state;

use serde_json::{Value, json};
use watchbill_core::time::Timestamp;
use watchbill_protocol::own::command::OwnCommand;
use watchbill_protocol::own::event::{OwnWhat, PromptPlace};
use watchbill_protocol::own::spec::OwnSpec;

use self::state::{Call, State};
use crate::driver::{Conversation, Driver, LogLine, Refusal};
use crate::fold::json::{list, text, texts};
use crate::fold::line::{self, Line};

/// The driver of one process of Claude Code.
#[derive(Debug)]
pub struct Claude {
    state: State,
}

impl Claude {
    /// The driver before the first line. `spec` is that of this process: after a resume it names the session that goes on.
    pub fn new(spec: &OwnSpec) -> Self {
        Self { state: State::new(spec) }
    }

    /// Folds a line that was written to the agent.
    fn written(&mut self, value: &Value, events: &mut Vec<OwnWhat>) {
        let state = &mut self.state;
        match text(value, "type").unwrap_or_default() {
            "user" => {
                let Some(id) = text(value, "uuid") else { return };
                let message = value.get("message").unwrap_or(&Value::Null);
                let is_image = |block: &&Value| text(block, "type") == Some("image");
                let images = list(message, "content").filter(is_image).count();
                let words = texts(message.get("content").unwrap_or(&Value::Null));
                events.extend(state.prompts.sent(id, words, u32::try_from(images).unwrap_or(u32::MAX)));
            }
            "control_request" => {
                let Some(id) = text(value, "request_id") else { return };
                state.called(id, call(value.get("request").unwrap_or(&Value::Null)));
            }
            "control_response" => {
                let response = value.get("response").unwrap_or(&Value::Null);
                let id = text(response, "request_id").unwrap_or_default();
                events.extend(state.requests.closed(id, "answered"));
            }
            _ => {}
        }
    }
}

/// Which call it is.
fn call(request: &Value) -> Call {
    let word = |name| text(request, name).unwrap_or_default().to_owned();
    match text(request, "subtype").unwrap_or_default() {
        "initialize" => Call::Initialize,
        "interrupt" => Call::Interrupt,
        "set_model" => Call::SetModel(word("model")),
        "set_permission_mode" => Call::SetMode(word("mode")),
        "get_context_usage" => Call::ContextUsage,
        "cancel_async_message" => Call::TakeBack(word("message_uuid")),
        _ => Call::Other,
    }
}

impl Driver for Claude {
    fn fold(&mut self, at: Timestamp, line: LogLine<'_>) -> Vec<OwnWhat> {
        let mut events = Vec::new();
        // Source: standard error of client 2.1.329, which then ends.
        if let LogLine::Err(text) = line
            && !self.state.is_ready
            && text.contains("Session ID ")
            && text.contains(" is already in use")
        {
            self.state.start_refusal = Some(Conversation::Exists);
        }
        match line::read(line, "Claude Code") {
            Line::Out(text, value) => self.state.fold_message(at, text, &value, &mut events),
            Line::In(text, value) => {
                // In a replay, due lines that were written already are not taken again.
                self.state.due.retain(|due| due != text);
                self.written(&value, &mut events);
            }
            Line::Broken(event) => events.push(event),
            Line::Silent => {}
        }
        events
    }

    fn due(&mut self) -> Vec<String> {
        std::mem::take(&mut self.state.due)
    }

    fn command(&mut self, command: &OwnCommand) -> Result<Vec<String>, Refusal> {
        let state = &mut self.state;
        let line = match command {
            OwnCommand::Prompt { id, text, images, .. } => {
                state.prompts.check(id, text, images)?;
                lines::prompt(id, text, images)
            }
            // What the agent itself queued goes too: it would run by itself after the interrupt.
            OwnCommand::Interrupt if state.is_running || state.prompts.any_sent() => {
                state.call(&json!({ "subtype": "interrupt", "cancel_queued": true }))
            }
            OwnCommand::Interrupt => return Err(Refusal::Gone("no turn runs".to_owned())),
            OwnCommand::Unqueue { id } if state.prompts.at(PromptPlace::Sent).contains(id) => {
                state.call(&json!({ "subtype": "cancel_async_message", "message_uuid": id }))
            }
            OwnCommand::Unqueue { .. } => {
                return Err(Refusal::Gone("the agent has no such prompt in its queue".to_owned()));
            }
            OwnCommand::Answer { request, decision } => {
                let (asked, decision) = state.requests.decided(request, decision)?;
                lines::answer(&asked.id, &requests::answer(&decision, &asked.request, &asked.way)?)
            }
            OwnCommand::SetModel { model } => state.call(&json!({ "subtype": "set_model", "model": model })),
            OwnCommand::SetMode { mode } => {
                state.call(&json!({ "subtype": "set_permission_mode", "mode": mode }))
            }
            _ => return Err(Refusal::not_for_a_driver()),
        };
        Ok(vec![line])
    }

    fn is_idle(&self) -> bool {
        self.state.is_ready && !self.state.is_running && !self.state.prompts.any_sent()
    }

    fn start_refusal(&self) -> Option<Conversation> {
        self.state.start_refusal
    }
}
