//! The live registry: its files, their processes, and processes that change sessions.

pub mod locks;
mod parked;
mod said;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use watchbill_agents::registry::parse_registry;
use watchbill_core::chain::lineage::RegistryMove;
use watchbill_core::evidence::registry::{Liveness, RegistryEntry, RegistryError};
use watchbill_core::evidence::witness::{Departure, GoneInstance, InstanceWitness};
use watchbill_core::ids::SessionId;
use watchbill_core::problem::{Problem, ProblemKind};
use watchbill_core::time::{Millis, Timestamp};
use watchbill_watch::fs::{Fs, NotRegular, is_gone, problem_of};
use watchbill_watch::process::Processes;

use crate::world::problems::Problems;
use said::Said;

/// A torn file is read again after this time. The agent rewrites it in place, in one write.
const RETRY: Millis = Millis(50);
/// After this many torn reads in a row, the file counts as malformed. It is still read after its next change.
const RETRIES: u32 = 20;
/// If the last write of a torn file is longer ago, its writer has ended.
const LONG: Millis = Millis(1_000);
/// Limit of moves. Users clear and resume by hand, so only a faulty program makes more. The oldest are dropped, to
/// bound the memory.
const MAX_MOVES: usize = 4096;
/// Limit of sessions whose process has left.
const MAX_GONE: usize = 16_384;
/// No registry file of the agent is near this size.
const SIZE_LIMIT: u64 = 256 << 10;

/// All registry files, by path.
#[derive(Debug, Default)]
pub struct Registry {
    slots: BTreeMap<PathBuf, Slot>,
    /// The last process that left each session.
    gone: BTreeMap<SessionId, GoneInstance>,
    moves: Vec<RegistryMove>,
    /// The folder in which the agent works when we ask it as a model.
    own_folder: Option<PathBuf>,
    /// Whether each root's folder `sessions/` could be listed.
    readable: BTreeMap<PathBuf, bool>,
    /// What the servers of agents say of sessions.
    said: BTreeMap<SessionId, Said>,
}

#[derive(Debug, Default)]
struct Slot {
    witness: Option<InstanceWitness>,
    /// The time of its status as the file has it.
    written_at: Option<Timestamp>,
    torn: u32,
}

impl Slot {
    /// A process writes its statuses one after another. One with an earlier time than the last was written after the clock had
    /// been set back, so the time of reading counts.
    fn put_in_order(&mut self, new: &mut InstanceWitness) {
        let written_at = std::mem::replace(&mut self.written_at, new.entry.status_at);
        let Some(before) = self.witness.as_ref().filter(|old| old.entry.instance == new.entry.instance)
        else {
            return;
        };
        if new.entry.status_at == written_at {
            new.entry.status_at = before.entry.status_at;
        } else if new.entry.status_at < before.entry.status_at {
            new.entry.status_at = Some(new.seen_at);
        }
    }
}

/// The effects of reading one file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct RegistryChange {
    /// Sessions whose evidence changed.
    pub sessions: Vec<SessionId>,
    /// Read the file again at this time.
    pub retry_at: Option<Timestamp>,
    /// A process to watch for its exit.
    pub watch: Option<u32>,
    /// Processes to watch no longer.
    pub forget: Vec<u32>,
    /// A process, its session or its terminal changed, and not only a status. The chains depend on that.
    pub lives: bool,
}

impl Registry {
    /// A process that works in this folder is none of the user's sessions.
    pub fn hide(&mut self, own_folder: Option<PathBuf>) {
        self.own_folder = own_folder;
    }

    fn is_own(&self, entry: &RegistryEntry, fs: &dyn Fs) -> bool {
        let (Some(own), Some(cwd)) = (&self.own_folder, entry.cwd.as_deref().map(Path::new)) else {
            return false;
        };
        cwd == own || (cwd.file_name() == own.file_name() && fs.canonical(own).is_ok_and(|own| cwd == own))
    }

