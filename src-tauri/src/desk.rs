//! Everything that belongs together while the program runs: the engine, the window's line, the tray.

use std::sync::{Arc, PoisonError, RwLock};

use tauri::AppHandle;
use tauri::async_runtime;

use crate::bridge::Bridge;
use crate::engine;
use crate::host::{ApiError, ErrorCode, Host};
use crate::tray::{self, Tray};

/// Tauri's managed state.
pub struct Desk {
    host: Arc<RwLock<Arc<dyn Host>>>,
    /// The line to the window.
    pub(crate) bridge: Arc<Bridge>,
    tray: Arc<Tray>,
}

impl Desk {
    /// Puts a running engine on the desk.
    pub(crate) fn new(host: Arc<dyn Host>) -> Self {
        Self {
            host: Arc::new(RwLock::new(host)),
            bridge: Arc::new(Bridge::default()),
            tray: Arc::new(Tray::new()),
        }
    }

    /// Asks the engine something that may take a while, such as reading a file.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Arc<dyn Host>) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let host = current(&self.host);
        async_runtime::spawn_blocking(move || question(&host)).await.unwrap_or_else(|error| {
            tracing::error!(%error, "a question to the engine ended in a panic");
            Err(ApiError {
                code: ErrorCode::Internal,
                message: "Watchbill failed to answer; its log says why".into(),
            })
        })
    }

    /// Has the window select a session, once it is clear which one is meant.
    pub(crate) fn select(&self, session: String) {
        let (host, bridge) = (current(&self.host), Arc::clone(&self.bridge));
        async_runtime::spawn_blocking(move || {
            // The engine also takes the beginning of an id; what it does not know the window will say.
            let id = host.why(&session).map_or(session, |why| why.session_id);
            bridge.select(id);
        });
    }

    /// Exchanges the engine for one with made-up sessions; window and tray follow it.
    pub(crate) async fn start_demo(&self) -> Result<(), ApiError> {
        let demo = async_runtime::spawn_blocking(engine::demo).await;
        let demo =
            demo.map_err(|error| error.to_string()).and_then(|opened| opened.map_err(|e| e.to_string()));
        let demo = demo.map_err(|message| ApiError { code: ErrorCode::Internal, message })?;
        *self.host.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&demo);
        self.tray.host_changed();
        if let Some((all, sink)) = self.bridge.reconnect() {
            demo.subscribe(all, sink);
        }
        Ok(())
    }

    /// Shows the tray from now on.
    pub(crate) fn keep_tray(&self, app: &AppHandle) {
        let host = Arc::clone(&self.host);
        async_runtime::spawn(tray::keep(app.clone(), Arc::clone(&self.tray), move || current(&host)));
    }

    /// Without a window nobody could reach the program any more.
    pub(crate) fn is_unreachable(&self) -> bool {
        self.tray.is_unreachable()
    }
}

fn current(host: &RwLock<Arc<dyn Host>>) -> Arc<dyn Host> {
    Arc::clone(&host.read().unwrap_or_else(PoisonError::into_inner))
}
