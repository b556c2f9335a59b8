//! The thread of the first scan. It lists the folders while the store is read. Then it reads the files that the store
//! did not know, and sends them to the loop.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use tokio::sync::mpsc;
use watchbill_watch::scan::scan;

use crate::engine::Engine;
use crate::run::message::Message;
use crate::transcripts::LoadOptions;
use crate::transcripts::first_scan::FirstScan;
use crate::world::environment::Sources;

/// The handle of the thread, which waits for the list of known files.
pub(crate) struct FirstScanThread(Sender<Box<KnownFiles>>);

/// The files that the store knew.
struct KnownFiles {
    files: crate::model::paths::Paths,
    terms: LoadOptions,
}

/// Starts the thread. After [`FirstScanThread::go_on`], it sends its findings as messages.
pub(crate) fn spawn(
    engine: &Engine,
    world: &Sources,
    sender: &mpsc::UnboundedSender<Message>,
) -> FirstScanThread {
    let fs = Arc::clone(&world.fs);
    let roots = engine.roots_now();
    let recent_since = engine.now() - engine.settings().recent;
    let instead = sender.clone();
    let sender = sender.clone();
    let (known_files, receiver) = channel::<Box<KnownFiles>>();
    let read = move || {
        let listed = scan(&*fs, &roots);
        let Ok(known) = receiver.recv() else { return };
        let KnownFiles { files, terms } = *known;
        let scan = FirstScan::of(listed, recent_since, &|path| files.contains(path.as_os_str()));
        // A failed send means that the loop has stopped, so stop reading.
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
        // This fails only if the loop has stopped.
        let _ = instead.send(Message::ScanEnded(Box::new(FirstScan::none())));
    }
    FirstScanThread(known_files)
}

impl FirstScanThread {
    /// The store was read: the thread skips the files that the engine knows now.
    pub fn go_on(self, engine: &Engine) {
        let terms = LoadOptions {
            timeouts: engine.settings().timeouts,
            until: None,
            keep: engine.collects_changes(),
            exclude: engine.settings().history.exclude.clone(),
        };
        // This fails if the thread could not be started.
        let _ = self.0.send(Box::new(KnownFiles { files: engine.known_files(), terms }));
    }
}
