//! The service over HTTP, as long as the settings want it. It answers from the engine in force.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use watchbill_engine::handle::Handle;
use watchbill_protocol::settings::ServiceState;
use watchbill_service::Service;
use watchbill_settings::ServiceSettings;

/// The running service, or why it does not run.
#[derive(Default)]
pub struct HttpService(Mutex<Kept>);

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
    /// Starts, ends or replaces the service, as the engine's settings say. The demo serves nothing.
    pub fn follow(&self, engine: &Handle) {
        let settings = engine.settings();
        let wanted = settings.data_dir.clone().filter(|_| settings.service.http && !engine.is_demo());
        let mut kept = self.lock();
        let stays = |running: &Running| {
            wanted.as_ref() == Some(&running.data_dir)
                && running.settings == settings.service
                && !running.engine.stopped()()
        };
        if kept.running.as_ref().is_some_and(stays) {
            return;
        }
        // Ends first, so that its port is free.
        *kept = Kept::default();
        let Some(data_dir) = wanted else { return };
        let ServiceSettings { port, accept, .. } = settings.service;
        match watchbill_service::start(engine.clone(), &data_dir, port, accept) {
            Ok(service) => {
                let engine = engine.clone();
                kept.running = Some(Running { settings: settings.service, data_dir, engine, service });
            }
            Err(error) => {
                tracing::error!(%error, port, "HTTP is not served");
                kept.problem = Some(error.to_string());
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
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
