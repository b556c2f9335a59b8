//! What reaches the loop from other threads.

use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::mpsc::UnboundedSender;
use watchbill_core::person::Word;
use watchbill_protocol::error::ApiError;
use watchbill_protocol::roster::RosterMessage;
use watchbill_watch::scan::Scan;

use crate::engine::Engine;
use crate::first_scan::FirstScan;
use crate::folders::FolderLook;
use crate::input::AttentionInput;
use crate::publish::{AlertSink, Sink, Subscription};
use crate::settings::Settings;
use crate::source::Source;
use crate::transcripts::Loaded;

/// A question that the loop answers between two steps.
pub(crate) type Question = Box<dyn FnOnce(&Engine, &dyn Source) + Send>;

/// Takes what came of a word.
pub(crate) type Told = Box<dyn FnOnce(Result<(), ApiError>) + Send>;

/// What reaches the loop from outside.
pub(crate) enum Message {
    Loaded(usize, Box<Loaded>),
    ScanEnded(Box<FirstScan>),
    ScanBegan {
        recent: usize,
    },
    /// A scan of everything that was asked for.
    Rescanned(Box<Scan>),
    ProcessEnded(u32),
    Folder(Box<FolderLook>),
    /// The machine slept, or its clock was set.
    ClockJumped,
    Subscribe(Subscription, Sink),
    /// Somebody shows alerts from now on.
    Listen(AlertSink),
    /// What the person wants of alerts, or looks at.
    Attention(AttentionInput),
    Tell(RosterMessage),
    Ask(Question),
    /// What the person says, and who is told what came of it.
    Say(Word, Told),
    LookAgain,
    /// Whoever looked for words has met damage in the index.
    IndexDamaged,
    /// The person wants it otherwise from now on.
    Settings(Box<Settings>),
    Stop,
}

/// Has a running engine take on other settings, but for those of its folders and how they are watched.
pub(crate) fn apply(kept: &RwLock<Arc<Settings>>, inbox: &UnboundedSender<Message>, settings: &Settings) {
    let mut kept = kept.write().unwrap_or_else(PoisonError::into_inner);
    let Settings { roots, watch, data_dir, .. } = (**kept).clone();
    let settings = Settings { roots, watch, data_dir, ..settings.clone() };
    *kept = Arc::new(settings.clone());
    // Sent under the lock: of two that change something the later one counts. Without a loop nothing counts.
    let _ = inbox.send(Message::Settings(Box::new(settings)));
}
