//! The processes of a session: what the agent started and left, written down for the next host while it works.

use std::time::Duration;

use watchbill_drive::folder::Folder;

use crate::orphans;
use crate::process_names;
use crate::processes::{self, Process};

/// How often the processes are written down while the agent works.
const INTERVAL: Duration = Duration::from_secs(2);

/// The processes of a session.
pub struct Work {
    folder: Folder,
    scope: String,
    /// As last written to the file.
    written: Vec<Process>,
    /// The agent may have started processes since they were written down.
    goes_on: bool,
    /// When they were written down, in the time of the loop.
    looked: Duration,
    /// What is left of an ended agent, as last told.
    told: Vec<Process>,
}

impl Work {
    /// Before the agent starts.
    pub fn new(folder: Folder, session: &str) -> Self {
        let scope = process_names::scope(session);
        Self { folder, scope, written: Vec::new(), goes_on: false, looked: Duration::ZERO, told: Vec::new() }
    }

    /// The agent, while it runs, and all that descends from it.
    pub fn processes(&self) -> Vec<Process> {
        let mut all = processes::descendants(std::process::id(), &self.folder);
        let others = processes::of_scope(&self.scope);
        let others: Vec<Process> = others.into_iter().filter(|process| !all.contains(process)).collect();
        all.extend(others);
        all
    }

    /// Writes the agent down, right after its start.
    pub fn begins(&self, agent: Process) {
        orphans::remember(&self.folder, &[agent]);
    }

    /// The agent does something, and may start processes.
    pub fn goes_on(&mut self) {
        self.goes_on = true;
    }

    /// Writes down from time to time what the agent has started, while it works.
    pub fn look(&mut self, now: Duration, turn_runs: bool) {
        if !self.goes_on || now < self.looked + INTERVAL {
            return;
        }
        (self.looked, self.goes_on) = (now, turn_runs);
        let all = self.processes();
        if self.written != all {
            orphans::remember(&self.folder, &all);
            self.written = all;
        }
    }

    /// How long until the next look.
    pub fn next_look(&self, now: Duration) -> Option<Duration> {
        self.goes_on.then(|| (self.looked + INTERVAL).saturating_sub(now))
    }

    /// Whether the remaining processes are others than those that were told. They are written down then.
    pub fn has_changed(&mut self, left: &[Process]) -> bool {
        let has_changed = !left.is_empty() && self.told != left;
        if has_changed {
            self.told = left.to_vec();
            orphans::remember(&self.folder, left);
        }
        has_changed
    }
}
