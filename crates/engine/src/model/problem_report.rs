//! Everything that is wrong, by who says so, and the list of it as it is published.

use std::path::Path;
use std::sync::Arc;

use watchbill_core::problem::{Problem, ProblemKind};
use watchbill_protocol::roster::Problem as PublishedProblem;

use crate::problems::{Problems, published};

/// See the module.
pub(crate) struct ProblemReport {
    /// Met while files and hooks were read.
    met: Problems,
    scan: Vec<Problem>,
    /// They were looked at again since a scan of everything was asked for, which may have been before.
    scan_renewed: bool,
    watching: Vec<Problem>,
    store: Option<Problem>,
    published: Arc<[PublishedProblem]>,
    /// The list is to be made anew.
    dirty: bool,
}

impl Default for ProblemReport {
    fn default() -> Self {
        Self {
            met: Problems::default(),
            scan: Vec::new(),
            scan_renewed: false,
            watching: Vec::new(),
            store: None,
            published: Arc::from([]),
            dirty: true,
        }
    }
}

impl ProblemReport {
    /// What was met while files and hooks were read.
    pub fn met(&self) -> &Problems {
        &self.met
    }

    /// The same, to be changed. Whoever does says so by [`ProblemReport::touch`] where it is to be published.
    pub fn met_mut(&mut self) -> &mut Problems {
        &mut self.met
    }

    /// The list is to be made anew by the end of the step.
    pub fn touch(&mut self) {
        self.dirty = true;
    }

    /// Whether it is.
    pub fn is_dirty(&self) -> bool {
        self.dirty
    }

    /// The file at `path` can be read: whatever kept us from it is over.
    pub fn can_be_read(&mut self, path: &Path) {
        self.dirty |= self.met.can_be_read(&path.to_string_lossy());
    }

    /// One kind of problem at `place` is over.
    pub fn clear(&mut self, place: &str, kind: ProblemKind) {
        self.dirty |= self.met.clear(place, kind);
    }

    /// One more problem with words of its own.
    pub fn add(&mut self, place: &str, kind: ProblemKind, detail: &str) {
        self.met.add(&Arc::from(place), kind, 1, detail);
        self.dirty = true;
    }

    /// What was met elsewhere.
    pub fn absorb(&mut self, problems: Problems) {
        self.dirty |= !problems.is_empty();
        self.met.absorb(problems);
    }

    /// What the watcher says, all of it.
    pub fn set_watching(&mut self, problems: Vec<Problem>) {
        self.dirty |= self.watching != problems;
        self.watching = problems;
    }

    /// What is wrong with the store.
    pub fn set_store(&mut self, trouble: Option<Problem>) {
        self.dirty |= self.store != trouble;
        self.store = trouble;
    }

    /// What the first scan could not look at.
    pub fn set_scan(&mut self, problems: Vec<Problem>) {
        self.scan = problems;
        self.dirty = true;
    }

    /// A scan of everything is asked for.
    pub fn begin_scan(&mut self) {
        self.scan_renewed = false;
    }

    /// What a scan of everything could not look at. `false` when something else was found meanwhile: what was wrong then may
    /// be right by now, and only another scan tells.
    pub fn take_scan(&mut self, problems: Vec<Problem>) -> bool {
        let differs = self.scan != problems;
        if self.scan_renewed && differs {
            return false;
        }
        self.dirty |= differs;
        self.scan = problems;
        true
    }

    /// Whether a scan could not look at something below `path`.
    pub fn scan_failed_below(&self, path: &Path) -> bool {
        self.scan.iter().any(|problem| Path::new(&*problem.path).starts_with(path))
    }

    /// What a look at `path` could not look at, in place of what an earlier look could not.
    pub fn renew_scan(&mut self, path: &Path, now: Vec<Problem>) {
        self.scan_renewed = true;
        let before = self.scan.len();
        let over = |problem: &Problem| {
            let place = Path::new(&*problem.path);
            place.starts_with(path) || problem.kind == ProblemKind::Missing && path.starts_with(place)
        };
        self.scan.retain(|problem| !over(problem));
        self.dirty |= self.scan.len() != before || !now.is_empty();
        self.scan.extend(now);
        self.scan.sort();
    }

    /// At these places, and no others, there is a problem of this kind.
    pub fn set_places(&mut self, kind: ProblemKind, places: &[Arc<str>]) {
        let of_kind = self.met.list().filter(|problem| problem.kind == kind);
        let known: Vec<Arc<str>> = of_kind.map(|problem| problem.path).collect();
        for place in known.iter().filter(|place| !places.contains(place)) {
            self.met.clear(place, kind);
        }
        for place in places.iter().filter(|place| !known.contains(place)) {
            self.met.count(place, kind);
        }
    }

    /// Makes the list anew: with what working folders say, and the settings. Says whether it is another one.
    pub fn rebuild(&mut self, of_folders: Vec<Problem>, of_settings: &[Problem]) -> bool {
        self.dirty = false;
        let mut all = self.scan.clone();
        all.extend(of_folders);
        all.extend(self.met.list());
        all.extend(of_settings.iter().cloned());
        all.extend(self.watching.iter().chain(&self.store).cloned());
        let all = published(all);
        let changed = *all != *self.published;
        self.published = all.into();
        changed
    }

    /// As it is published.
    pub fn published(&self) -> &Arc<[PublishedProblem]> {
        &self.published
    }
}
