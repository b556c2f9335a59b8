//! What reaches the loop from other threads.

use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::mpsc::UnboundedSender;
use watchbill_core::hook::HookMessage;
use watchbill_core::ids::SessionId;
use watchbill_core::person::Word;
use watchbill_core::requests::request::{Request, RequestId};
use watchbill_core::time::Timestamp;
use watchbill_history::removal::Removal;
use watchbill_history::worker::{OnRemoved, Settled};
use watchbill_protocol::error::ApiError;
use watchbill_protocol::request::AnswerGiven;
use watchbill_protocol::roster::RosterMessage;
use watchbill_settings::Settings;
use watchbill_watch::scan::Scan;

use crate::engine::Engine;
use crate::first_scan::FirstScan;
use crate::input::AttentionInput;
use crate::publish::{AlertSink, Sink, Subscription};
use crate::run::requests::AskSink;
use crate::socket::access::CommandId;
use crate::source::Source;
use crate::step::requests::Answer;
use crate::transcripts::Loaded;
use crate::witnesses::folders::FolderLook;

/// A question that the loop answers between two steps.
pub(crate) type Question = Box<dyn FnOnce(&Engine, &dyn Source) + Send>;

/// A question about the roster as it is at this very moment.
pub(crate) type Look = Box<dyn FnOnce(&Engine) + Send>;

/// What came of a command of the person.
pub(crate) enum Done {
    /// It is stored; the whole id of its session.
    Stored(SessionId),
    /// Another program holds the store: that one is to carry this out, with the sessions' whole ids.
    Elsewhere(Word),
}

/// Takes what came of a command.
pub(crate) type Told = Box<dyn FnOnce(Result<Done, ApiError>) + Send>;

/// Takes what came of an answer.
pub(crate) type OnAnswered = Box<dyn FnOnce(Result<AnswerGiven, ApiError>) + Send>;

/// When a look at everything began.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LookStart {
    pub began: Timestamp,
    /// The first scan had read all its files by then, so that this look ends it.
    pub had_read_all: bool,
}

/// What reaches the loop from outside.
pub(crate) enum Message {
    Loaded(usize, Box<Loaded>),
    ScanEnded(Box<FirstScan>),
    ScanBegan {
        recent: usize,
    },
    /// A scan of everything that was asked for.
    Rescanned(Box<Scan>, LookStart),
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
    /// Looks at the roster, after everything that is known to have changed. `all`: long idle sessions, too.
    Look {
        all: bool,
        question: Look,
    },
    /// A command of the person, with its id.
    Command(CommandId, Word, Told),
    /// A hook process asks and waits.
    HookAsks(Box<Request>, HookMessage, AskSink),
    /// A hook process has printed its answer.
    Printed(RequestId),
    /// A hook process that asked has ended.
    HookGone(RequestId),
    /// The user answers a request.
    Answer(Answer, OnAnswered),
    /// The program that holds the store has stored a command.
    CommandsStored,
    /// The program that held the store has ended, or listens no more.
    HolderGone,
    /// Something is to be removed from the stored history.
    Remove(Removal, OnRemoved),
    /// Something was removed.
    Removed,
    /// A client waits until everything is stored.
    Settle(Settled),
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
