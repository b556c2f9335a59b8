//! The agent's live registry: one file `sessions/<pid>.json` for each running process.
//!
//! Undocumented by the vendor, measured with client 2.1.329: rewritten in place, so that a reader may
//! meet an empty file or the tail of a longer old text; `sessionId` changes in place on `/clear` and
//! `/resume`; the file of a killed process stays with its last status.

use std::sync::Arc;

use crate::ids::{Instance, SessionId};
use crate::time::Timestamp;

/// What one registry file says.
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

/// What the system says of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Liveness {
    /// It runs, and its start time is the one that the registry names.
    Alive,
    /// It is gone, a zombie, or its id belongs to another process by now.
    Dead,
    /// It cannot be judged from here: another pid domain, or no right to look.
    Unknown,
}
