//! Plays a recording: into a file system in memory, with fake processes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use watchbill_core::evidence::registry::Liveness;
use watchbill_core::ids::Instance;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_watch::hints::HintSet;
use watchbill_watch::mem::MemFs;
use watchbill_watch::process::FakeProcesses;

use crate::demo::replay::{Operation, Recording};
use crate::world::environment::Sources;

/// The file system and processes in which recordings are played.
#[derive(Clone)]
pub struct Stage {
    /// The files.
    pub fs: MemFs,
    /// The processes.
    pub processes: FakeProcesses,
    /// The claude folder.
    pub root: PathBuf,
    /// Hints about written files.
    pub hints: Arc<HintSet>,
}

impl Stage {
    /// An empty stage. Calls `wake` after each write.
    pub fn new(root: &Path, wake: impl Fn() + Send + Sync + 'static) -> Self {
        let fs = MemFs::new();
        fs.mkdir(root.join("projects"));
        fs.mkdir(root.join("sessions"));
        let hints = Arc::new(HintSet::new(wake));
        fs.connect(Arc::clone(&hints));
        Self { fs, processes: FakeProcesses::new(), root: root.to_path_buf(), hints }
    }

    /// The stage as the engine's `Sources`.
    pub fn world(&self) -> Sources {
        Sources { fs: Arc::new(self.fs.clone()), processes: Arc::new(self.processes.clone()) }
    }

    /// Starts every process of a recording.
    pub fn enter(&self, recording: &Recording) {
        for (pid, start) in recording.processes() {
            self.processes.set(Instance { pid, proc_start: Some(start) }, Liveness::Alive);
        }
    }

    /// Carries out one operation. Gives the process that ended, so that the caller can tell the engine.
    pub fn act(&self, recording: &Recording, at: Timestamp, operation: &Operation) -> Option<u32> {
        self.fs.set_now(at);
        match operation {
            Operation::Append { path, text } => self.fs.append(self.root.join(path), text.as_bytes()),
            Operation::Write { path, text } => self.fs.write(self.root.join(path), text.as_bytes()),
            Operation::Remove { path } => self.fs.remove(self.root.join(path)),
            Operation::Exit { pid } => {
                for (known, start) in recording.processes().into_iter().filter(|(known, _)| known == pid) {
                    let instance = Instance { pid: known, proc_start: Some(start) };
                    self.processes.set(instance, Liveness::Dead);
                }
                return Some(*pid);
            }
            Operation::Hook(_) | Operation::Mark(_) => {}
        }
        None
    }

    /// Carries out all operations up to `until` at once. Reports no ended processes.
    pub fn act_until(&self, recording: &Recording, until: Millis) {
        for (at, operation) in recording.operations.iter().take_while(|(at, _)| *at <= until) {
            self.act(recording, recording.begin + *at, operation);
        }
    }
}
