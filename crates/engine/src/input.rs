//! Everything that can happen to the engine, and everything it can ask for: two closed lists.

use std::collections::BTreeSet;
use std::path::PathBuf;

use jiff::tz::TimeZone;
use watchbill_core::attention::Outcome;
use watchbill_core::hook::HookMessage;
use watchbill_core::ids::SessionId;
use watchbill_core::problem::Problem;
use watchbill_core::requests::request::{Request, RequestId};
use watchbill_core::time::Timestamp;
use watchbill_watch::hints::Hint;
use watchbill_watch::scan::{Found, Scan};

use crate::transcripts::Loaded;
use crate::witnesses::folders::FolderLook;
use watchbill_settings::Settings;

/// What can happen.
pub enum Input {
    /// These paths may have changed.
    Hints(BTreeSet<Hint>),
    /// Workers of the first scan have read these files.
    Loaded(Vec<Loaded>),
    /// Everything that a scan found, to be compared with what is known.
    Found(Vec<Found>),
    /// The first scan has ended, with what it could not look at.
    ScanEnded(Vec<Problem>),
    /// So many of the sessions at rest may get their rows: there is time.
    Wake(usize),
    /// A scan of everything that was asked for by [`Output::Rescan`].
    Rescanned(Scan),
    /// A process has ended; without an id, any may have.
    ProcessEnded(Option<u32>),
    /// A deadline has come.
    Deadline,
    /// Looks at working folders that were asked for.
    Folders(Vec<FolderLook>),
    /// Hook events of the agent, as they arrived.
    Hooks(Vec<HookMessage>),
    /// A hook process asks, and waits for the answer.
    Ask(Box<Request>, HookMessage),
    /// A hook process has printed its answer.
    Printed(RequestId),
    /// A hook process that asked has ended, or its connection.
    HookGone(RequestId),
    /// Every hook process that waits is to end with nothing.
    ReleaseAll,
    /// The watcher's own troubles, all of them.
    Watching(Vec<Problem>),
    /// The person wants it otherwise from now on.
    Settings(Box<Settings>),
    /// What the person wants of alerts, or looks at.
    Attention(AttentionInput),
}

/// What bears on alerts, though nothing of a session has changed.
pub enum AttentionInput {
    /// The machine's time zone is another one.
    Zone(TimeZone),
    /// No alerts until then; without a time, alerts again.
    Mute(Option<Timestamp>),
    /// The sessions whose window is in front.
    InFront(BTreeSet<SessionId>),
}

impl Input {
    /// In a word, for the log.
    pub fn word(&self) -> &'static str {
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
            Self::Ask(..) => "request",
            Self::Printed(_) | Self::HookGone(_) | Self::ReleaseAll => "end of a request",
            Self::Watching(_) => "watching",
            Self::Attention(_) => "attention",
            Self::Settings(_) => "settings",
        }
    }
}

/// What the engine asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// What the policy on who needs the person has to tell: an episode that began or ended, or other counts.
    Attention(Outcome),
    /// Tell when this process ends.
    WatchProcess(u32),
    /// This process needs no watching any more.
    ForgetProcess(u32),
    /// Tell of changes in this folder, which lies outside the roots.
    WatchFolder(PathBuf),
    /// This folder needs no watching any more.
    UnwatchFolder(PathBuf),
    /// Scan everything, wherever that does not stop the loop, after this moment.
    Rescan,
    /// Look at this working folder, wherever that does not stop the loop.
    LookAtFolder(PathBuf),
    /// Let the hook process of this request end with nothing.
    Release(RequestId),
    /// These files hold more than one step reads: send the hint again.
    Again(Vec<PathBuf>),
}
