//! The thread that stores accepted events. Clients do not wait for the disk, and a bounded queue limits the memory.

use std::io;
use std::path::Path;

use tokio::sync::mpsc::{self, Sender};
use watchbill_hooks::sender::post;

/// The most events that wait for the disk. Beyond it, a client waits, and then gets 503.
const BACKLOG: usize = 256;

/// Starts the thread. It ends when the last sender is dropped, after it has stored what waits.
///
/// # Errors
/// When the system gives no thread.
pub fn start(data_dir: &Path) -> io::Result<Sender<Vec<u8>>> {
    let (sender, mut events) = mpsc::channel::<Vec<u8>>(BACKLOG);
    let data_dir = data_dir.to_owned();
    std::thread::Builder::new().name("watchbill-accept".into()).spawn(move || {
        while let Some(payload) = events.blocking_recv() {
            let sent = post(&data_dir, &payload);
            tracing::debug!(?sent, "an event over HTTP");
        }
    })?;
    Ok(sender)
}
