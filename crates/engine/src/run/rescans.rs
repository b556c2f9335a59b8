//! Scans of everything, on a thread of their own: the loop goes on meanwhile, and a mount that has died does not stop it.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::mpsc::UnboundedSender;
use watchbill_watch::fs::Fs;
use watchbill_watch::scan::{Scan, scan};

use crate::run::message::{LookStart, Message};

/// What came of asking for a scan.
pub(crate) enum Asked {
    /// It has begun, and its result will come.
    Begun,
    /// One is under way; another one is to follow it.
    Later,
    /// The system gives no thread, so that it was taken here.
    Here(Scan),
}

/// One scan at a time.
pub(crate) struct Rescans {
    fs: Arc<dyn Fs>,
    inbox: UnboundedSender<Message>,
    under_way: bool,
    /// Another one was asked for since: what the first has passed already may have changed.
    again: bool,
}

impl Rescans {
    /// Nothing is asked for yet. What is found goes to `inbox`.
    pub fn new(fs: Arc<dyn Fs>, inbox: UnboundedSender<Message>) -> Self {
        Self { fs, inbox, under_way: false, again: false }
    }

    /// Begins a scan, or notes that another one is to follow.
    pub fn ask(&mut self, roots: &[PathBuf], start: LookStart) -> Asked {
        if self.under_way {
            self.again = true;
            return Asked::Later;
        }
        let (fs, roots_there, inbox) = (Arc::clone(&self.fs), roots.to_vec(), self.inbox.clone());
        let look = move || {
            // A failed send means that the loop has stopped.
            let _ = inbox.send(Message::Rescanned(Box::new(scan(&*fs, &roots_there)), start));
        };
        match std::thread::Builder::new().name("watchbill-rescan".into()).spawn(look) {
            Ok(_) => {
                self.under_way = true;
                Asked::Begun
            }
            Err(error) => {
                tracing::error!(%error, "the system gives no thread; the loop scans everything itself");
                Asked::Here(scan(&*self.fs, roots))
            }
        }
    }

    /// The scan has come. Says whether another one is to follow.
    pub fn ended(&mut self) -> bool {
        self.under_way = false;
        std::mem::take(&mut self.again)
    }
}
