//! What an agent's live registry says of each running process. `watchbill_agents` reads it.

use std::sync::Arc;

use crate::ids::{Instance, SessionId};
use crate::time::Timestamp;

/// The content of one registry file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryEntry {
    /// The process.
    pub instance: Instance,
    /// The session that the process is on now.
    pub session: SessionId,
    /// `cwd` at launch.
    pub cwd: Option<Arc<str>>,
    /// `startedAt`.
    pub started_at: Option<Timestamp>,
    /// `status` with `waitingFor`; `None` when absent (SDK sessions) or empty.
    pub status: Option<RegistryStatus>,
    /// `statusUpdatedAt`, else `updatedAt`.
    pub status_at: Option<Timestamp>,
    /// `kind`: `interactive`, `bg`; an open set.
    pub kind: Option<Arc<str>>,
    /// `entrypoint`.
    pub entrypoint: Option<Arc<str>>,
    /// `version`.
    pub version: Option<Arc<str>>,
    /// `name` with `nameSource` `user`; a derived name is no title.
    pub user_name: Option<Arc<str>>,
    /// `pidDomain`: another domain's process ids mean nothing here.
    pub pid_domain: Option<Arc<str>>,
    /// `tmux`, for the terminal.
    pub tmux: Option<Arc<str>>,
    /// `jobId` of a background session.
    pub job: Option<Arc<str>>,
    /// `parkedJobId`: the process parked its session, whose work goes on in the background as this job.
    pub parked: Option<Parked>,
    /// `spare`, or `kind` `daemon`: a process that the client keeps ready, or that keeps others. It runs no session.
    pub spare: bool,
}

/// A session that was parked (measured with client 2.1.332).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parked {
    /// `parkedJobId`.
    pub job: Arc<str>,
    /// `updatedAt`.
    pub at: Option<Timestamp>,
}

impl RegistryEntry {
    /// Whether it says nothing of the session but who runs it, as a lock does.
    pub fn is_bare(&self) -> bool {
        self.cwd.is_none() && self.version.is_none()
    }

    /// An entry for a process that no registry file names, but its hooks do: a process of an older client or of an
    /// SDK. Also for one that keeps a session's file locked.
    pub fn unregistered(instance: Instance, session: SessionId) -> Self {
        Self {
            instance,
            session,
            cwd: None,
            started_at: None,
            status: None,
            status_at: None,
            kind: None,
            entrypoint: None,
            version: None,
            user_name: None,
            pid_domain: None,
            tmux: None,
            job: None,
            parked: None,
            spare: false,
        }
    }
}

/// `status`, with `waitingFor` folded in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RegistryStatus {
    /// `busy`.
    Busy,
    /// `idle`.
    Idle,
    /// `shell`: the turn is over, a background shell still runs.
    Shell,
    /// `waiting` for what `waitingFor` says: `permission prompt`, `input needed`, `dialog open`, ….
    Waiting(Arc<str>),
    /// A word that this program does not know: no evidence.
    Unknown(Arc<str>),
}

/// Whether a process runs, by the operating system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Liveness {
    /// It runs, and its start time is the one that the registry names.
    Alive,
    /// It is gone, a zombie, or its id belongs to another process by now.
    Dead,
    /// It cannot be judged from here: another pid domain, or no right to look.
    Unknown,
}

/// Why the bytes of a registry file gave no entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// The file was read in the middle of a rewrite: it is empty, cut, or has the tail of a longer old text. A later
    /// read helps.
    #[error("the registry file was read in the middle of a rewrite")]
    Torn,
    /// Complete JSON, but without a process id and a session id. Reading it again does not help.
    #[error("the file is no registry entry: it names no process and session")]
    NotAnEntry,
}

/// Whether a `waitingFor` says that the turn asks the user. Any other word means that some dialog is open.
pub(super) fn names_a_request(what: &str) -> bool {
    matches!(what, "permission prompt" | "sandbox request" | "worker request" | "input needed")
}
