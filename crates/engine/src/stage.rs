//! A recording on stage: a file system in memory and stand-in processes that act it out.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use watchbill_core::evidence::registry::Liveness;
use watchbill_core::ids::Instance;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_watch::hints::HintSet;
use watchbill_watch::mem::MemFs;
use watchbill_watch::process::FakeProcesses;

use crate::environment::World;
use crate::replay::{Operation, Recording};

/// Where a recording is acted out.
#[derive(Clone)]
pub struct Stage {
    /// The files.
    pub fs: MemFs,
    /// The processes.
    pub processes: FakeProcesses,
    /// The claude folder.
    pub root: PathBuf,
    /// Hints of what was written.
    pub hints: Arc<HintSet>,
}

impl Stage {
    /// An empty stage; `wake` is called when something was written.
    pub fn new(root: &Path, wake: impl Fn() + Send + Sync + 'static) -> Self {
        let fs = MemFs::new();
        fs.mkdir(root.join("projects"));
        fs.mkdir(root.join("sessions"));
        let hints = Arc::new(HintSet::new(wake));
        fs.connect(Arc::clone(&hints));
        Self { fs, processes: FakeProcesses::new(), root: root.to_path_buf(), hints }
    }

    /// The stage as the engine's world.
    pub fn world(&self) -> World {
        World { fs: Arc::new(self.fs.clone()), processes: Arc::new(self.processes.clone()) }
    }

    /// Every process of a recording runs from now on.
    pub fn enter(&self, recording: &Recording) {
        for (pid, start) in recording.processes() {
            self.processes.set(Instance { pid, proc_start: Some(start) }, Liveness::Alive);
        }
    }

    /// Acts one operation out. Says which process ended, so that the engine can be told.
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

    /// Everything up to `until` at once, without telling anybody.
    pub fn act_until(&self, recording: &Recording, until: Millis) {
        for (at, operation) in recording.operations.iter().take_while(|(at, _)| *at <= until) {
            self.act(recording, recording.begin + *at, operation);
        }
    }
}
