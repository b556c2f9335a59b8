//! From a hint to the files that have to be looked at.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustc_hash::FxHashSet;
use watchbill_core::problem::ProblemKind;
use watchbill_core::time::Timestamp;
use watchbill_watch::fs::FileKind;
use watchbill_watch::hints::Hint;
use watchbill_watch::layout::{self, Place};
use watchbill_watch::scan::{Found, Scan, canonical_roots, scan, scan_path};

use super::{Due, Engine, World};
use crate::files::FilePath;
use crate::input::Output;
use watchbill_settings::Settings;

/// The roots by their one true spelling.
pub(super) fn roots_of(world: &World, settings: &Settings) -> Vec<Arc<Path>> {
    canonical_roots(&*world.fs, &settings.roots).into_iter().map(Arc::from).collect()
}

impl Engine {
    pub(super) fn take_hints(&mut self, hints: BTreeSet<Hint>, out: &mut Vec<Output>) {
        if hints.contains(&Hint::Everything) {
            return self.rescan(out);
        }
        for hint in hints {
            match hint {
                Hint::Everything => {}
                Hint::Tree(path) => {
                    // A person who works in the folder around a root has both in one place.
                    self.look_around(&path, out);
                    self.look_at_tree(&path, out);
                }
                Hint::File(path) => {
                    self.look_around(&path, out);
                    let troubled = |problem: &watchbill_core::problem::Problem| {
                        Path::new(&*problem.path).starts_with(&path)
                    };
                    if self.scan_problems.iter().any(troubled) {
                        // What a scan could not look at may be gone, or well.
                        self.look_at_tree(&path, out);
                    } else {
                        self.look_at_file(&path, out);
                    }
                }
            }
        }
    }

    /// A half-written file is to be read again then, or needs no more reading.
    pub(super) fn retry(&mut self, path: &Path, due: Due, at: Option<Timestamp>) {
        match at {
            Some(at) => self.retries.insert(path.to_path_buf(), at),
            None => self.retries.remove(path),
        };
        self.deadlines.set(due, at);
    }

    pub(super) fn place_of(&self, path: &Path) -> Option<(&Arc<Path>, Place)> {
        let below = self.roots.iter().filter_map(|root| Some((root, layout::below(root, path)?)));
        // The innermost root, should one lie in another.
        let (root, relative) = below.max_by_key(|(root, _)| root.as_os_str().len())?;
        Some((root, layout::classify(relative)?))
    }

    pub(super) fn look_at_file(&mut self, path: &Path, out: &mut Vec<Output>) {
        let Some((_, place)) = self.place_of(path) else {
            // A folder whose rights have changed is hinted at as if it were a file.
            let below = self.roots.iter().any(|root| path.starts_with(root));
            if below && self.world.fs.stat(path).is_ok_and(|stat| stat.kind == FileKind::Dir) {
                self.look_at_tree(path, out);
            }
            return;
        };
        match place {
            Place::Registry { .. } => self.read_registry(path, out),
            Place::SubagentMeta { .. } => self.read_meta(path),
            Place::Transcript { .. } | Place::Subagent { .. } | Place::FlatSubagent { .. } => {
                self.read_transcript(path, place, out);
            }
            Place::Marker { .. } | Place::StatusFile { .. } => {}
        }
    }

    /// Looks at everything at or below `path`, and at every file known there that may be gone.
    pub(super) fn look_at_tree(&mut self, path: &Path, out: &mut Vec<Output>) {
        if !self.roots.iter().any(|root| path.starts_with(root)) {
            // A root that was missing may have another spelling now that it is there; what lies around a root
            // may hold anything of it.
            let roots = canonical_roots(&*self.world.fs, &self.settings.roots);
            let around = roots.iter().any(|root| root.starts_with(path) || path.starts_with(root));
            if around {
                self.rescan(out);
            }
            return;
        }
        let found = scan_path(&*self.world.fs, &self.roots, path);
        self.renew_scan_problems(path, found.problems);
        let missing = self.missing(&found.found, &|file| file.starts_with(path));
        let is_project = path.parent().is_some_and(|above| above.ends_with(layout::PROJECTS));
        if is_project && !missing.is_empty() && self.world.fs.stat(path).is_err() {
            // If it was a link, its files may be there under another name, which nobody will tell us.
            return self.rescan(out);
        }
        self.note_registry_folders();
        self.look_at_found(found.found, missing, out);
        let (files, fs) = (&self.files, &self.world.fs);
        self.problems.forget_unreadable(&|file| {
            file.starts_with(path) && !files.contains(file) && fs.stat(file).is_err()
        });
    }

    /// What a look at `path` could not look at, in place of what an earlier look could not.
    pub(super) fn renew_scan_problems(&mut self, path: &Path, now: Vec<watchbill_core::problem::Problem>) {
        self.scan_problems_renewed = true;
        let before = self.scan_problems.len();
        let over = |problem: &watchbill_core::problem::Problem| {
            let place = Path::new(&*problem.path);
            place.starts_with(path) || problem.kind == ProblemKind::Missing && path.starts_with(place)
        };
        self.scan_problems.retain(|problem| !over(problem));
        self.problems_dirty |= self.scan_problems.len() != before || !now.is_empty();
        self.scan_problems.extend(now);
        self.scan_problems.sort();
    }

