//! What the resolver is given, and what it gives back.

use std::sync::Arc;

use crate::evidence::registry::{Liveness, RegistryEntry};
use crate::hook::HookWitness;
use crate::ids::Instance;
use crate::roster::row::{PendingTool, Reason, Source};
use crate::session::state::{Confidence, State, StateKind, Timeouts};
use crate::status_file::StatusWitness;
use crate::time::{Millis, Timestamp};

/// Everything that is known of one session's state at one moment.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// The moment for which a verdict is asked.
    pub now: Timestamp,
    /// The transcript's reading; `None` while no transcript exists.
    pub transcript: Option<TranscriptWitness<'a>>,
    /// Registry files that name this session, with what the system says of their processes. The
    /// order does not matter. A process that only hooks name is one as well, with an entry that has no status
    /// (see [`RegistryEntry::unregistered`]).
    pub instances: &'a [InstanceWitness],
    /// The newest process that was seen with this session and no longer is.
    pub gone: Option<&'a GoneInstance>,
    /// The registry's folder exists and could be read, so that a missing file means a missing process.
    pub registry_readable: bool,
    /// The client that wrote the transcript keeps a registry file for as long as it runs
    /// (see [`expects_registry`](crate::evidence::registry::expects_registry)).
    pub expects_registry: bool,
    /// What the hooks of the process that runs the session say
    /// (see [`HookFold::witness`](crate::hook::HookFold::witness)).
    pub hooks: Option<&'a HookWitness>,
    /// What a status file of this session says.
    pub status_file: Option<&'a StatusWitness>,
    /// The newest child of the agent's process that a tool call may have started.
    pub child: Option<ChildWitness>,
    /// Whether processes, hooks and registry count at all. Without them files speak alone, as for
    /// a question about the past.
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
    /// In words, for the person.
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
}

/// A child process of the agent: begun after a call, it says that the call runs and asks nobody.
///
/// Only a child that lasts counts: hooks, status lines and servers of the model context protocol are children as well. The
/// caller names none that it knows to be one of those, and none younger than [`CHILD_LASTS`].
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
    /// What the file says.
    pub entry: RegistryEntry,
    /// What the system says of the process.
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
    /// A process runs this session, as far as anyone can tell.
    pub live: bool,
    /// How many processes run it; more than one deserves a problem.
    pub processes: usize,
    /// While the person is asked: the call that it is about, as far as known. It may be a subagent's.
    pub ask: Option<PendingTool>,
    /// The earliest time at which the verdict can change without a new fact.
    pub next: Option<Timestamp>,
    /// Every witness that was heard, winner first.
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
    /// The process that it speaks of.
    pub pid: Option<u32>,
    /// In words, for the person.
    pub detail: Arc<str>,
    /// How sure it is.
    pub confidence: Confidence,
    /// It decided.
    pub winner: bool,
}
