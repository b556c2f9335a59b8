//! Turns the events of an own session into the core's facts and requests.

use std::sync::Arc;

use watchbill_core::ids::SessionId;
use watchbill_core::own::{OwnFact, OwnWay, PromptPlace as Place};
use watchbill_core::requests::request::{Request as CoreRequest, RequestId, Via};
use watchbill_core::session::state::StateKind;
use watchbill_core::time::Timestamp;
use watchbill_core::transcript::record::Usage;

use super::event::{NO_REACTION, OwnTokens, OwnWhat, PromptPlace};
use super::spec::{OwnKind, OwnSpec};
use crate::request::Request;

impl From<OwnKind> for OwnWay {
    fn from(kind: OwnKind) -> Self {
        match kind {
            OwnKind::Stream => Self::Stream,
            OwnKind::Pty => Self::Pty,
        }
    }
}

fn texts(text: Option<&String>) -> Option<Arc<str>> {
    text.filter(|text| !text.is_empty()).map(|text| Arc::from(text.as_str()))
}

impl From<PromptPlace> for Place {
    fn from(place: PromptPlace) -> Self {
        match place {
            PromptPlace::Queued => Self::Queued,
            PromptPlace::Sent | PromptPlace::Started => Self::Running,
            PromptPlace::Done | PromptPlace::Dropped => Self::Over,
            PromptPlace::Unknown => Self::Lost,
        }
    }
}

impl From<OwnTokens> for Usage {
    fn from(tokens: OwnTokens) -> Self {
        Self {
            input: tokens.input,
            output: tokens.output,
            cache_read: tokens.cache_read,
            cache_write: tokens.cache_write,
        }
    }
}

/// What a kind of request makes of the session's state.
fn state_kind(kind: &str) -> StateKind {
    match kind {
        "question" | "elicitation" => StateKind::Question,
        "plan" => StateKind::Plan,
        _ => StateKind::Permission,
    }
}

/// The longest name of a tool or a call, in bytes.
const MAX_NAME_BYTES: usize = 256;

impl From<&OwnWhat> for OwnFact {
    fn from(what: &OwnWhat) -> Self {
        let text = |text: &String| Arc::<str>::from(text.as_str());
        // The agent chooses its names. The row keeps those of open calls.
        let name = |text: &String| Arc::<str>::from(&text[..text.floor_char_boundary(MAX_NAME_BYTES)]);
        match what {
            OwnWhat::Init { session, model, mode, version, pid, .. } => Self::Init {
                session: SessionId::new(session),
                model: texts(model.as_ref()),
                mode: texts(mode.as_ref()),
                version: texts(version.as_ref()),
                pid: *pid,
            },
            OwnWhat::Prompt { id, text: prompt, place, .. } => {
                Self::Prompt { id: text(id), text: text(prompt), place: (*place).into() }
            }
            OwnWhat::QueueHeld { held, cause } => {
                let cause = || texts(cause.as_ref()).unwrap_or_else(|| "interrupted".into());
                Self::Held(held.then(cause))
            }
            OwnWhat::TurnStart => Self::TurnStart,
            OwnWhat::Text { .. } | OwnWhat::Thinking { .. } | OwnWhat::Block { .. } => Self::Output,
            OwnWhat::ToolUse { id, tool, target, .. } => {
                Self::ToolUse { id: name(id), tool: name(tool), target: text(target) }
            }
            OwnWhat::ToolResult { id, .. } => Self::ToolResult { id: name(id) },
            OwnWhat::Request { request } => Self::Asked {
                id: text(&request.id),
                kind: state_kind(&request.kind),
                tool: name(&request.tool),
                summary: text(&request.summary),
            },
            OwnWhat::RequestClosed { request, .. } => Self::AskClosed { id: text(request) },
            OwnWhat::Retry { attempt, of, cause, .. } => Self::Retry(match of {
                Some(of) => format!("{cause}; try {attempt} of {of} failed").into(),
                None => format!("{cause}; try {attempt} failed").into(),
            }),
            OwnWhat::Compaction { done, .. } => Self::Compaction(*done),
            OwnWhat::Changed { model, mode } => {
                Self::Changed { model: texts(model.as_ref()), mode: texts(mode.as_ref()) }
            }
            OwnWhat::Moved { session } => Self::Moved(SessionId::new(session)),
            OwnWhat::Error { text: words, cause } if cause == NO_REACTION => Self::Unresponsive(text(words)),
            OwnWhat::Error { text: words, .. } => Self::Failed(text(words)),
            OwnWhat::Context { used, size } => Self::Context { used: *used, size: *size },
            OwnWhat::TurnEnd { reason, tokens, .. } => {
                Self::TurnEnd { reason: text(reason), tokens: tokens.map(Usage::from) }
            }
            OwnWhat::Started { pid } => Self::Started(*pid),
            OwnWhat::Ending { left } => Self::Ending(left.len()),
            OwnWhat::SessionEnded { code, signal, asked, words } => {
                Self::Ended { asked: *asked, code: *code, signal: *signal, words: texts(words.as_ref()) }
            }
        }
    }
}

/// The id of a request among all sessions. An agent numbers its requests for itself.
pub fn request_id(own: &str, request: &str) -> RequestId {
    RequestId::new(&format!("{own}/{request}"))
}

/// The own session of such an id, and the agent's id of the request.
pub fn split_request_id(id: &str) -> Option<(&str, &str)> {
    id.split_once('/')
}

/// A request of an own session, as the core decides it. `session`: whose row asks.
pub fn asked(spec: &OwnSpec, session: &SessionId, at: Timestamp, request: &Request) -> CoreRequest {
    CoreRequest {
        id: request_id(&spec.session, &request.id),
        cwd: texts(Some(&spec.cwd)),
        ..request.shown_by(session, Via::Host, at)
    }
}
