//! The state that the endpoints share.

use std::sync::Arc;

use axum::extract::Path;
use serde_json::Value;
use tokio::sync::{Semaphore, broadcast};
use watchbill_engine::handle::Handle;
use watchbill_engine::router::Router;
use watchbill_engine::router::access::Face;
use watchbill_engine::socket::access::AccessError;
use watchbill_protocol::api::{ApiReply, ApiRequest};
use watchbill_protocol::error::ApiError;

use crate::accept::Queue;

/// Most programs that follow the events at the same time.
const MAX_STREAMS: usize = 8;
/// Beginnings and ends of sessions that wait for a slow follower. It misses older ones.
const MAX_TOLD: usize = 64;

/// The session that an address names. It may have a token before it.
pub type Names = Path<Vec<(String, String)>>;

/// What an address has at the place of this name.
pub fn named(Path(names): Names, name: &str) -> String {
    names.into_iter().find(|(known, _)| known == name).map(|(_, named)| named).unwrap_or_default()
}

/// The engine, and the bounds that hold over all connections.
pub struct App {
    pub engine: Handle,
    /// A place for each follower of the events.
    pub streams: Arc<Semaphore>,
    /// The way to the thread that stores events; `None` if the user does not allow it.
    pub events: Option<Queue>,
    /// Sessions of other programs that begin and end, for the followers of the events.
    pub told: broadcast::Sender<Value>,
}

impl App {
    pub fn new(engine: Handle, events: Option<Queue>) -> Self {
        let streams = Arc::new(Semaphore::new(MAX_STREAMS));
        Self { engine, streams, events, told: broadcast::Sender::new(MAX_TOLD) }
    }

    /// Answers a request on a thread where it may wait for the disk. `None`: the thread has panicked.
    pub async fn answer(self: Arc<Self>, request: ApiRequest) -> Option<Result<ApiReply, ApiError>> {
        // The request alone may outlive the service: what else is shared ends with it.
        let router = Router::new(self.engine.clone(), None);
        drop(self);
        // If the client hangs up, this function is dropped, and `client` with it.
        let client = Arc::new(());
        let waits = Arc::downgrade(&client);
        let wanted = Arc::new(move || waits.strong_count() > 0);
        let answer = move || router.answer(&Face::Token, request, wanted).map_err(AccessError::into_api);
        let answer = tokio::task::spawn_blocking(answer).await.ok();
        drop(client);
        answer
    }

    /// Whether the user excludes this folder.
    pub fn is_excluded(&self, cwd: Option<&str>) -> bool {
        cwd.is_some_and(|cwd| self.engine.settings().history.exclude.excludes(cwd))
    }
}
