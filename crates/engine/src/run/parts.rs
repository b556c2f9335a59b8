//! The loop's state beside the engine, by what it serves: what comes in, who is told, and what is stored.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::sync::{Notify, mpsc};
use watchbill_core::problem::Problem;
use watchbill_core::time::Timestamp;
use watchbill_history::HistoryProgress;
use watchbill_history::worker::HistoryThread;
use watchbill_watch::hints::Hint;
use watchbill_watch::process::Processes;

use super::alert_subscribers::AlertSubscribers;
use super::exits::Exits;
use super::folder_looks::FolderLooks;
use super::hook_listener::HookListener;
use super::message::Message;
use super::rescans::Rescans;
use super::status_servers::StatusServers;
use super::waiting_hooks::WaitingHooks;
use crate::handle::Handle;
use crate::model::publish::Subscriber;
use crate::persist::Persist;
use crate::socket::holder::Holder;
use crate::socket::server::Server;
use crate::witnesses::own_hosts::OwnHosts;
use crate::world::source::HintSource;

/// What wakes the loop and brings it facts.
pub(super) struct Inlets {
    pub source: Box<dyn HintSource>,
    pub woken: Arc<Notify>,
    pub inbox: mpsc::UnboundedReceiver<Message>,
    pub exits: Exits,
    pub folder_looks: FolderLooks,
    pub rescans: Rescans,
    pub hook_listener: Result<Option<HookListener>, Problem>,
    /// Follows own sessions, if there is a data folder.
    pub own_hosts: Option<OwnHosts>,
    pub status_servers: StatusServers,
    pub processes: Arc<dyn Processes>,
    pub again: BTreeSet<Hint>,
    pub watch_problems: Vec<Problem>,
}

/// Who learns of changes, and who waits for an answer.
pub(super) struct Faces {
    pub subscribers: Vec<Subscriber>,
    pub alert_subscribers: AlertSubscribers,
    /// The time of the next delta to a subscriber that pauses.
    pub serve_at: Option<Timestamp>,
    /// The socket for other programs, while this engine holds the store.
    pub socket: Option<Server>,
    /// The engine's own handle, for its socket.
    pub own: Handle,
    /// The other program that holds the store. Its end comes as a message.
    pub holder: Arc<Holder>,
    /// A user command or a removal changed the user edits here. Other programs must learn of it after it is stored.
    pub followers_pending: bool,
    pub waiting_hooks: WaitingHooks,
}

impl Faces {
    pub fn new(own: Handle) -> Self {
        Self {
            subscribers: Vec::new(),
            alert_subscribers: AlertSubscribers::default(),
            serve_at: None,
            socket: None,
            own,
            holder: Arc::default(),
            followers_pending: false,
            waiting_hooks: WaitingHooks::default(),
        }
    }
}

/// The store and the history.
pub(super) struct Stored {
    pub persist: Option<Persist>,
    /// Stores texts and prompts after the first look.
    pub history_thread: Option<HistoryThread>,
    pub reach: Arc<HistoryProgress>,
    /// The last reported problem of the store.
    pub trouble: Option<Problem>,
}
