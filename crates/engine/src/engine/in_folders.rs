//! What lies in the working folders of sessions: markers, status files, and the repository around them.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use watchbill_core::ids::SessionId;
use watchbill_core::status_file::StatusWitness;

use super::{Due, Engine, main_of};
use crate::folders::{FolderLook, look};
use crate::input::Output;

impl Engine {
    /// From now on looks at working folders are asked for and come as inputs, instead of being taken within a step:
    /// a folder on a dead mount would stop the loop.
    pub fn look_elsewhere(&mut self) {
        self.looks_elsewhere = true;
    }

    /// The working folders of all sessions may hold markers and status files; those in use may get some.
    pub(super) fn add_folders(&mut self, out: &mut Vec<Output>) {
        let oldest = self.now - self.settings.recent;
        let mut looks = Vec::new();
        let dirty = std::mem::take(&mut self.dirty);
        // Many sessions work in one folder, and a folder takes longer to find than its name.
        let mut added_already: HashSet<(&str, bool)> = HashSet::new();
        for id in &dirty {
            let Some(main) = self.sessions.get(id).and_then(|session| main_of(session, &self.files)) else {
                continue;
            };
            let Some(fold) = main.1.main() else { continue };
            let recent = fold.last_activity_at().is_some_and(|at| at >= oldest);
            let in_use = recent || self.registry.all().any(|witness| witness.entry.session == *id);
            for cwd in &fold.lineage().cwds {
                if !added_already.insert((cwd, in_use)) {
                    continue;
                }
                let added = self.folders.add(cwd, in_use, self.now);
                out.extend(added.unwatch.map(Output::UnwatchFolder));
                out.extend(added.watch.map(Output::WatchFolder));
                looks.extend(added.look);
            }
        }
        // Nobody works where all sessions are at rest.
        for cwd in std::mem::take(&mut self.resting.cwds_due) {
            looks.extend(self.folders.add(&cwd, false, self.now).look);
        }
        self.dirty = dirty;
        for folder in looks {
            self.look_at_folder(&folder, out);
        }
    }

    pub(super) fn look_around(&mut self, path: &Path, out: &mut Vec<Output>) {
        for folder in self.folders.concerned(path) {
            self.look_at_folder(&folder, out);
        }
    }

    pub(super) fn look_at_all_folders(&mut self, out: &mut Vec<Output>) {
        let folders: Vec<PathBuf> = self.folders.all().cloned().collect();
        for folder in folders {
            self.look_at_folder(&folder, out);
        }
    }

    pub(super) fn look_at_folder(&mut self, folder: &Path, out: &mut Vec<Output>) {
        if self.looks_elsewhere {
            out.push(Output::LookAtFolder(folder.to_path_buf()));
            return;
        }
        let fs = Arc::clone(&self.world.fs);
        self.take_looks(vec![look(&*fs, folder)]);
    }

    /// Takes in what looks at working folders found.
    pub(super) fn take_looks(&mut self, looks: Vec<FolderLook>) {
        let mut moved: BTreeSet<PathBuf> = BTreeSet::new();
        for look in looks {
            let (new, again) = self.markers.take(&look, self.now);
            let (changed, soon) = self.status_files.take(&look, self.now);
            self.chains_dirty |= new;
            if new {
                self.keeping.markers();
            }
            self.problems_dirty = true;
            self.dirty.extend(changed);
            let again = again.into_iter().chain(soon).min();
            self.retry(&look.folder, Due::Folder(look.folder.clone()), again);
            if self.folders.set_repository(&look.folder, look.repository.as_deref()) {
                moved.insert(look.folder);
            }
        }
        if !moved.is_empty() {
            let works_there = |cwd: &Arc<str>| moved.contains(&crate::folders::folder_of(cwd));
            let concerned = self.sessions.keys().filter(|id| {
                let fold = self.fold(id);
                fold.and_then(|fold| fold.cwd()).is_some_and(works_there)
            });
            let concerned: Vec<_> = concerned.cloned().collect();
            self.touch(concerned);
        }
    }

    /// What a session's status file says; at a moment that was chosen, what it said by then.
    pub(super) fn status_file(&self, id: &SessionId) -> Option<&StatusWitness> {
        let said_by = |witness: &&StatusWitness| {
            let said = witness.file.updated.unwrap_or(witness.modified);
            self.outlook.until.is_none_or(|until| said <= until)
        };
        self.status_files.of(id).filter(said_by)
    }
}
