//! The events that the engine takes in, and the requests that it gives to the loop: two closed lists.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use jiff::tz::TimeZone;
use watchbill_agents::Root;
use watchbill_agents::traits::ServerStatus;
use watchbill_core::attention::AttentionEvent;
use watchbill_core::hook::HookMessage;
use watchbill_core::ids::SessionId;
use watchbill_core::problem::Problem;
use watchbill_core::requests::open::Asked;
use watchbill_core::requests::request::{Request, RequestId};
use watchbill_core::time::Timestamp;
use watchbill_watch::hints::Hint;
use watchbill_watch::scan::{Found, Scan};

use crate::transcripts::Loaded;
use crate::witnesses::folders::FolderLook;
use crate::witnesses::own::OwnInput;
use watchbill_settings::Settings;

/// An event for the engine.
pub enum Input {
    /// These paths may have changed.
    Hints(BTreeSet<Hint>),
    /// Workers of the first scan have read these files.
    Loaded(Vec<Loaded>),
    /// Everything that a scan found. The engine compares it with the files that it knows.
    Found(Vec<Found>),
    /// The first scan has ended. Holds the problems that the scan met.
    ScanEnded(Vec<Problem>),
    /// The loop is idle: make rows for up to this many sessions at rest.
    Wake(usize),
    /// A scan of everything, requested by [`Output::Rescan`].
    Rescanned(Scan),
    /// A process has ended; without an id, any process may have ended.
    ProcessEnded(Option<u32>),
    /// A deadline has come.
    Deadline,
    /// The results of requested looks at working folders.
    Folders(Vec<FolderLook>),
    /// Hook events of the agent, in order of arrival.
    Hooks(Vec<HookMessage>),
    /// A hook process has sent a request, and waits for the answer.
    Ask(Box<Request>, HookMessage),
    /// A hook process has printed its answer, or a host has taken it.
    Printed(RequestId),
    /// A hook process has ended after it asked, or its connection has ended.
    HookGone(RequestId),
    /// The answer to this request did not reach its host.
    Undelivered(RequestId),
    /// All requests that the holder of the store shows. For an engine that does not hold it.
    HolderRequests(BTreeMap<SessionId, Asked>),
    /// Every waiting hook process must end and print nothing.
    ReleaseAll,
    /// News of own sessions.
    Own(Vec<OwnInput>),
    /// A message of an agent's server.
    Server(ServerNews),
    /// All current problems of the watcher.
    Watching(Vec<Problem>),
    /// The user's new settings.
    Settings(Box<Settings>),
    /// The user muted or unmuted alerts, or looks at other sessions, or the time zone changed.
    Attention(AttentionInput),
}

/// News of the server of an agent that tells the states of sessions.
pub struct ServerNews {
    /// The agent's folder.
    pub root: Root,
    /// The news.
    pub word: ServerWord,
}

/// What is new of a server.
pub enum ServerWord {
    /// What it says of sessions.
    Statuses(Vec<ServerStatus>),
    /// A message that is not understood.
    NotUnderstood,
    /// The connection has ended.
    Gone,
}

/// An event that concerns alerts and what the user has looked at.
pub enum AttentionInput {
    /// The machine's time zone changed.
    Zone(TimeZone),
    /// No alerts until this time; `None` unmutes.
    Mute(Option<Timestamp>),
    /// The sessions whose window is in front.
    InFront(BTreeSet<SessionId>),
    /// The user looks at the terminal of a session.
    Looked(SessionId),
}

impl Input {
    /// A short name, for the log.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Hints(hints) if hints.contains(&Hint::Everything) => "look at everything",
            Self::Hints(_) => "hints",
            Self::Loaded(_) => "loaded files",
            Self::Found(_) => "found files",
            Self::ScanEnded(_) => "end of the scan",
            Self::Wake(_) => "sessions at rest",
            Self::Rescanned(_) => "scan of everything",
            Self::ProcessEnded(_) => "end of a process",
            Self::Deadline => "deadline",
            Self::Folders(_) => "working folders",
            Self::Hooks(_) => "hooks",
            Self::Ask(..) | Self::HolderRequests(_) => "request",
            Self::Own(_) => "sessions of your own",
            Self::Server(_) => "an agent's server",
            Self::Printed(_) | Self::HookGone(_) | Self::Undelivered(_) | Self::ReleaseAll => {
                "end of a request"
            }
            Self::Watching(_) => "watching",
            Self::Attention(_) => "attention",
            Self::Settings(_) => "settings",
        }
    }
}

/// A request of the engine to the loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// News of the attention policy: an episode began or ended, or the counts changed.
    Attention(AttentionEvent),
    /// Report the end of this process.
    WatchProcess(u32),
    /// Stop watching this process.
    ForgetProcess(u32),
    /// Report changes in this folder. It lies outside the roots.
    WatchFolder(PathBuf),
    /// Stop watching this folder.
    UnwatchFolder(PathBuf),
    /// Scan everything. The scan must begin after this request, and must not block the loop.
    Rescan,
    /// Look at this working folder. The look must not block the loop.
    LookAtFolder(PathBuf),
    /// Let the hook process of this request end and print nothing.
    Release(RequestId),
    /// Send hints for these files again: they have more new bytes than one step reads, they changed during the first
    /// scan, or they must be read from their beginning. Send the hints again.
    Again(Vec<PathBuf>),
}
