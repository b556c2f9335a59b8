//! Problems as they are published.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use watchbill_core::ids::SessionId;
use watchbill_core::problem::{Problem, ProblemKind};

use super::Engine;

impl Engine {
    /// What is wrong with the store, to be published with the other problems by the next step.
    pub fn note_store(&mut self, trouble: Option<Problem>) {
        if self.store_problem != trouble {
            self.store_problem = trouble;
            self.problems_dirty = true;
        }
    }

    pub(super) fn rebuild_problems(&mut self) -> bool {
        self.problems_dirty = false;
        self.note_double_processes();
        let mut all = self.scan_problems.clone();
        let folds = self.sessions.keys().filter_map(|id| self.fold(id));
        let cwds = folds.flat_map(|fold| &fold.lineage().cwds).chain(self.distant.cwds());
        all.extend(self.markers.problems(cwds));
        all.extend(self.status_files.problems());
        all.extend(self.problems.list());
        all.extend(self.settings.problems.iter().cloned());
        all.extend(self.watch_problems.iter().chain(&self.store_problem).cloned());
        let all = crate::problems::published(all);
        let changed = *all != *self.published_problems;
        self.published_problems = all.into();
        changed
    }

    pub(super) fn note_double_processes(&mut self) {
        let mut counts: BTreeMap<&SessionId, u32> = BTreeMap::new();
        for witness in self.registry.all() {
            if witness.liveness == watchbill_core::evidence::registry::Liveness::Alive {
                *counts.entry(&witness.entry.session).or_default() += 1;
            }
        }
        let doubles: BTreeSet<Arc<str>> =
            counts.into_iter().filter(|(_, n)| *n > 1).map(|(id, _)| Arc::from(id.as_str())).collect();
        let known: Vec<Arc<str>> = self
            .problems
            .list()
            .filter(|problem| problem.kind == ProblemKind::TwoProcesses)
            .map(|problem| problem.path)
            .collect();
        for path in known.iter().filter(|path| !doubles.contains(*path)) {
            self.problems.clear(path, ProblemKind::TwoProcesses);
        }
        for path in doubles.iter().filter(|path| !known.contains(path)) {
            self.problems.count(path, ProblemKind::TwoProcesses);
        }
    }
}
