//! The state that the endpoints share.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Semaphore;
use watchbill_engine::handle::Handle;
use watchbill_engine::router::Router;
use watchbill_engine::router::access::Face;
use watchbill_engine::socket::access::AccessError;
use watchbill_protocol::api::{ApiReply, ApiRequest};
use watchbill_protocol::error::ApiError;

use crate::accept::Queue;

/// Most programs that follow the events at the same time.
const MAX_STREAMS: usize = 8;
/// Sessions whose newest prompt is known.
const MAX_PROMPTS: usize = 256;

/// The engine, and the bounds that hold over all connections.
pub struct App {
    pub engine: Handle,
    /// A place for each follower of the events.
    pub streams: Arc<Semaphore>,
    /// The way to the thread that stores events; `None` if the user does not allow it.
    pub events: Option<Queue>,
    /// The newest prompt of each session that sends events, the last used at the end.
    prompts: Mutex<VecDeque<(String, String)>>,
}

impl App {
    pub fn new(engine: Handle, events: Option<Queue>) -> Self {
        Self { engine, streams: Arc::new(Semaphore::new(MAX_STREAMS)), events, prompts: Mutex::default() }
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

    /// A prompt begins: later events of the session belong to it.
    pub fn note_prompt(&self, session: &str, prompt: &str) {
        let mut prompts = self.prompts.lock().unwrap_or_else(PoisonError::into_inner);
        prompts.retain(|(known, _)| known != session);
        if prompts.len() == MAX_PROMPTS {
            prompts.pop_front();
        }
        prompts.push_back((session.to_owned(), prompt.to_owned()));
    }

    /// The prompt that an event of the session belongs to, if it is known.
    pub fn prompt_of(&self, session: &str) -> Option<String> {
        let prompts = self.prompts.lock().unwrap_or_else(PoisonError::into_inner);
        prompts.iter().find(|(known, _)| known == session).map(|(_, prompt)| prompt.clone())
    }
}
