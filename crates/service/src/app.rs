//! What the endpoints share.

use std::sync::Arc;

use tokio::sync::Semaphore;
use watchbill_engine::handle::Handle;

/// Most programs that follow the events at the same time.
const MOST_STREAMS: usize = 8;

/// The engine, and the bounds that hold over all connections.
pub struct App {
    pub engine: Handle,
    /// A place for each follower of the events.
    pub streams: Arc<Semaphore>,
}

impl App {
    pub fn new(engine: Handle) -> Self {
        Self { engine, streams: Arc::new(Semaphore::new(MOST_STREAMS)) }
    }
}
