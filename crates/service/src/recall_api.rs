//! The endpoints of the claude-recall document, with its aliases. Each accepted body becomes a hook event.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use watchbill_hooks::sender::HTTP_ID;
use watchbill_protocol::api::{ApiReply, ApiRequest};

use crate::accept::Queue;
use crate::app::{App, Names, named};

/// How long a client waits for room in the queue. The document's clients give up after two seconds.
const TIMEOUT: Duration = Duration::from_millis(1_500);

/// The document's endpoints, at each address that it names.
pub fn router() -> Router<Arc<App>> {
    let mut router = Router::new()
        .route("/api/context/inject", get(context))
        .route("/api/processing", get(processing).post(ignored))
        .route("/sessions/{session}/init", post(init_named));
    for base in ["", "/api"] {
        router = router
            .route(&format!("{base}/sessions/init"), post(init))
            .route(&format!("{base}/sessions/observations"), post(observation))
            .route(&format!("{base}/sessions/summarize"), post(summarize))
            .route(&format!("{base}/sessions/complete"), post(complete));
    }
    router
}

#[derive(Deserialize)]
struct Where {
    cwd: Option<String>,
    project: Option<String>,
}

/// The lines that an agent in this project would be told at its start. Empty if the setting is off, and for an unknown project.
async fn context(State(app): State<Arc<App>>, Query(place): Query<Where>) -> Response {
    let request = ApiRequest::StartText { cwd: place.cwd, project: place.project };
    let text = match app.answer(request).await {
        Some(Ok(ApiReply::StartText(text))) => text,
        _ => String::new(),
    };
    ([(header::CONTENT_TYPE, "text/markdown; charset=utf-8")], text).into_response()
}

/// Whether events wait to be stored, and how many. Watchbill compresses nothing.
async fn processing(State(app): State<Arc<App>>) -> Response {
    let waiting = app.events.as_ref().map_or(0, Queue::waiting);
    Json(json!({ "isProcessing": waiting > 0, "queueDepth": waiting })).into_response()
}

/// Clients call this to stop a spinner. There is nothing to do.
async fn ignored(State(app): State<Arc<App>>) -> Response {
    if app.events.is_some() { StatusCode::ACCEPTED.into_response() } else { refused() }
}

/// The document's clients name a session that they began by its number.
async fn init_named(State(app): State<Arc<App>>, names: Names, body: Bytes) -> Response {
    let id = named(names, "session");
    let has_name =
        serde_json::from_slice(&body).is_ok_and(|body: Map<String, Value>| session_of(&body).is_some());
    if has_name || id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_digit()) {
        return take(&app, &body, |body| prompt(body, Some(id))).await;
    }
    match Arc::clone(&app).answer(ApiRequest::DocumentSession { session: id }).await {
        Some(Ok(ApiReply::DocumentSession(known))) => {
            take(&app, &body, |body| prompt(body, Some(known.claude_session_id))).await
        }
        _ => (StatusCode::NOT_FOUND, "no stored session has this number: name it by `claudeSessionId`")
            .into_response(),
    }
}

async fn init(State(app): State<Arc<App>>, body: Bytes) -> Response {
    take(&app, &body, |body| prompt(body, None)).await
}

async fn observation(State(app): State<Arc<App>>, body: Bytes) -> Response {
    take(&app, &body, tool).await
}

async fn summarize(State(app): State<Arc<App>>, body: Bytes) -> Response {
    let stop = |body: Map<String, Value>| {
        let mut event = event(&body, "Stop", None)?;
        copy_field(&mut event, &body, "last_assistant_message");
        Some(event)
    };
    take(&app, &body, stop).await
}

async fn complete(State(app): State<Arc<App>>, body: Bytes) -> Response {
    let end = |body: Map<String, Value>| {
        let mut event = event(&body, "SessionEnd", None)?;
        // The document's `exit` is `prompt_input_exit` today.
        let reason = match text(&body, "reason") {
            Some("exit") => "prompt_input_exit",
            Some(reason) => reason,
            None => "other",
        };
        event.insert("reason".to_owned(), reason.into());
        Some(event)
    };
    take(&app, &body, end).await
}

