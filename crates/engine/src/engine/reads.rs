//! Reading one file: registry, transcript, companion.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use watchbill_core::problem::Problem;
use watchbill_watch::layout::{self, Place};
use watchbill_watch::tail::TailError;

use super::{Due, Engine, World};
use crate::input::Output;
use crate::registry::RegistryChange;
use crate::transcripts::{Fold, Loaded, ReadCount, STEP_BUDGET, TrackedFile};

impl Engine {
    /// Reads every registry file and notes which folders of them can be read: the first thing at a start.
    pub fn read_registries(&mut self, out: &mut Vec<Output>) {
        if !self.outlook.live {
            return;
        }
        self.note_registry_folders();
        for root in self.roots.clone() {
            let folder = root.join(layout::SESSIONS);
            for name in self.world.fs.list(&folder).unwrap_or_default() {
                let path = folder.join(&name.name);
                if let Some((_, Place::Registry { .. })) = self.place_of(&path) {
                    self.read_registry(&path, out);
                }
            }
        }
    }

    pub(super) fn note_registry_folders(&mut self) {
        for root in self.roots.clone() {
            let readable = self.world.fs.list(&root.join(layout::SESSIONS)).is_ok();
            if self.registry.set_readable(&root, readable) {
                let concerned =
                    self.sessions.iter().filter(|(_, session)| session.root.as_ref() == Some(&root));
                self.touch(concerned.map(|(id, _)| id.clone()).collect());
            }
        }
    }

    pub(super) fn read_registry(&mut self, path: &Path, out: &mut Vec<Output>) {
        if !self.outlook.live {
            return;
        }
        let World { fs, processes } = self.world.clone();
        let change = self.registry.read(path, self.now, &*fs, &*processes, &mut self.problems);
        self.problems_dirty = true;
        self.take_registry_change(Some(path), change, out);
    }

    pub(super) fn take_registry_change(
        &mut self,
        path: Option<&Path>,
        change: RegistryChange,
        out: &mut Vec<Output>,
    ) {
        if let Some(path) = path {
            self.retry(path, Due::RegistryFile(path.to_path_buf()), change.retry_at);
        }
        // Another file, below another root, may name the same process.
        let over = change.forget.into_iter().filter(|pid| change.watch == Some(*pid) || !self.is_heard(*pid));
        out.extend(over.map(Output::ForgetProcess));
        out.extend(change.watch.map(Output::WatchProcess));
        // A live process decides whether a superseded session comes back, so the chains depend on it.
        if change.lives {
            self.processes_differ(&change.sessions);
        }
        self.dirty.extend(change.sessions);
    }

    pub(super) fn read_meta(&mut self, path: &Path) {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return };
        let Some(stem) = name.strip_suffix(".meta.json") else { return };
        let transcript = path.with_file_name(format!("{stem}.jsonl"));
        if let Some(file) = self.files.get_mut(&transcript) {
            file.read_meta(&*self.world.fs, &transcript);
            self.after_agent_read(&transcript);
        }
    }

    pub(super) fn read_transcript(&mut self, path: &Path, place: Place, out: &mut Vec<Output>) {
        let (timeouts, until) = (self.settings.timeouts, self.outlook.until);
        let new = !self.files.contains(path);
        // The first scan reads it, unless that has been there already.
        if new && self.startup.put_off(path) {
            return;
        }
        if let Some(twin) = new.then(|| self.twin_of(path, &place)).flatten() {
            return self.read_transcript(&twin, place, out);
        }
        if !self.ready_to_read(path) {
            self.problems_dirty |= self.problems.can_be_read(&path.to_string_lossy());
            return;
        }
        let (keeps, exclude) = (self.keeps(), &self.settings.history.exclude);
        let file = self.files.get_or_make(path, || {
            let mut file = TrackedFile::new(place, timeouts, until).leaving_out(exclude);
            if keeps {
                file.note_new();
            }
            file
        });
        let before = file.main().map(|fold| fold.lineage().activity());
        let mut effects = Vec::new();
        self.work.reads += 1;
        let fs = Arc::clone(&self.world.fs);
        let read = file.read(&*fs, path, STEP_BUDGET, &mut self.scratch, &mut self.problems, &mut effects);
        match read {
            Ok(count) => {
                if new || count.restarted {
                    file.read_meta(&*fs, path);
                }
                self.count(count);
                if count.more {
                    out.push(Output::Again(vec![path.to_path_buf()]));
                }
                self.problems_dirty |= self.problems.can_be_read(&path.to_string_lossy());
                if new || count.bytes > 0 || count.restarted {
                    self.after_read(path, new || count.restarted, before);
                }
            }
            Err(TailError::Gone) => self.forget_file(path),
            Err(error) => {
                if new {
                    self.files.remove(path);
                } else {
                    // What was read before the error counts, or what it voided does not any more.
                    self.after_read(path, true, None);
                }
                self.problems.note_tail(path, &error);
                self.problems_dirty = true;
            }
        }
    }

    pub(super) fn count(&mut self, count: ReadCount) {
        self.work.bytes += count.bytes;
        self.work.records += count.records;
    }

    /// Takes in files that the first scan has read. Where they bear on very many sessions, to tie those takes longer the more
    /// there are, however few are new: so that waits until there are half as many again, or the scan ends, or something else
    /// needs it. Says whether chains may wait.
    pub(super) fn take_batch(&mut self, batch: Vec<Loaded>, out: &mut Vec<Output>) -> bool {
        let needed = self.chains_dirty || !self.tying.due.is_empty();
        // What was written while they were read need not wait for the next line.
        let hinted = batch.iter().map(|loaded| &loaded.path).filter(|path| self.startup.was_put_off(path));
        let hinted: Vec<PathBuf> = hinted.cloned().collect();
        if !hinted.is_empty() {
            out.push(Output::Again(hinted));
        }
        for loaded in batch {
            self.take_loaded(loaded);
        }
        let may_wait = self.startup.is_reading() && !needed;
        if may_wait && self.are_few_new() && std::mem::take(&mut self.chains_dirty) {
            self.startup.put_off_chains();
        }
        may_wait
    }

    /// Everything was read once: what rests wakes up, and what changes from now on is news.
    pub(super) fn end_first_scan(&mut self, problems: Vec<Problem>, out: &mut Vec<Output>) {
        if self.startup.take_chains_pending() {
            self.tie_all();
        }
        self.begin_waking();
        self.scan_problems = problems;
        self.problems_dirty = true;
        let put_off = self.startup.end_scan();
        if !self.chains_dirty {
            self.carry_snoozes();
        }
        self.revision += 1;
        if !put_off.is_empty() {
            out.push(Output::Again(put_off.into_iter().collect()));
        }
    }

    /// Takes files in without working anything off: the next step does.
    pub(crate) fn take_first(&mut self, batch: impl IntoIterator<Item = Loaded>) {
        for loaded in batch {
            self.take_loaded(loaded);
        }
    }

    pub(super) fn take_loaded(&mut self, loaded: Loaded) {
        let Loaded { path, file, problems, count } = loaded;
        self.work.reads += 1;
        self.count(count);
        self.problems_dirty |= !problems.is_empty();
        self.problems.absorb(problems);
        let Some(file) = file else { return };
        // Records without a time belong to the first one that has a time: when that is later, the session had not begun.
        let begun = match file.fold() {
            Fold::Main(fold) => fold.lineage().started_at.is_some(),
            Fold::Agent(fold) => fold.started_at().is_some(),
        };
        if self.outlook.until.is_some() && !begun {
            return;
        }
        self.files.insert(path.as_path().into(), file);
        self.after_read(&path, true, None);
    }
}
