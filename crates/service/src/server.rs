//! Listening, and the bounds of each connection.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, oneshot};
use tokio_io_timeout::TimeoutStream;
use watchbill_engine::handle::Handle;

use crate::accept::Storing;
use crate::address_file::AddressFile;
use crate::app::App;
use crate::guard::{Guard, refuse};
use crate::{accept, endpoints};

/// Most connections at the same time. One more waits.
const MAX_CONNECTIONS: usize = 32;
/// How long a client may take to send the head of a request.
const HEAD_BUDGET: Duration = Duration::from_secs(2);
/// How long a client may leave the bytes of an answer unread.
const UNREAD_BUDGET: Duration = Duration::from_secs(10);

/// The running service. It ends when this is dropped.
#[derive(Debug)]
pub struct Service {
    address: SocketAddr,
    token: String,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    /// Dropped after the thread has ended, which has the ways to it.
    _storing: Option<Storing>,
    address_file: Option<AddressFile>,
}

impl Drop for Service {
    /// Waits until the port is free again. Then the events that were accepted are stored, as far as the disk is fast enough.
    fn drop(&mut self) {
        // First, so that the file names no port that is closed.
        self.address_file = None;
        self.end = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Service {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What a client has to know.
    pub fn token(&self) -> &str {
        &self.token
    }
}

/// Listens on loopback and serves on a thread of its own. Port 0 takes a free one. With `accepts` it also takes events.
///
/// # Errors
/// When the port is taken, the data folder cannot be written, or the system gives no random bytes.
pub fn start(engine: Handle, data_dir: &Path, port: u16, accepts: bool) -> io::Result<Service> {
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let token = token()?;
    let address_file = AddressFile::write(data_dir, address, &token)?;
    let guard = Guard::new(address.port(), &token);
    let (events, storing) =
        accepts.then(|| accept::start(data_dir, engine.takes_more_events())).transpose()?.unzip();
    let router = endpoints::router(App::new(engine, events))
        .layer(axum::middleware::from_fn_with_state(guard, refuse));
    let (end, ended) = oneshot::channel();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let thread = std::thread::Builder::new().name("watchbill-service".into()).spawn(move || {
        runtime.block_on(async {
            tokio::select! {
                () = serve(listener, router) => {}
                _ = ended => {}
            }
        });
        runtime.shutdown_background();
    })?;
    tracing::info!(%address, "the service listens");
    Ok(Service {
        address,
        token,
        end: Some(end),
        thread: Some(thread),
        _storing: storing,
        address_file: Some(address_file),
    })
}

async fn serve(listener: std::net::TcpListener, router: Router) {
    let listener = match TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => {
            tracing::error!(%error, "the service cannot listen");
            return;
        }
    };
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Out of descriptors, for example: it passes when connections end.
                tracing::warn!(%error, "a connection to the service was not taken");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let service = TowerToHyperService::new(router.clone());
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(UNREAD_BUDGET));
        tokio::spawn(async move {
            let _place = place;
            let served = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_BUDGET)
                .serve_connection(TokioIo::new(Box::pin(stream)), service)
                .await;
            if let Err(error) = served {
                tracing::debug!(%error, "a connection to the service ended early");
            }
        });
    }
}

/// 32 random bytes, as hexadecimal digits.
fn token() -> io::Result<String> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
