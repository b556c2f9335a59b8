//! Messages from other threads to the loop.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::mpsc::UnboundedSender;
use watchbill_core::hook::HookMessage;
use watchbill_core::ids::SessionId;
use watchbill_core::requests::open::Asked;
use watchbill_core::requests::request::{NamedFiles, Request, RequestId};
use watchbill_core::time::Timestamp;
use watchbill_core::user::SessionCommand;
use watchbill_history::removal::Removal;
use watchbill_history::worker::{OnRemoved, OnSettled};
use watchbill_protocol::error::ApiError;
use watchbill_protocol::request::AnswerGiven;
use watchbill_protocol::roster::RosterMessage;
use watchbill_settings::Settings;
use watchbill_watch::scan::Scan;

use crate::engine::Engine;
use crate::handle::pressed::Pressed;
use crate::model::publish::{AlertSink, RosterSink, Subscription};
use crate::socket::access::CommandId;
use crate::step::input::{AttentionInput, ServerNews};
use crate::step::requests::{RefusedCaller, UserAnswer};
use crate::transcripts::Loaded;
use crate::transcripts::first_scan::FirstScan;
use crate::witnesses::folders::FolderLook;
use crate::witnesses::own::OwnInput;
use crate::world::source::HintSource;

/// A question that the loop answers between two steps.
pub(crate) type LoopQuestion = Box<dyn FnOnce(&Engine, &dyn HintSource) + Send>;

/// A question about the present roster.
pub(crate) type RosterQuestion = Box<dyn FnOnce(&Engine) + Send>;

/// The result of a user command.
pub(crate) enum CommandOutcome {
    /// The command is stored. Holds the whole id of its session.
    Stored(SessionId),
    /// Another program holds the store and must carry this command out. The command has whole ids.
    Elsewhere(SessionCommand),
}

/// Takes the result of a command.
pub(crate) type OnCommandDone = Box<dyn FnOnce(Result<CommandOutcome, ApiError>) + Send>;

/// Takes the words that a hook process is to print; `None`: nothing.
pub(crate) type AskSink = Box<dyn FnOnce(Option<String>) + Send>;

/// Takes the result of an answer; `None`: another program holds the store, and the request.
pub(crate) type OnAnswered = Box<dyn FnOnce(Result<Option<AnswerGiven>, ApiError>) + Send>;

/// The start of a look at everything.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LookStart {
    pub began: Timestamp,
    /// The first scan had read all its files before, so this look ends it.
    pub had_read_all: bool,
}

/// A message to the loop.
pub(crate) enum Message {
    Loaded(usize, Box<Loaded>),
    ScanEnded(Box<FirstScan>),
    ScanBegan {
        recent: usize,
    },
    /// The result of a requested scan of everything.
    Rescanned(Box<Scan>, LookStart),
    ProcessEnded(u32),
    Folder(Box<FolderLook>),
    /// The machine slept, or its clock was set.
    ClockJumped,
    Subscribe(Subscription, RosterSink),
    /// A new subscriber of alerts.
    Listen(AlertSink),
    /// The user muted or unmuted alerts, or looks at other sessions.
    Attention(AttentionInput),
    Broadcast(RosterMessage),
    Ask(LoopQuestion),
    /// A question about the roster, after all known changes were taken in. `all`: include long idle sessions.
    Look {
        all: bool,
        question: RosterQuestion,
    },
    /// A user command with its id.
    Command(CommandId, SessionCommand, OnCommandDone),
    /// A hook process asks and waits.
    HookAsks(Box<Request>, HookMessage, AskSink),
    /// A hook process has printed its answer.
    Printed(RequestId),
    /// A hook process that asked has ended.
    HookGone(RequestId),
    /// News of own sessions.
    Own(Vec<OwnInput>),
    /// News of an agent's server.
    Server(ServerNews),
    /// The answer to this request did not reach its host.
    Undelivered(RequestId),
    /// The user answers a request.
    Answer(UserAnswer, Pressed, OnAnswered),
    /// The files that an open request names were looked at; all of them, as they are now.
    FilesSeen(SessionId, RequestId, NamedFiles),
    /// A program that may not answer requests or send prompts has tried to.
    CallerRefused(RefusedCaller),
    /// The holder of the store has stored a command.
    CommandsStored,
    /// The holder of the store has ended, or no longer listens.
    HolderGone,
    /// The requests that the holder of the store shows, if another program holds it.
    HolderRequests(BTreeMap<SessionId, Asked>),
    /// A removal from the stored history.
    Remove(Removal, OnRemoved),
    /// A removal has ended.
    Removed,
    /// A socket client waits until everything is stored.
    Settle(OnSettled),
    LookAgain,
    /// The user changed memories, the pause, or what the model is asked about.
    MemoryChanged,
    /// A search has met damage in the full-text index.
    IndexDamaged,
    /// The user's new settings.
    Settings(Box<Settings>),
    Stop,
}

/// Applies new settings to a running engine, except its folders and how they are watched.
pub(crate) fn apply(kept: &RwLock<Arc<Settings>>, inbox: &UnboundedSender<Message>, settings: &Settings) {
    let mut kept = kept.write().unwrap_or_else(PoisonError::into_inner);
    let Settings { roots, watch, data_dir, .. } = (**kept).clone();
    let settings = Settings { roots, watch, data_dir, ..settings.clone() };
    *kept = Arc::new(settings.clone());
    // Send under the lock, so that of two changes the later one wins. If the loop has ended, the send has no effect.
    let _ = inbox.send(Message::Settings(Box::new(settings)));
}
