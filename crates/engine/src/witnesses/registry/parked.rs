//! Processes that parked their session, and the background jobs in which the work goes on.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use watchbill_core::chain::lineage::RegistryMove;
use watchbill_core::evidence::registry::{Liveness, RegistryEntry};
use watchbill_core::evidence::witness::InstanceWitness;
use watchbill_core::ids::SessionId;
use watchbill_core::time::Timestamp;
use watchbill_watch::fs::Fs;

use super::{Registry, SIZE_LIMIT};

impl Registry {
    /// Lets the entry of a process that parked its session name the session in which the work goes on. The process
    /// shows that one, but its status says nothing about it. Gives the move.
    pub(super) fn follow_parked(
        &self,
        path: &Path,
        entry: &mut RegistryEntry,
        now: Timestamp,
        fs: &dyn Fs,
    ) -> Option<RegistryMove> {
        let parked = entry.parked.clone()?;
        let is_job = |witness: &&InstanceWitness| {
            witness.entry.job.as_ref() == Some(&parked.job) && witness.liveness != Liveness::Dead
        };
        let running = self.all().find(is_job).map(|witness| witness.entry.session.clone());
        let to =
            running.or_else(|| session_of_job(path, &parked.job, fs)).filter(|to| *to != entry.session)?;
        let from = std::mem::replace(&mut entry.session, to.clone());
        (entry.status, entry.status_at) = (None, None);
        let at = parked.at.map_or(now, |at| at.min(now));
        Some(RegistryMove { instance: entry.instance.clone(), from, to, at, parked: true })
    }

    /// The files of processes that were parked on this job, and whose entries do not name its session yet.
    pub(super) fn parked_on(&self, job: Option<&Arc<str>>, session: &SessionId) -> Vec<PathBuf> {
        let Some(job) = job else { return Vec::new() };
        let waits = |witness: &InstanceWitness| {
            witness.entry.session != *session
                && witness.entry.parked.as_ref().is_some_and(|parked| parked.job == *job)
        };
        let slots = self.slots.iter().filter(|(_, slot)| slot.witness.as_ref().is_some_and(waits));
        slots.map(|(path, _)| path.clone()).collect()
    }

    /// The process that parked a session whose work goes on in this one. Its terminal shows this one, or the client's
    /// list of agents.
    pub fn parked(&self, session: &SessionId) -> Option<&InstanceWitness> {
        self.all().find(|witness| {
            witness.entry.session == *session
                && witness.entry.parked.is_some()
                && witness.liveness != Liveness::Dead
        })
    }
}

/// The session of a background job, by the client's file `jobs/<job>/state.json`. It is there before the job's process.
fn session_of_job(registry_file: &Path, job: &str, fs: &dyn Fs) -> Option<SessionId> {
    let plain = !job.is_empty() && job.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let root = registry_file.parent()?.parent().filter(|_| plain)?;
    let bytes = fs.read_small(&root.join("jobs").join(job).join("state.json"), SIZE_LIMIT).ok()?;
    let state: serde_json::Value = serde_json::from_slice(&bytes).ok()?;
    let session = state.get("sessionId")?.as_str().filter(|id| !id.is_empty())?;
    Some(SessionId::new(session))
}
