//! Input and output of the resolver.

use std::sync::Arc;

use crate::evidence::registry::{Liveness, RegistryEntry};
use crate::hook::HookWitness;
use crate::ids::Instance;
use crate::own::witness::OwnWitness;
use crate::roster::row::{PendingTool, Reason, Source};
use crate::session::state::{Confidence, State, StateKind, Timeouts};
use crate::status_file::StatusWitness;
use crate::time::{Millis, Timestamp};

/// All evidence of one session's state at one moment.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// The moment for which a verdict is asked.
    pub now: Timestamp,
    /// The transcript's reading; `None` while no transcript exists.
    pub transcript: Option<TranscriptWitness<'a>>,
    /// Registry files that name this session, with the liveness of their processes, in any order. A process that only
    /// hooks name is listed too, with an entry that has no status (see [`RegistryEntry::unregistered`]).
    pub instances: &'a [InstanceWitness],
    /// The newest process that was seen with this session and no longer is.
    pub gone: Option<&'a GoneInstance>,
    /// The registry's folder exists and could be read, so that a missing file means a missing process.
    pub registry_readable: bool,
    /// The agent that wrote the transcript keeps a registry file for as long as it runs.
    pub expects_registry: bool,
    /// What the hooks of the process that runs the session say
    /// (see [`HookFold::witness`](crate::hook::HookFold::witness)).
    pub hooks: Option<&'a HookWitness>,
    /// What the host of this session says, if it is one of our own.
    pub own: Option<&'a OwnWitness>,
    /// What a status file of this session says.
    pub status_file: Option<&'a StatusWitness>,
    /// The newest child of the agent's process that a tool call may have started.
    pub child: Option<ChildWitness>,
    /// Whether processes, hooks and registry count at all. Otherwise only files count, as for a question about the
    /// past.
    pub live: bool,
    /// The document's timeouts.
    pub timeouts: Timeouts,
}

/// What the fold of the transcript says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TranscriptWitness<'a> {
    /// The state.
    pub state: State,
    /// The kind within it.
    pub kind: Option<StateKind>,
    /// Since when.
    pub since: Timestamp,
    /// In words, for the user.
    pub detail: &'a str,
    /// The reading follows from silence, not from a record.
    pub by_timeout: bool,
    /// How sure it is.
    pub confidence: Confidence,
    /// Tool calls without a result, oldest first.
    pub pending: &'a [PendingTool],
    /// Time of the newest record that belongs to a turn.
    pub last_activity_at: Timestamp,
    /// When the newest prompt began a turn.
    pub prompt_at: Option<Timestamp>,
    /// It tells of a turn all that the hooks tell, two seconds later at most.
    pub follows_hooks: bool,
}

/// A child process of the agent. If it began after a call, that call runs and does not ask the user.
///
/// Only a child that lasts counts, because hooks, status lines and MCP servers are children as well. The caller
/// leaves out each child that it knows to be one of these, and each child younger than [`CHILD_LASTS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChildWitness {
    /// Its process id.
    pub pid: u32,
    /// When it began, by the wall clock.
    pub began: Timestamp,
}

/// How old a child must be before it counts: a hook's sender and a status line are gone by then.
pub const CHILD_LASTS: Millis = Millis(500);

/// One registry file and the process behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstanceWitness {
    /// The content of the file.
    pub entry: RegistryEntry,
    /// Whether the process runs, by the operating system.
    pub liveness: Liveness,
    /// When the file was first read with this content.
    pub seen_at: Timestamp,
}

/// A process that was seen with the session and no longer is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoneInstance {
    /// The process.
    pub instance: Instance,
    /// When its absence was noticed.
    pub at: Timestamp,
    /// How it went.
    pub how: Departure,
}

/// How a process left a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Departure {
    /// It removed its registry file, as every orderly end does.
    FileRemoved,
    /// It died and its file stayed.
    FileLeft,
    /// It no longer keeps the session's file locked. It may run other sessions.
    LetGo,
    /// It goes on with another session (`/clear`, `/resume`).
    MovedOn,
}

/// The resolver's answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// What the session is doing.
    pub state: State,
    /// What kind of that.
    pub kind: Option<StateKind>,
    /// Since when.
    pub since: Timestamp,
    /// Why.
    pub reason: Reason,
    /// The process, if one runs on this machine.
    pub pid: Option<u32>,
    /// Its terminal, as the registry names it.
    pub tmux: Option<Arc<str>>,
    /// A process runs this session, as far as the evidence shows.
    pub live: bool,
    /// How many processes run it. The caller reports more than one as a problem.
    pub processes: usize,
    /// While the user is asked: the call in question, as far as known. It may be a subagent's.
    pub ask: Option<PendingTool>,
    /// The earliest time at which the verdict can change without a new fact.
    pub next: Option<Timestamp>,
    /// Every witness, winner first.
    pub witnesses: Vec<Witness>,
}

/// One witness, as it would have spoken alone.
#[derive(Debug, Clone, PartialEq)]
pub struct Witness {
    /// What it is.
    pub source: Source,
    /// The state that it alone would have given; `None` when it says nothing of the state.
    pub state: Option<State>,
    /// The kind within it.
    pub kind: Option<StateKind>,
    /// When it said so.
    pub at: Option<Timestamp>,
    /// The process that it is about.
    pub pid: Option<u32>,
    /// In words, for the user.
    pub detail: Arc<str>,
    /// How sure it is.
    pub confidence: Confidence,
    /// It decided.
    pub winner: bool,
}