    /// Lost events, a new root, a long sleep: everything is to be compared with what is known.
    pub(super) fn rescan(&mut self, out: &mut Vec<Output>) {
        self.scan_problems_renewed = false;
        if self.looks_elsewhere {
            out.push(Output::Rescan);
        } else {
            let found = scan(&*self.world.fs, &self.settings.roots);
            self.take_rescan(found, out);
        }
    }

    /// Compares everything that a scan has found with what is known. Hints may have told of more since the scan was
    /// taken: what it says of a file is only a reason to look at it.
    pub(super) fn take_rescan(&mut self, found: Scan, out: &mut Vec<Output>) {
        self.begin_waking();
        self.roots = roots_of(&self.world, &self.settings);
        if self.scan_problems_renewed && self.scan_problems != found.problems {
            // What was wrong then may be right by now, and nobody would tell: only another scan does.
            return self.rescan(out);
        }
        self.problems_dirty |= self.scan_problems != found.problems;
        self.scan_problems = found.problems;
        self.note_registry_folders();
        self.reconcile(found.found, out);
        let (files, fs) = (&self.files, &self.world.fs);
        self.problems.forget_unreadable(&|file| !files.contains(file) && fs.stat(file).is_err());
        self.look_at_all_folders(out);
        let change = self.registry.recheck(None, &*self.world.processes);
        self.take_registry_change(None, change, out);
        self.recheck_heard(None);
    }

    /// Of one file under two names, through a link, only the name counts that a scan finds first.
    pub(super) fn forget_twins(&mut self, found: &[Found], missing: &mut BTreeSet<PathBuf>) {
        if missing.is_empty() {
            return;
        }
        let ids: HashMap<_, _> =
            found.iter().map(|found| ((found.stat.id, found.path.file_name()), &found.path)).collect();
        let id = |path: &Path| self.world.fs.stat(path).ok().map(|stat| stat.id);
        let is_twin = |path: &&PathBuf| {
            let Some(id_now) = id(path).filter(|_| self.files.contains(path)) else { return false };
            // A file that was moved since the scan is where it is now, and nowhere else.
            ids.get(&(id_now, path.file_name())).is_some_and(|other| id(other) == Some(id_now))
        };
        let twins: Vec<PathBuf> = missing.iter().filter(is_twin).cloned().collect();
        for path in twins {
            self.forget_file(&path);
            missing.remove(&path);
        }
    }

    /// The known files, transcripts and registry, that were not found; `below` says where was looked.
    pub(super) fn missing(&self, found: &[Found], below: &dyn Fn(&Path) -> bool) -> BTreeSet<PathBuf> {
        // Compared as bytes: taking paths apart would cost more than all the rest.
        let here: FxHashSet<&OsStr> = found.iter().map(|found| found.path.as_os_str()).collect();
        let gone = |path: &&Path| !here.contains(path.as_os_str()) && below(path);
        let registry = self.registry.paths();
        let known = self.files.paths().chain(registry.iter().map(PathBuf::as_path));
        known.filter(gone).map(Path::to_path_buf).collect()
    }

    /// The transcripts of all sessions that the default roster shows, and of their subagents.
    pub(crate) fn shown_files(&self) -> impl Iterator<Item = PathBuf> {
        let shown = self.views[0].published.iter().filter_map(|row| self.sessions.get(&row.id));
        let files = shown.flat_map(|session| session.mains.iter().chain(session.agents.keys()));
        files.map(|path| path.to_path_buf())
    }

    /// The name under which a file that is new to us is known already.
    pub(super) fn twin_of(&self, path: &Path, place: &Place) -> Option<PathBuf> {
        let (Place::Transcript { session, .. } | Place::Subagent { session, .. }) = place else {
            return None;
        };
        let session = self.sessions.get(session)?;
        let id = self.world.fs.stat(path).ok()?.id;
        let mut names = session.mains.iter().chain(session.agents.keys());
        let same = |name: &&FilePath| {
            name.file_name() == path.file_name() && self.world.fs.stat(name).is_ok_and(|stat| stat.id == id)
        };
        names.find(same).map(|name| name.to_path_buf())
    }

    pub(super) fn look_at_found(
        &mut self,
        found: Vec<Found>,
        missing: BTreeSet<PathBuf>,
        out: &mut Vec<Output>,
    ) {
        let any_unreadable = self.problems.any_unreadable();
        for found in found {
            if self.is_unchanged(&found) {
                if any_unreadable {
                    self.problems_dirty |= self.problems.can_be_read(&found.path.to_string_lossy());
                }
                continue;
            }
            match found.place() {
                Some(Place::Registry { .. }) => self.read_registry(&found.path, out),
                Some(Place::SubagentMeta { .. }) => self.read_meta(&found.path),
                Some(Place::Marker { .. } | Place::StatusFile { .. }) | None => {}
                Some(place) => self.read_transcript(&found.path, place, out),
            }
        }
        for path in missing {
            if self.place_of(&path).is_some() {
                self.look_at_file(&path, out);
                continue;
            }
            // The root's link leads elsewhere by now.
            self.forget_file(&path);
            let change = self.registry.forget(&path, self.now);
            self.take_registry_change(Some(&path), change, out);
        }
    }
}
