//! The driver of agents that speak the Agent Client Protocol: Gemini CLI, and others.

mod messages;
mod requests;
mod state;

use serde_json::{Value, json};
use watchbill_core::requests::decision::Decision;
use watchbill_core::time::Timestamp;
use watchbill_protocol::own::command::{OwnCommand, OwnImage};
use watchbill_protocol::own::event::OwnWhat;
use watchbill_protocol::own::spec::OwnSpec;
use watchbill_protocol::request::RequestDecision;

use self::state::{Call, State, WRITER};
use crate::driver::{Driver, LogLine, Refusal};
use crate::fold::json::{list, owned, text};
use crate::fold::rpc::{self, Message, id_text};

/// The driver of one process of an agent.
#[derive(Debug)]
pub struct Acp {
    state: State,
}

impl Acp {
    /// The driver before the first line. `spec` is that of this process: after a resume it names the session that goes on.
    pub fn new(spec: &OwnSpec) -> Self {
        Self { state: State::new(spec) }
    }
}

/// A prompt was written: a turn runs. The agent says only with its first update that it has the prompt.
fn sent(state: &mut State, id: &str, params: &Value, events: &mut Vec<OwnWhat>) {
    let images = list(params, "prompt").filter(|part| text(part, "type") == Some("image")).count();
    let words: Vec<_> = list(params, "prompt").filter_map(|part| text(part, "text")).collect();
    let images = u32::try_from(images).unwrap_or(u32::MAX);
    let Some(event) = state.prompts.sent(id, words.join("\n"), images) else { return };
    events.push(event);
    if state.running.is_none() {
        events.push(OwnWhat::TurnStart);
    }
    state.running = Some(id.to_owned());
}

impl State {
    /// Folds a message that was written to the agent.
    fn written(&mut self, line: &str, message: Option<Message<'_>>, events: &mut Vec<OwnWhat>) {
        self.calls.paid(line);
        match message {
            Some(Message::Call { id, method, params }) => {
                let id = id_text(id);
                let word = |name| owned(params, name).unwrap_or_default();
                let call = match method {
                    "initialize" => Call::Initialize,
                    "session/new" => Call::Session(None),
                    "session/load" => Call::Session(owned(params, "sessionId")),
                    "session/set_mode" => Call::SetMode(word("modeId")),
                    "session/set_model" => Call::SetModel(word("modelId")),
                    "session/prompt" => Call::Prompt,
                    _ => Call::Other,
                };
                if call == Call::Prompt {
                    sent(self, &id, params, events);
                }
                self.calls.written(&id, call);
            }
            Some(Message::Result { id, .. } | Message::Failure { id, .. }) => {
                if let Some(request) = self.requests.find(|way| &way.call == id) {
                    events.extend(self.requests.closed(&request, "answered"));
                }
            }
            Some(Message::Notice { .. }) | None => {}
        }
    }

    /// One prompt runs at a time: the first of two never gets its result (Gemini CLI 0.61.0).
    fn prompt(&self, id: &str, words: &str, images: &[OwnImage]) -> Result<String, Refusal> {
        self.prompts.check(id, words, images)?;
        if self.running.is_some() {
            return Err(Refusal::Unsupported("this agent takes no prompt while a turn runs".to_owned()));
        }
        let Some(session) = &self.session else {
            return Err(Refusal::Gone("the agent has not opened the session".to_owned()));
        };
        let image =
            |image: &OwnImage| json!({ "type": "image", "mimeType": image.media, "data": image.data });
        let mut parts: Vec<_> = images.iter().map(image).collect();
        if !words.is_empty() {
            parts.push(json!({ "type": "text", "text": words }));
        }
        Ok(WRITER.call(id, "session/prompt", &json!({ "sessionId": session, "prompt": parts })))
    }

    /// Open requests have to be answered too.
    fn cancel(&self) -> Result<Vec<String>, Refusal> {
        let (Some(session), Some(_)) = (&self.session, &self.running) else {
            return Err(Refusal::Gone("no turn runs".to_owned()));
        };
        let mut lines = vec![WRITER.notice("session/cancel", Some(&json!({ "sessionId": session })))];
        lines.extend(self.requests.ways().map(|way| WRITER.result(&way.call, &requests::cancelled())));
        Ok(lines)
    }

    /// The agent takes no reason with a denial.
    fn answer(&self, request: &str, decision: &RequestDecision) -> Result<Vec<String>, Refusal> {
        let (asked, decision) = self.requests.decided(request, decision)?;
        let way = &asked.way;
        if decision == Decision::DenyAndStop && self.running.is_some() {
            return self.cancel();
        }
        Ok(vec![WRITER.result(&way.call, &requests::answer(&decision, way)?)])
    }

    fn set(&mut self, method: &str, name: &str, value: &str) -> Result<Vec<String>, Refusal> {
        let line = self.session_call(method, name, value);
        line.map(|line| vec![line])
            .ok_or_else(|| Refusal::Gone("the agent has not opened the session".to_owned()))
    }
}

impl Driver for Acp {
    fn fold(&mut self, at: Timestamp, line: LogLine<'_>) -> Vec<OwnWhat> {
        rpc::fold(
            &mut self.state,
            line,
            "The agent",
            |state, text, message, events| state.fold_message(at, text, message, events),
            State::written,
        )
    }

    fn due(&mut self) -> Vec<String> {
        self.state.calls.take_due()
    }

    fn command(&mut self, command: &OwnCommand) -> Result<Vec<String>, Refusal> {
        let state = &mut self.state;
        match command {
            OwnCommand::Prompt { id, text, images, .. } => Ok(vec![state.prompt(id, text, images)?]),
            OwnCommand::Interrupt => state.cancel(),
            OwnCommand::Answer { request, decision } => state.answer(request, decision),
            OwnCommand::SetModel { model } => state.set("session/set_model", "modelId", model),
            OwnCommand::SetMode { mode } => state.set("session/set_mode", "modeId", mode),
            _ => Err(Refusal::not_for_a_driver()),
        }
    }

    fn is_idle(&self) -> bool {
        self.state.session.is_some() && self.state.running.is_none()
    }
}
