//! The agent's live registry: one file `sessions/<pid>.json` for each running process.
//!
//! The vendor does not document it; measured with agent 2.1.329. The agent rewrites the file in place, so a reader
//! may see an empty file or the tail of a longer old text. `sessionId` changes in place on `/clear` and `/resume`.
//! The file of a killed process stays, with its last status.

use std::sync::Arc;

use sonic_rs::{JsonContainerTrait, JsonValueTrait, Object};

use crate::ids::{Instance, SessionId};
use crate::nesting::{Nesting, nesting};
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
    /// An entry for a process that no registry file names, but its hooks do: a process of an older client or of an
    /// SDK.
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

/// Reads one registry file.
///
/// Fields that are absent, empty or of an unexpected type are unknown, not errors; only a process id
/// and a session id are needed.
pub fn parse_registry(bytes: &[u8]) -> Result<RegistryEntry, RegistryError> {
    if nesting(bytes) == Nesting::TooDeep {
        return Err(RegistryError::NotAnEntry);
    }
    // The parser refuses text after the object, and should. A file rewritten in place with a shorter text keeps the
    // old tail for a moment, and the object before it may itself be a mixture of both.
    let value: sonic_rs::Value = sonic_rs::from_slice(bytes).map_err(|_| RegistryError::Torn)?;
    let object = value.as_object().ok_or(RegistryError::NotAnEntry)?;
    let pid = object
        .get(&"pid")
        .and_then(|pid| pid.as_u64())
        .and_then(|pid| u32::try_from(pid).ok())
        .ok_or(RegistryError::NotAnEntry)?;
    let session = text(object, "sessionId").ok_or(RegistryError::NotAnEntry)?;
    let status = text(object, "status").map(|word| match &*word {
        "busy" => RegistryStatus::Busy,
        "idle" => RegistryStatus::Idle,
        "shell" => RegistryStatus::Shell,
        "waiting" => RegistryStatus::Waiting(text(object, "waitingFor").unwrap_or_default()),
        _ => RegistryStatus::Unknown(word),
    });
    let named_by_user = text(object, "nameSource").is_some_and(|source| &*source == "user");
    Ok(RegistryEntry {
        instance: Instance { pid, proc_start: text(object, "procStart") },
        session: SessionId::new(&session),
        cwd: text(object, "cwd"),
        started_at: time(object, "startedAt"),
        status,
        status_at: time(object, "statusUpdatedAt").or_else(|| time(object, "updatedAt")),
        kind: text(object, "kind"),
        entrypoint: text(object, "entrypoint"),
        version: text(object, "version"),
        user_name: named_by_user.then(|| text(object, "name")).flatten(),
        pid_domain: text(object, "pidDomain"),
        tmux: text(object, "tmux"),
        job: text(object, "jobId"),
        parked: text(object, "parkedJobId").map(|job| Parked { job, at: time(object, "updatedAt") }),
        spare: object.get(&"spare").and_then(|spare| spare.as_bool()) == Some(true)
            || text(object, "kind").is_some_and(|kind| &*kind == "daemon"),
    })
}

/// A field as text: a number is taken as its digits, an empty text as absent.
fn text(object: &Object, field: &str) -> Option<Arc<str>> {
    let value = object.get(&field)?;
    match value.as_str() {
        Some(text) => (!text.is_empty()).then(|| Arc::from(text)),
        None => value.as_u64().map(|number| Arc::from(number.to_string())),
    }
}

/// A field as a time: milliseconds since the epoch, or RFC 3339.
fn time(object: &Object, field: &str) -> Option<Timestamp> {
    let value = object.get(&field)?;
    value.as_i64().map(Timestamp::from_millis).or_else(|| value.as_str().and_then(Timestamp::parse))
}

/// Whether the agent keeps a registry file with a status for as long as it runs.
///
/// Only then does a missing file mean something. Interactive agents do since 2.1.139. Print mode and stream-json
/// (`sdk-cli`) do in 2.1.329, the first version in which that was measured. Other SDK sessions write a file without a
/// status, or none.
pub fn expects_registry(version: Option<&str>, entrypoint: Option<&str>) -> bool {
    let since = match entrypoint {
        Some("cli") => (2, 1, 139),
        Some("sdk-cli") => (2, 1, 329),
        _ => return false,
    };
    let Some(version) = version else { return false };
    let mut parts = version.split('.').map(|part| {
        let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        part[..digits].parse::<u32>().unwrap_or(0)
    });
    let mut part = || parts.next().unwrap_or(0);
    (part(), part(), part()) >= since
}

/// Whether a `waitingFor` says that the turn asks the user. Any other word means that some dialog is open.
pub(super) fn names_a_request(what: &str) -> bool {
    matches!(what, "permission prompt" | "sandbox request" | "worker request" | "input needed")
}
