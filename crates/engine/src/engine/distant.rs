//! Sessions that ended before the default roster begins, of which the store knows nothing: one look reads their transcripts
//! and keeps none of them.
//!
//! What is folded from a hundred thousand transcripts takes half a gigabyte, and none of it is shown. So only that stays which
//! may tie a session to others (see [`Ties`]). What turns out to be tied to a session that may have a row, or to be named by a
//! process, a hook or a status file, is read once more and taken in like any other. So a marker in a folder costs a second
//! reading of whatever was done there.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use watchbill_core::chain::ties::Ties;
use watchbill_core::ids::SessionId;
use watchbill_core::session::resting::RestingFold;
use watchbill_core::time::Timestamp;

use super::{Engine, Work};
use crate::problems::Problems;
use crate::transcripts::{Fold, Loaded, Terms, load};

/// What is left of their transcripts.
#[derive(Default)]
pub(crate) struct Distant {
    sessions: FxHashMap<SessionId, Transcripts>,
    /// What may tie them to each other and, once somebody has asked, to the sessions that the engine holds.
    ties: Ties,
    /// The folders in which any of all these sessions has worked.
    cwds: FxHashSet<Arc<str>>,
    /// The sessions that the engine holds are among the ties.
    knows_held: bool,
    /// What was wrong with the transcripts, which is told whether or not they are kept.
    problems: Problems,
    work: Work,
}

/// The transcripts of one session.
#[derive(Default)]
struct Transcripts {
    paths: Vec<PathBuf>,
    /// One of them is its own: the session has a row, which is not shown.
    has_main: bool,
}

impl Distant {
    /// Takes in what was read of one transcript, or gives it back where it is to be kept.
    ///
    /// A subagent's transcript follows its session, and is given back as long as that is not distant by what is known so far.
    pub fn pass_over(&mut self, loaded: Loaded, oldest: Timestamp) -> Option<Loaded> {
        let Some(id) = loaded.file.as_ref().and_then(|file| match file.fold() {
            Fold::Main(fold) => is_over(fold, oldest).then(|| fold.lineage().session.clone()),
            Fold::Agent(_) => file.parent().filter(|parent| self.has(parent)),
        }) else {
            return Some(loaded);
        };
        let Loaded { path, file, problems, count } = loaded;
        let transcripts = self
            .sessions
            .entry(id)
            .or_insert_with(|| Transcripts { paths: Vec::with_capacity(1), has_main: false });
        transcripts.paths.push(path);
        if let Some(fold) = file.as_ref().and_then(|file| file.main()) {
            transcripts.has_main = true;
            self.ties.add(fold.lineage());
            add_cwds(&mut self.cwds, fold);
        }
        self.problems.absorb(problems);
        self.work.reads += 1;
        self.work.bytes += count.bytes;
        self.work.records += count.records;
        None
    }

    /// Whether the session's own transcript is among them.
    fn has(&self, id: &SessionId) -> bool {
        self.sessions.get(id).is_some_and(|transcripts| transcripts.has_main)
    }

    /// The folders in which they, and those that are held, have worked.
    pub(super) fn cwds(&self) -> impl Iterator<Item = &Arc<str>> {
        self.cwds.iter()
    }
}

/// Whether the session has begun, and was active last before `oldest`: it has a row that only a process brings into the
/// default roster. Of a session that has not begun only making the row tells.
pub(super) fn is_over(fold: &RestingFold, oldest: Timestamp) -> bool {
    fold.created_at().is_some() && fold.last_activity_at().is_some_and(|at| at < oldest)
}

/// Many sessions work in one folder: its name is there once.
fn add_cwds(cwds: &mut FxHashSet<Arc<str>>, fold: &RestingFold) {
    for cwd in &fold.lineage().cwds {
        if !cwds.contains(cwd) {
            cwds.insert(Arc::clone(cwd));
        }
    }
}

impl Engine {
    /// These were read and are not kept. Only for who asks for the default roster alone, before the first step.
    pub(crate) fn take_distant(&mut self, mut distant: Distant) {
        self.problems.absorb(std::mem::take(&mut distant.problems));
        self.problems_dirty = true;
        self.work.reads += distant.work.reads;
        self.work.bytes += distant.work.bytes;
        self.work.records += distant.work.records;
        self.resting.cwds_due.extend(distant.cwds.iter().cloned());
        self.distant = distant;
    }

    /// How many sessions have a row that nobody can ask for.
    pub(super) fn count_distant(&self) -> usize {
        let rests = |id: &SessionId| self.resting.sessions.contains(id);
        let sessions = self.distant.sessions.iter();
        sessions.filter(|(id, transcripts)| transcripts.has_main && !rests(id)).count()
    }

    /// Takes those in that what is known now may be tied to, so that it can be told as if all were there.
    pub(super) fn fetch_tied(&mut self) {
        if self.distant.sessions.is_empty() {
            return;
        }
        let mut distant = std::mem::take(&mut self.distant);
        let new: Vec<&RestingFold> = match std::mem::replace(&mut distant.knows_held, true) {
            true => self.dirty.iter().filter_map(|id| self.fold(id)).collect(),
            false => self.folds(),
        };
        for fold in new {
            distant.ties.add(fold.lineage());
            add_cwds(&mut distant.cwds, fold);
        }
        let beside = self.beside(&self.words, &mut distant.cwds.iter());
        distant.ties.add_facts(&beside.facts(&[], &BTreeSet::new()));
        // Whom the registry, a hook or a status file names is dirty.
        let may_show = self.sessions.keys().filter(|id| self.may_have_row(id));
        let seeds = may_show.chain(&self.dirty);
        let tied = distant.ties.groups_of(seeds, usize::MAX).unwrap_or_default();
        let fetched: Vec<Transcripts> = tied.iter().filter_map(|id| distant.sessions.remove(id)).collect();
        self.distant = distant;
        self.fetch(fetched);
    }

    /// Takes all of them in.
    pub(super) fn fetch_all(&mut self) {
        let all = std::mem::take(&mut self.distant.sessions);
        self.fetch(all.into_values());
    }

    fn fetch(&mut self, sessions: impl IntoIterator<Item = Transcripts>) {
        let terms = Terms {
            timeouts: self.settings.timeouts,
            until: self.outlook.until,
            keep: self.keeps(),
            exclude: self.settings.history.exclude.clone(),
        };
        let fs = Arc::clone(&self.world.fs);
        for path in sessions.into_iter().flat_map(|transcripts| transcripts.paths) {
            let Some((_, place)) = self.place_of(&path) else { continue };
            // They are told once more by reading once more.
            self.problems.forget(&path.to_string_lossy());
            let loaded = load(&*fs, path, place, terms.clone(), &mut self.scratch, &|| true);
            self.take_loaded(loaded);
        }
    }
}
