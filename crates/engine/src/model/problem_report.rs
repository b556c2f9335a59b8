//! Collects all current problems by source, and builds the published list.

use std::path::Path;
use std::sync::Arc;

use watchbill_core::problem::{Problem, ProblemKind};
use watchbill_protocol::roster::Problem as PublishedProblem;

use crate::world::problems::{Problems, published};

/// All current problems by source, and the published list.
pub(crate) struct ProblemReport {
    /// Problems met while files and hooks were read.
    met: Problems,
    scan: Vec<Problem>,
    /// After a scan of everything was requested, a look renewed `scan`. The result of the requested scan may be older
    /// than the look.
    scan_renewed: bool,
    watching: Vec<Problem>,
    store: Option<Problem>,
    published: Arc<[PublishedProblem]>,
    /// The list must be built again.
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
    /// The problems met while files and hooks were read.
    pub fn met(&self) -> &Problems {
        &self.met
    }

    /// Like [`Self::met`], but mutable. After a change that must be published, call [`ProblemReport::touch`].
    pub fn met_mut(&mut self) -> &mut Problems {
        &mut self.met
    }

    /// Notes that the list must be built again by the end of the step.
    pub fn touch(&mut self) {
        self.dirty = true;
    }

    /// Whether the list must be built again.
    pub fn is_dirty(&self) -> bool {
        self.dirty
    }

    /// Ends the read problems of the file at `path`, because the file can be read now.
    pub fn can_be_read(&mut self, path: &Path) {
        self.dirty |= self.met.can_be_read(&path.to_string_lossy());
    }

    /// Removes the problems of one kind at `place`.
    pub fn clear(&mut self, place: &str, kind: ProblemKind) {
        self.dirty |= self.met.clear(place, kind);
    }

    /// Adds a problem with its own text.
    pub fn add(&mut self, place: &str, kind: ProblemKind, detail: &str) {
        self.met.add(&Arc::from(place), kind, 1, detail);
        self.dirty = true;
    }

    /// Adds problems from elsewhere.
    pub fn absorb(&mut self, problems: Problems) {
        self.dirty |= !problems.is_empty();
        self.met.absorb(problems);
    }

    /// Replaces the watcher's problems.
    pub fn set_watching(&mut self, problems: Vec<Problem>) {
        self.dirty |= self.watching != problems;
        self.watching = problems;
    }

    /// Sets the store's problem.
    pub fn set_store(&mut self, trouble: Option<Problem>) {
        self.dirty |= self.store != trouble;
        self.store = trouble;
    }

    /// Sets the problems of the first scan.
    pub fn set_scan(&mut self, problems: Vec<Problem>) {
        self.scan = problems;
        self.dirty = true;
    }

    /// Notes that a scan of everything was requested.
    pub fn begin_scan(&mut self) {
        self.scan_renewed = false;
    }

    /// Takes the problems of a scan of everything. Returns `false` if a look renewed the problems meanwhile and they
    /// differ. Then the result of the scan may be outdated, and another scan must decide.
    pub fn take_scan(&mut self, problems: Vec<Problem>) -> bool {
        let differs = self.scan != problems;
        if self.scan_renewed && differs {
            return false;
        }
        self.dirty |= differs;
        self.scan = problems;
        true
    }

    /// Whether a scan had problems below `path`.
    pub fn scan_failed_below(&self, path: &Path) -> bool {
        self.scan.iter().any(|problem| Path::new(&*problem.path).starts_with(path))
    }

    /// Replaces the problems at and below `path` with those of a newer look.
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

    /// Sets the places that have a problem of this kind. Removes this problem at all other places.
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

    /// Builds the list again, with the problems of working folders and settings. Says whether it changed.
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

    /// The published list.
    pub fn published(&self) -> &Arc<[PublishedProblem]> {
        &self.published
    }
}
