//! The endpoints. Each answers with the JSON of the command line.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::json;
use watchbill_protocol::api::ApiRequest;
use watchbill_protocol::error::ErrorCode;
use watchbill_protocol::search::SearchQuery;

use crate::app::{App, Names, named};

/// All endpoints.
pub fn router(app: App) -> Router {
    let app = Arc::new(app);
    let health = || async { Json(json!({"status": "ok", "version": env!("CARGO_PKG_VERSION")})) };
    let documents = crate::recall_api::router()
        .route("/health", get(health))
        .route("/api/health", get(health))
        .route("/api/memories", get(memories))
        .route("/sessions/{session}", get(document_session))
        .route("/events", get(crate::events::events))
        .route("/api/sessions", get(sessions))
        .route("/api/sessions/{session}", get(why))
        .route("/api/sessions/{session}/chain", get(chain))
        .route("/api/sessions/{session}/timeline", get(timeline))
        .route("/api/search", get(search));
    // For clients that know no token in a head: the guard has compared it.
    Router::new().nest("/t/{token}", documents.clone()).merge(documents).with_state(app)
}

#[derive(Deserialize)]
struct Which {
    #[serde(default)]
    all: bool,
}

async fn sessions(State(app): State<Arc<App>>, Query(which): Query<Which>) -> Response {
    ask(app, ApiRequest::Roster { all: which.all }).await
}

async fn why(State(app): State<Arc<App>>, names: Names) -> Response {
    ask(app, ApiRequest::Why { session: named(names, "session") }).await
}

/// A session as the claude-recall document has it, with the state that is derived.
async fn document_session(State(app): State<Arc<App>>, names: Names) -> Response {
    ask(app, ApiRequest::DocumentSession { session: named(names, "session") }).await
}

async fn chain(State(app): State<Arc<App>>, names: Names) -> Response {
    ask(app, ApiRequest::Chain { session: named(names, "session") }).await
}

#[derive(Deserialize)]
struct Part {
    from: Option<u64>,
    limit: Option<u64>,
}

async fn timeline(State(app): State<Arc<App>>, names: Names, Query(part): Query<Part>) -> Response {
    let session = named(names, "session");
    let limit = part.limit.unwrap_or(100);
    ask(app, ApiRequest::Timeline { session, from: part.from, limit }).await
}

#[derive(Deserialize)]
struct Wanted {
    q: String,
    limit: Option<u32>,
    project: Option<String>,
    agent: Option<String>,
    since: Option<String>,
    role: Option<String>,
    tool: Option<String>,
}

async fn search(State(app): State<Arc<App>>, Query(wanted): Query<Wanted>) -> Response {
    let query = SearchQuery {
        query: wanted.q,
        limit: wanted.limit,
        project: wanted.project,
        agent: wanted.agent,
        since: wanted.since,
        role: wanted.role,
        tool: wanted.tool,
        ..SearchQuery::default()
    };
    ask(app, ApiRequest::Search { query }).await
}

#[derive(Deserialize)]
struct Folder {
    cwd: String,
    #[serde(default)]
    all: bool,
}

async fn memories(State(app): State<Arc<App>>, Query(folder): Query<Folder>) -> Response {
    ask(app, ApiRequest::Memories { cwd: folder.cwd, all: folder.all }).await
}

async fn ask(app: Arc<App>, request: ApiRequest) -> Response {
    match app.answer(request).await {
        Some(Ok(reply)) => Json(reply).into_response(),
        Some(Err(error)) => (status(error.code), Json(error)).into_response(),
        None => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

fn status(code: ErrorCode) -> StatusCode {
    match code {
        ErrorCode::NotFound => StatusCode::NOT_FOUND,
        ErrorCode::Ambiguous | ErrorCode::Invalid | ErrorCode::Conflict | ErrorCode::OtherBranch => {
            StatusCode::BAD_REQUEST
        }
        ErrorCode::NotReady => StatusCode::SERVICE_UNAVAILABLE,
        ErrorCode::Unsupported => StatusCode::NOT_IMPLEMENTED,
        ErrorCode::Refused => StatusCode::FORBIDDEN,
        ErrorCode::Unreadable | ErrorCode::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}
