//! The live registry: one file `sessions/<pid>.json` for each running process.
//!
//! The vendor does not document it; measured with agent 2.1.329. The agent rewrites the file in place, so a reader
//! may see an empty file or the tail of a longer old text. `sessionId` changes in place on `/clear` and `/resume`.
//! The file of a killed process stays, with its last status.

use std::sync::Arc;

use sonic_rs::{JsonContainerTrait, JsonValueTrait, Object};
use watchbill_core::evidence::registry::{Parked, RegistryEntry, RegistryError, RegistryStatus};
use watchbill_core::ids::{Instance, SessionId};
use watchbill_core::nesting::{Nesting, nesting};
use watchbill_core::time::Timestamp;

use crate::traits::is_since;

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
        instance: Instance { pid, proc_start: proc_start(object) },
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

/// The start of the process, in the form in which `platform` reads it from the system.
///
/// Linux has ticks since boot. macOS has the words of `ps -o lstart=` in UTC. On Windows the registry counts
/// hundreds of nanoseconds since 1601, and `platform` counts seconds since 1970. Read in the programs of 2.1.329 for these systems.
fn proc_start(object: &Object) -> Option<Arc<str>> {
    /// From 1601 to 1970, in seconds.
    const TO_EPOCH: u64 = 11_644_473_600;
    /// What .NET counts in local time since the year 1 is larger. It cannot be compared.
    const OF_DOTNET: u64 = 300_000_000_000_000_000;
    if let Some(since_1601) = text(object, "procStartFt").and_then(|text| text.parse::<u64>().ok()) {
        return Some((since_1601 / 10_000_000).checked_sub(TO_EPOCH)?.to_string().into());
    }
    let start = text(object, "procStart")?;
    match start.parse::<u64>() {
        Ok(ticks) => (ticks < OF_DOTNET).then_some(start),
        // `ps` pads the day of the month.
        Err(_) => Some(start.split_whitespace().collect::<Vec<_>>().join(" ").into()),
    }
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
    is_since(version, since)
}
