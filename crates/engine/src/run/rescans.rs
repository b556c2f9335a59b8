//! Scans of everything, on their own thread: the loop goes on, and a dead mount does not block it.

use std::sync::Arc;

use tokio::sync::mpsc::UnboundedSender;
use watchbill_agents::Root;
use watchbill_watch::fs::Fs;
use watchbill_watch::scan::{Scan, scan};

use crate::run::message::{LookStart, Message};

/// The result of a request for a scan.
pub(crate) enum ScanStart {
    /// The scan has begun. Its result will come.
    Begun,
    /// A scan is under way. Another one will follow it.
    Later,
    /// The system gave no thread, so the scan ran here.
    Here(Scan),
}

/// Runs one scan at a time.
pub(crate) struct Rescans {
    fs: Arc<dyn Fs>,
    inbox: UnboundedSender<Message>,
    under_way: bool,
    /// Another scan was requested since: folders behind the running scan's position may have changed.
    again: bool,
}

impl Rescans {
    /// No scan yet. Results go to `inbox`.
    pub fn new(fs: Arc<dyn Fs>, inbox: UnboundedSender<Message>) -> Self {
        Self { fs, inbox, under_way: false, again: false }
    }

    /// Begins a scan, or notes that another one must follow.
    pub fn ask(&mut self, roots: &[Root], start: LookStart) -> ScanStart {
        if self.under_way {
            self.again = true;
            return ScanStart::Later;
        }
        let (fs, roots_there, inbox) = (Arc::clone(&self.fs), roots.to_vec(), self.inbox.clone());
        let look = move || {
            // A failed send means that the loop has stopped.
            let _ = inbox.send(Message::Rescanned(Box::new(scan(&*fs, &roots_there)), start));
        };
        match std::thread::Builder::new().name("watchbill-rescan".into()).spawn(look) {
            Ok(_) => {
                self.under_way = true;
                ScanStart::Begun
            }
            Err(error) => {
                tracing::error!(%error, "the system gives no thread; the loop scans everything itself");
                ScanStart::Here(scan(&*self.fs, roots))
            }
        }
    }

    /// The scan's result has come. Says whether another scan must follow.
    pub fn ended(&mut self) -> bool {
        self.under_way = false;
        std::mem::take(&mut self.again)
    }
}
