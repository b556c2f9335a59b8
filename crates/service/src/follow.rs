//! The service over HTTP, as long as the settings want it. It answers from the engine in force.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use watchbill_engine::handle::Handle;
use watchbill_protocol::settings::ServiceState;
use watchbill_settings::ServiceSettings;

use crate::server::{Service, start};

/// The running service, or why it does not run.
#[derive(Default)]
pub struct HttpService {
    /// The command line wants the service, with any settings. A port of 0 leaves the port to the settings.
    forced: Option<u16>,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    running: Option<Running>,
    problem: Option<String>,
}

struct Running {
    settings: ServiceSettings,
    data_dir: PathBuf,
    engine: Handle,
    service: Service,
}

impl HttpService {
    /// A service that the command line may want: on this port, or with 0 on the settings' one.
    pub fn new(forced: Option<u16>) -> Self {
        Self { forced, kept: Mutex::default() }
    }

    /// Starts, ends or replaces the service, as the command line and the engine's settings say. The demo serves nothing.
    pub fn follow(&self, engine: &Handle) {
        let settings = engine.settings();
        let mut said = settings.service;
        if let Some(port) = self.forced {
            said.http = true;
            said.port = if port == 0 { said.port } else { port };
        }
        let serves = said.http && !engine.is_demo();
        let wanted = settings.data_dir.clone().filter(|_| serves);
        let mut kept = self.lock();
        let stays = |running: &Running| {
            wanted.as_ref() == Some(&running.data_dir)
                && running.settings == said
                && !running.engine.stopped()()
        };
        if kept.running.as_ref().is_some_and(stays) {
            return;
        }
        // Ends first, so that its port is free.
        *kept = Kept::default();
        let Some(data_dir) = wanted else {
            kept.problem = serves.then(|| "no data folder is known: name one with --data-dir".to_owned());
            return;
        };
        let ServiceSettings { port, accept, .. } = said;
        match start(engine.clone(), &data_dir, port, accept) {
            Ok(service) => {
                let engine = engine.clone();
                kept.running = Some(Running { settings: said, data_dir, engine, service });
            }
            Err(error) => {
                tracing::error!(%error, port, "HTTP is not served");
                kept.problem = Some(format!("cannot serve HTTP on port {port} of 127.0.0.1: {error}"));
            }
        }
    }

    /// Ends the service.
    pub fn stop(&self) {
        *self.lock() = Kept::default();
    }

    /// Where it listens, and its token.
    pub fn state(&self) -> ServiceState {
        let kept = self.lock();
        let service = kept.running.as_ref().map(|running| &running.service);
        ServiceState {
            address: service.map(|service| format!("http://{}", service.address())),
            token: service.map(|service| service.token().to_owned()),
            problem: kept.problem.clone(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
