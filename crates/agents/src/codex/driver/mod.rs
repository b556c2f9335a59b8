//! The driver of Codex: `codex app-server`, lines of JSON-RPC.

mod items;
mod messages;
pub(crate) mod mode;
mod requests;
mod state;

use serde_json::{Map, Value, json};
use watchbill_core::requests::decision::Decision;
use watchbill_core::time::Timestamp;
use watchbill_protocol::own::command::{OwnCommand, OwnImage, PromptWhen};
use watchbill_protocol::own::event::OwnWhat;
use watchbill_protocol::own::spec::OwnSpec;

use self::mode::Mode;
use self::state::{Call, State, WRITER};
use crate::driver::{Driver, LogLine, Refusal};
use crate::fold::calls::OWN;
use crate::fold::json::{list, owned, text};
use crate::fold::rpc::{self, Message, id_text};

/// The driver of one process of `codex app-server`.
#[derive(Debug)]
pub struct Codex {
    state: State,
}

impl Codex {
    /// The driver before the first line. `spec` is that of this process: after a resume it names the thread that goes on.
    pub fn new(spec: &OwnSpec) -> Self {
        Self { state: State::new(spec) }
    }
}

/// A prompt was written, with the model and the mode that go with it.
fn sent(state: &mut State, id: &str, params: &Value, events: &mut Vec<OwnWhat>) {
    // Each counts for all later turns as well.
    state.next_model = state.next_model.take().filter(|_| params.get("model").is_none());
    state.next_mode = state.next_mode.take().filter(|_| params.get("approvalPolicy").is_none());
    events.extend(state.facts.changed(owned(params, "model"), Mode::of_turn(params)));
    let images = list(params, "input").filter(|part| text(part, "type") == Some("image")).count();
    let words: Vec<_> = list(params, "input").filter_map(|part| text(part, "text")).collect();
    let images = u32::try_from(images).unwrap_or(u32::MAX);
    events.extend(state.prompts.sent(id, words.join("\n"), images));
}

/// A prompt as parts.
fn input(words: &str, images: &[OwnImage]) -> Vec<Value> {
    let url = |image: &OwnImage| format!("data:{};base64,{}", image.media, image.data);
    let mut parts: Vec<_> =
        images.iter().map(|image| json!({ "type": "image", "url": url(image) })).collect();
    if !words.is_empty() {
        parts.push(json!({ "type": "text", "text": words }));
    }
    parts
}

impl State {
    /// Folds a message that was written to the agent.
    fn written(&mut self, line: &str, message: Option<Message<'_>>, events: &mut Vec<OwnWhat>) {
        self.calls.paid(line);
        match message {
            Some(Message::Call { id, method, params }) => {
                let id = id_text(id);
                let is_prompt = matches!(method, "turn/start" | "turn/steer") && !id.starts_with(OWN);
                let call = match method {
                    _ if is_prompt => Call::Prompt,
                    "initialize" => Call::Initialize,
                    "thread/start" | "thread/resume" | "thread/fork" => Call::Thread,
                    "turn/interrupt" => Call::Interrupt,
                    _ => Call::Other,
                };
                self.calls.written(&id, call);
                if is_prompt {
                    sent(self, &id, params, events);
                }
            }
            Some(Message::Result { id, .. } | Message::Failure { id, .. }) => {
                if let Some(request) = self.requests.find(|way| &way.call == id) {
                    events.extend(self.requests.closed(&request, "answered"));
                }
            }
            Some(Message::Notice { .. }) | None => {}
        }
    }

    fn prompt(
        &self,
        id: &str,
        words: &str,
        images: &[OwnImage],
        when: PromptWhen,
    ) -> Result<String, Refusal> {
        self.prompts.check(id, words, images)?;
        let Some(thread) = &self.thread else {
            return Err(Refusal::Gone("Codex has not opened the session".to_owned()));
        };
        let mut params = Map::new();
        params.insert("threadId".to_owned(), thread.as_str().into());
        params.insert("input".to_owned(), input(words, images).into());
        params.insert("clientUserMessageId".to_owned(), id.into());
        if let (PromptWhen::Steer, Some(turn)) = (when, &self.turn) {
            params.insert("expectedTurnId".to_owned(), turn.as_str().into());
            return Ok(WRITER.call(id, "turn/steer", &Value::Object(params)));
        }
        if let Some(model) = &self.next_model {
            params.insert("model".to_owned(), model.as_str().into());
        }
        if let Some(mode) = &self.next_mode {
            mode.with_turn(&mut params);
        }
        Ok(WRITER.call(id, "turn/start", &Value::Object(params)))
    }

    fn interrupt(&mut self) -> Result<String, Refusal> {
        let (Some(thread), Some(turn)) = (&self.thread, &self.turn) else {
            return Err(Refusal::Gone("no turn runs".to_owned()));
        };
        let params = json!({ "threadId": thread, "turnId": turn });
        Ok(self.calls.call("turn/interrupt", &params))
    }

    /// The answer. Codex takes no reason with a denial: the reason goes into the running turn.
    fn answer(
        &mut self,
        request: &str,
        decision: &watchbill_protocol::request::RequestDecision,
    ) -> Result<Vec<String>, Refusal> {
        let (asked, decision) = self.requests.decided(request, decision)?;
        let way = &asked.way;
        let mut lines = vec![WRITER.result(&way.call, &requests::answer(&decision, &asked.request, way)?)];
        let stops = decision == Decision::DenyAndStop && !way.ends_the_turn();
        if stops && self.turn.is_some() {
            lines.push(self.interrupt()?);
        }
        if let (Decision::Deny(reason), Some(thread), Some(turn)) = (&decision, &self.thread, &self.turn)
            && !reason.trim().is_empty()
        {
            let params = json!({ "threadId": thread, "expectedTurnId": turn, "input": input(reason, &[]) });
            let line = self.calls.call("turn/steer", &params);
            lines.push(line);
        }
        Ok(lines)
    }
}

impl Driver for Codex {
    fn fold(&mut self, at: Timestamp, line: LogLine<'_>) -> Vec<OwnWhat> {
        rpc::fold(
            &mut self.state,
            line,
            "Codex",
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
            OwnCommand::Prompt { id, text, images, when } => Ok(vec![state.prompt(id, text, images, *when)?]),
            OwnCommand::Interrupt => Ok(vec![state.interrupt()?]),
            OwnCommand::Answer { request, decision } => state.answer(request, decision),
            OwnCommand::SetModel { model } => {
                state.next_model = Some(model.clone());
                Ok(Vec::new())
            }
            OwnCommand::SetMode { mode } => {
                state.next_mode = Some(Mode::parse(mode).map_err(Refusal::Unsupported)?);
                Ok(Vec::new())
            }
            _ => Err(Refusal::not_for_a_driver()),
        }
    }

    fn is_idle(&self) -> bool {
        self.state.is_ready && !self.state.is_running && !self.state.prompts.any_sent()
    }
}
