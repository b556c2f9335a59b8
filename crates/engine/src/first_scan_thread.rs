//! The first scan beside the loop: a thread that hands over what it reads.

use std::sync::Arc;

use tokio::sync::mpsc;

use crate::engine::{Engine, World};
use crate::first_scan::FirstScan;
use crate::message::Message;
use crate::transcripts::Terms;

/// Starts it; what it finds comes as messages.
pub(crate) fn spawn(engine: &Engine, world: &World, sender: &mpsc::UnboundedSender<Message>) {
    let fs = Arc::clone(&world.fs);
    let settings = engine.settings.clone();
    let recent_since = engine.now() - settings.recent;
    let terms = Terms { timeouts: settings.timeouts, until: None, keep: engine.keeps() };
    let known = engine.known_files();
    let instead = sender.clone();
    let sender = sender.clone();
    let read = move || {
        let known = |path: &std::path::Path| known.contains(path.as_os_str());
        let scan = FirstScan::find(&*fs, &settings.roots, recent_since, &known);
        // A failed send means that the loop has stopped; reading on would be for nobody.
        if sender.send(Message::ScanBegan { recent: scan.recent }).is_err() {
            return;
        }
        scan.read(&fs, terms, &|| !sender.is_closed(), &|n, loaded| {
            sender.send(Message::Loaded(n, Box::new(loaded))).is_ok()
        });
        let _ = sender.send(Message::ScanEnded(Box::new(scan)));
    };
    let thread = std::thread::Builder::new().name("watchbill-scan".into()).spawn(read);
    if let Err(error) = thread {
        tracing::error!(%error, "the system gives no thread for the first scan; the loop reads everything itself");
        // Nobody is there to be told when the loop has stopped.
        let _ = instead.send(Message::ScanEnded(Box::new(FirstScan::none())));
    }
}