/// Queues the event of a body. 202: it will be stored.
async fn take(
    app: &App,
    body: &[u8],
    event: impl FnOnce(Map<String, Value>) -> Option<Map<String, Value>>,
) -> Response {
    let Some(events) = &app.events else { return refused() };
    let Ok(Value::Object(body)) = serde_json::from_slice(body) else {
        return (StatusCode::BAD_REQUEST, "the body is no JSON object").into_response();
    };
    let Some(event) = event(body) else {
        return (StatusCode::BAD_REQUEST, "the body names no session, or lacks a field").into_response();
    };
    let told = told(&event).filter(|_| !app.is_excluded(text(&event, "cwd")));
    let payload = Value::Object(event).to_string().into_bytes();
    if events.put(payload, TIMEOUT).await {
        if let Some(told) = told {
            // It fails only while no program follows the events.
            let _ = app.told.send(told);
        }
        return StatusCode::ACCEPTED.into_response();
    }
    let later = [(header::RETRY_AFTER, "1")];
    (StatusCode::SERVICE_UNAVAILABLE, later, "too many events wait; send it again").into_response()
}

/// What followers of the events are told of a session that begins or ends.
fn told(event: &Map<String, Value>) -> Option<Value> {
    let name = match text(event, "hook_event_name")? {
        "UserPromptSubmit" => "session_initialized",
        "SessionEnd" => "session_completed",
        _ => return None,
    };
    Some(json!({ "event": name, "sessionId": text(event, "session_id")? }))
}

fn refused() -> Response {
    let why = "this service only reads; the setting `service.accept` lets it take events";
    (StatusCode::FORBIDDEN, why).into_response()
}

fn text<'b>(body: &'b Map<String, Value>, key: &str) -> Option<&'b str> {
    body.get(key).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// The session that a body names.
fn session_of(body: &Map<String, Value>) -> Option<&str> {
    text(body, "claudeSessionId").or_else(|| text(body, "sessionId"))
}

/// A hook payload of the session that the body names. `named`: the session in the address, if the body names none.
fn event(body: &Map<String, Value>, name: &str, named: Option<String>) -> Option<Map<String, Value>> {
    let said = session_of(body).map(str::to_owned);
    let mut event = Map::new();
    event.insert("session_id".to_owned(), said.or(named)?.into());
    event.insert("hook_event_name".to_owned(), name.into());
    copy_field(&mut event, body, "cwd");
    copy_field(&mut event, body, "project");
    Some(event)
}

fn copy_field(event: &mut Map<String, Value>, body: &Map<String, Value>, key: &str) {
    if let Some(value) = body.get(key) {
        event.insert(key.to_owned(), value.clone());
    }
}

fn prompt(body: Map<String, Value>, named: Option<String>) -> Option<Map<String, Value>> {
    let mut event = event(&body, "UserPromptSubmit", named)?;
    let prompt = text(&body, "userPrompt")?;
    event.insert("prompt".to_owned(), prompt.into());
    // The same body always gives the same id.
    let number = body.get("promptNumber").and_then(Value::as_u64).unwrap_or_default();
    let id = hash(&(event.get("session_id").and_then(Value::as_str), number, prompt));
    event.insert("prompt_id".to_owned(), format!("{HTTP_ID}{id}").into());
    Some(event)
}

fn tool(body: Map<String, Value>) -> Option<Map<String, Value>> {
    let mut event = event(&body, "PostToolUse", None)?;
    text(&body, "tool_name")?;
    for key in ["tool_name", "tool_input", "tool_response"] {
        copy_field(&mut event, &body, key);
    }
    // The document's clients name no call. The same call sent again is one call. The prefix keeps these ids apart from the agent's own.
    let id = match text(&body, "tool_use_id") {
        Some(id) => id.to_owned(),
        None => hash(&Value::Object(event.clone()).to_string()),
    };
    event.insert("tool_use_id".to_owned(), format!("{HTTP_ID}{id}").into());
    Some(event)
}

/// A name for equal contents. It is no secret and guards nothing.
fn hash(of: &impl Hash) -> String {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}
