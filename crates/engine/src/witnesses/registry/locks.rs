//! Files that the process of a session keeps locked, and the servers that tell the states of these sessions.
//!
//! A locked file is an entry without a status of its own. The server's word becomes its status.

use std::collections::BTreeMap;
use std::path::Path;

use watchbill_agents::traits::ServerStatus;
use watchbill_core::evidence::registry::{Liveness, RegistryEntry};
use watchbill_core::evidence::witness::{Departure, InstanceWitness};
use watchbill_core::ids::SessionId;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_watch::fs::{FileKind, FileStat, Fs};
use watchbill_watch::process::{LockHolder, Processes};

use super::said::Said;
use super::{LONG, RETRIES, RETRY, Registry, RegistryChange};

/// `kind` of sessions that run without a terminal, behind the agent's own daemon (`sessions/<pid>.json` of agent 2.1.329).
pub const BACKGROUND: &str = "bg";
/// A process is younger than its file by no more than this: neither time is exact.
const LATER: Millis = Millis::from_secs(2);
/// Limit of sessions with a status. A server with more is faulty.
const MAX_SAID: usize = 4096;

/// Whose lock a file is.
pub struct SessionLock {
    /// The session.
    pub session: SessionId,
    /// The process that the file's name has.
    pub pid: Option<u32>,
}

impl Registry {
    /// Looks at the lock of a session.
    ///
    /// The file appears before it is locked, and no event reports the lock. So a new file is looked at again.
    pub fn look_at_lock(
        &mut self,
        path: &Path,
        SessionLock { session, pid }: SessionLock,
        now: Timestamp,
        fs: &dyn Fs,
        processes: &dyn Processes,
    ) -> RegistryChange {
        let Some(stat) = fs.stat(path).ok().filter(|stat| stat.kind == FileKind::File) else {
            return self.remove(path, now, Departure::LetGo);
        };
        match holder(pid, &stat, now, processes) {
            LockHolder::Unknown => self.drop_content(path),
            LockHolder::Free => {
                let slot = self.slots.entry(path.to_path_buf()).or_default();
                slot.torn = slot.torn.saturating_add(1);
                let is_new = slot.torn <= RETRIES && now.since(stat.mtime) <= LONG;
                let retry_at = (is_new && slot.witness.is_none()).then_some(now + RETRY);
                RegistryChange { retry_at, ..self.unlock(path, now, processes) }
            }
            LockHolder::Process { instance, age, in_terminal } => {
                let mut entry = RegistryEntry::unregistered(instance, session);
                let known = self.slots.get(path).and_then(|slot| slot.witness.as_ref());
                let known = known.filter(|known| known.entry.instance == entry.instance);
                // The age is not exact.
                entry.started_at = known.map_or(Some(now - age), |known| known.entry.started_at);
                entry.kind = (!in_terminal).then(|| BACKGROUND.into());
                add_status(&self.said, &mut entry);
                self.place(path, InstanceWitness { entry, liveness: Liveness::Alive, seen_at: now }, now)
            }
        }
    }

    /// The process of a lock has died, or it has left the session.
    fn unlock(&mut self, path: &Path, now: Timestamp, processes: &dyn Processes) -> RegistryChange {
        let Some(witness) = self.slots.get(path).and_then(|slot| slot.witness.as_ref()) else {
            return RegistryChange::default();
        };
        match processes.probe(&witness.entry.instance, None) {
            Liveness::Dead => self.recheck(Some(witness.entry.instance.pid), processes),
            Liveness::Alive | Liveness::Unknown => {
                self.note_departure(&witness.clone(), now, Departure::LetGo);
                self.drop_content(path)
            }
        }
    }

    /// Whether the process that held this lock is gone, or it was not locked yet. Then a sign of life is a reason to look again.
    pub fn is_unlocked(&self, path: &Path) -> bool {
        self.slots.get(path).is_some_and(|slot| {
            slot.witness.as_ref().is_none_or(|witness| witness.liveness == Liveness::Dead)
        })
    }

    /// Takes in the word of a server on a session.
    pub fn hear(&mut self, server: &Path, said: ServerStatus, now: Timestamp) -> RegistryChange {
        let ServerStatus { session, status, changed_at } = said;
        let known = self.said.contains_key(&session);
        match status {
            // An answer may be older than the news before it.
            _ if known && changed_at.is_some() => return RegistryChange::default(),
            Some(status) if known || self.said.len() < MAX_SAID => {
                let at = changed_at.map_or(now, |at| at.min(now));
                self.said.insert(session.clone(), Said { server: server.to_path_buf(), status, at });
            }
            _ => _ = self.said.remove(&session),
        }
        self.renew_statuses(vec![session])
    }

    /// A server no longer answers, so its words count no longer.
    pub fn server_gone(&mut self, server: &Path) -> RegistryChange {
        let gone = self.said.extract_if(.., |_, said| said.server == server);
        let sessions = gone.map(|(session, _)| session).collect();
        self.renew_statuses(sessions)
    }

    /// Gives the entries of locks the present words.
    fn renew_statuses(&mut self, sessions: Vec<SessionId>) -> RegistryChange {
        let Self { slots, said, .. } = self;
        for witness in slots.values_mut().filter_map(|slot| slot.witness.as_mut()) {
            if sessions.contains(&witness.entry.session) {
                add_status(said, &mut witness.entry);
                // The lock may be much older than the word.
                witness.seen_at = witness.seen_at.max(witness.entry.status_at.unwrap_or(witness.seen_at));
            }
        }
        RegistryChange { sessions, ..RegistryChange::default() }
    }
}

/// The process of a lock. A process that began after the file was written only has the id that the file names.
fn holder(pid: Option<u32>, stat: &FileStat, now: Timestamp, processes: &dyn Processes) -> LockHolder {
    match processes.lock_holder(stat.id, pid) {
        LockHolder::Process { age, .. } if pid.is_some() && now - age > stat.mtime + LATER => {
            LockHolder::Free
        }
        holder => holder,
    }
}

fn add_status(said: &BTreeMap<SessionId, Said>, entry: &mut RegistryEntry) {
    let said = said.get(&entry.session);
    entry.status = said.map(|said| said.status.clone());
    entry.status_at = said.map(|said| said.at);
}