    /// Reads one registry file, or removes one that is gone.
    pub fn read(
        &mut self,
        path: &Path,
        now: Timestamp,
        fs: &dyn Fs,
        processes: &dyn Processes,
        problems: &mut Problems,
    ) -> RegistryChange {
        let name: Arc<str> = Arc::from(path.to_string_lossy());
        let bytes = match fs.read_small(path, SIZE_LIMIT) {
            Ok(bytes) => bytes,
            Err(error) if is_gone(&error) => {
                problems.forget(&name);
                return self.remove(path, now, Departure::FileRemoved);
            }
            Err(error) if NotRegular::is_cause_of(&error) => {
                // Uses a scan's text, because a scan meets this problem too.
                problem_of(path, &error).into_iter().for_each(|problem| problems.set(problem));
                return self.drop_content(path);
            }
            Err(error) => {
                let kind = match error.kind() {
                    std::io::ErrorKind::PermissionDenied => ProblemKind::PermissionDenied,
                    _ => ProblemKind::Io,
                };
                let detail = format!(
                    "cannot read this registry file ({error}); its session is judged by the transcript alone"
                );
                problems.set(Problem { path: name, kind, count: 1, detail: Arc::from(detail) });
                return self.drop_content(path);
            }
        };
        match parse_registry(&bytes) {
            // A copied or restored file names a process that does not write it.
            Ok(entry) if pid_of(path).is_some_and(|pid| pid != entry.instance.pid) => {
                problems.set(misnamed(name, entry.instance.pid));
                self.drop_content(path)
            }
            Ok(entry) if entry.spare || self.is_own(&entry, fs) => {
                problems.forget(&name);
                self.drop_content(path)
            }
            Ok(mut entry) => {
                problems.forget(&name);
                let liveness = processes.probe(&entry.instance, entry.pid_domain.as_deref());
                let parked = self.follow_parked(path, &mut entry, now, fs);
                let (job, session) = (entry.job.clone(), entry.session.clone());
                let mut change = self.place(path, InstanceWitness { entry, liveness, seen_at: now }, now);
                if let Some(parked) = parked
                    && !self
                        .moves
                        .iter()
                        .any(|seen| seen.parked && seen.from == parked.from && seen.to == parked.to)
                {
                    change.sessions.push(parked.from.clone());
                    change.lives = true;
                    self.note_move(parked);
                }
                // A process that was parked before the job had a file.
                for waits in self.parked_on(job.as_ref(), &session) {
                    let more = self.read(&waits, now, fs, processes, problems);
                    change.sessions.extend(more.sessions);
                    change.lives |= more.lives;
                }
                change
            }
            Err(RegistryError::Torn) => {
                let slot = self.slots.entry(path.to_path_buf()).or_default();
                slot.torn += 1;
                // If the last write is long ago, its writer has ended, so the rest will not come.
                let stale = fs.stat(path).is_ok_and(|stat| now.since(stat.mtime) > LONG);
                if slot.torn <= RETRIES && !stale {
                    return RegistryChange { retry_at: Some(now + RETRY), ..RegistryChange::default() };
                }
                problems.set(malformed(name));
                self.drop_content(path)
            }
            Err(RegistryError::NotAnEntry) => {
                problems.set(malformed(name));
                self.drop_content(path)
            }
        }
    }

    fn note_move(&mut self, seen: RegistryMove) {
        if self.moves.len() >= MAX_MOVES {
            self.moves.drain(..MAX_MOVES / 8);
        }
        self.moves.push(seen);
    }

    /// The file has no usable content. Its earlier content does not stay true for ever either.
    fn drop_content(&mut self, path: &Path) -> RegistryChange {
        // Keep the slot, so that a rescan knows the path.
        let Some(witness) = self.slots.entry(path.to_path_buf()).or_default().witness.take() else {
            return RegistryChange::default();
        };
        RegistryChange {
            sessions: vec![witness.entry.session],
            forget: vec![witness.entry.instance.pid],
            lives: true,
            ..RegistryChange::default()
        }
    }

    fn place(&mut self, path: &Path, mut witness: InstanceWitness, now: Timestamp) -> RegistryChange {
        let mut change = RegistryChange::default();
        self.slots.entry(path.to_path_buf()).or_default().put_in_order(&mut witness);
        let session = witness.entry.session.clone();
        let pid = witness.entry.instance.pid;
        let alive = witness.liveness != Liveness::Dead;
        let parked = witness.entry.parked.is_some();
        let slot = self.slots.entry(path.to_path_buf()).or_default();
        slot.torn = 0;
        let before = slot.witness.replace(witness);
        change.lives = true;
        if let Some(before) = before {
            let same_process =
                slot.witness.as_ref().is_some_and(|new| new.entry.instance == before.entry.instance);
            let same_words = slot
                .witness
                .as_ref()
                .is_some_and(|new| new.entry == before.entry && new.liveness == before.liveness);
            if same_words {
                // A rewrite with the same content is no news, so keep the first time.
                if let Some(new) = &mut slot.witness {
                    new.seen_at = before.seen_at;
                }
                return RegistryChange::default();
            }
            change.lives = !slot.witness.as_ref().is_some_and(|new| {
                new.entry.session == before.entry.session
                    && new.entry.tmux == before.entry.tmux
                    && new.liveness == before.liveness
                    && same_process
            });
            if before.entry.session != session {
                let how = if same_process { Departure::MovedOn } else { Departure::FileLeft };
                self.note_departure(&before, now, how);
                change.sessions.push(before.entry.session.clone());
                if same_process && !parked {
                    self.note_move(RegistryMove {
                        instance: before.entry.instance.clone(),
                        from: before.entry.session.clone(),
                        to: session.clone(),
                        at: now,
                        parked: false,
                    });
                }
            }
            if !same_process {
                change.forget.push(before.entry.instance.pid);
                change.watch = alive.then_some(pid);
            } else if before.liveness == Liveness::Dead {
                change.watch = alive.then_some(pid);
            } else if !alive {
                change.forget.push(pid);
            }
        } else {
            change.watch = alive.then_some(pid);
        }
        if alive {
            self.gone.remove(&session);
        }
        change.sessions.push(session);
        change
    }

    fn note_departure(&mut self, witness: &InstanceWitness, at: Timestamp, how: Departure) {
        let gone = GoneInstance { instance: witness.entry.instance.clone(), at, how };
        if self.gone.len() >= MAX_GONE {
            let mut times: Vec<Timestamp> = self.gone.values().map(|gone| gone.at).collect();
            times.sort_unstable();
            let oldest = times[times.len() / 8];
            self.gone.retain(|_, gone| gone.at > oldest);
        }
        self.gone.insert(witness.entry.session.clone(), gone);
    }

    fn remove(&mut self, path: &Path, now: Timestamp, how: Departure) -> RegistryChange {
        let Some(witness) = self.slots.remove(path).and_then(|slot| slot.witness) else {
            return RegistryChange::default();
        };
        self.note_departure(&witness, now, how);
        RegistryChange {
            sessions: vec![witness.entry.session.clone()],
            forget: vec![witness.entry.instance.pid],
            lives: true,
            ..RegistryChange::default()
        }
    }

    /// The file now lies outside every root.
    pub fn forget(&mut self, path: &Path, now: Timestamp) -> RegistryChange {
        self.remove(path, now, Departure::FileRemoved)
    }

    /// A process may have ended: asks the system again for every file that names it.
    pub fn recheck(&mut self, pid: Option<u32>, processes: &dyn Processes) -> RegistryChange {
        let mut change = RegistryChange::default();
        for slot in self.slots.values_mut() {
            let Some(witness) = &mut slot.witness else { continue };
            if pid.is_some_and(|pid| pid != witness.entry.instance.pid) || witness.liveness == Liveness::Dead
            {
                continue;
            }
            let liveness = processes.probe(&witness.entry.instance, witness.entry.pid_domain.as_deref());
            if liveness != witness.liveness {
                witness.liveness = liveness;
                change.lives = true;
                change.sessions.push(witness.entry.session.clone());
                if liveness == Liveness::Dead {
                    change.forget.push(witness.entry.instance.pid);
                }
            }
        }
        change
    }

    /// Notes whether the registry folder of `root` can be listed. Says whether that changed.
    pub fn set_readable(&mut self, root: &Path, readable: bool) -> bool {
        self.readable.insert(root.to_path_buf(), readable) != Some(readable)
    }

    /// Whether a missing file below `root` means a missing process.
    pub fn readable(&self, root: &Path) -> bool {
        self.readable.get(root).copied().unwrap_or(false)
    }

    /// The witnesses of one session.
    pub fn witnesses(&self, session: &SessionId) -> Vec<InstanceWitness> {
        self.all().filter(|witness| witness.entry.session == *session).cloned().collect()
    }

    /// Every witness.
    pub fn all(&self) -> impl Iterator<Item = &InstanceWitness> {
        self.slots.values().filter_map(|slot| slot.witness.as_ref())
    }

    /// Whether a process of this id is known to run.
    pub fn runs(&self, pid: u32) -> bool {
        self.all().any(|witness| witness.entry.instance.pid == pid && witness.liveness == Liveness::Alive)
    }

    /// The number of known files.
    pub fn count(&self) -> usize {
        self.slots.len()
    }

    /// Whether a file is known.
    pub fn contains(&self, path: &Path) -> bool {
        self.slots.contains_key(path)
    }

    /// The paths of all known files, for a rescan.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.slots.keys().cloned().collect()
    }

    /// The last process that left a session.
    pub fn gone(&self, session: &SessionId) -> Option<&GoneInstance> {
        self.gone.get(session)
    }

    /// Restores the moves of an earlier run, because no file holds them.
    pub fn restore_moves(&mut self, mut moves: Vec<RegistryMove>) {
        moves.append(&mut self.moves);
        self.moves = moves;
    }

    /// All moves: processes that changed sessions.
    pub fn moves(&self) -> &[RegistryMove] {
        &self.moves
    }
}

/// The process id in a file's name.
fn pid_of(path: &Path) -> Option<u32> {
    path.file_stem()?.to_str()?.parse().ok()
}

fn misnamed(path: Arc<str>, pid: u32) -> Problem {
    let detail = format!(
        "names process {pid}, which is not the one in the file's name; it was ignored. If no agent has the id in \
         the name, remove the file"
    );
    Problem { path, kind: ProblemKind::MalformedRegistry, count: 1, detail: Arc::from(detail) }
}

fn malformed(path: Arc<str>) -> Problem {
    let detail = "stays unreadable; the state of its session comes from the transcript alone";
    Problem { path, kind: ProblemKind::MalformedRegistry, count: 1, detail: Arc::from(detail) }
}
