//! Sessions that ended before the default roster begins, of which the store knows nothing: one look reads their transcripts
//! and keeps none of them.
//!
//! What is folded from a hundred thousand transcripts takes half a gigabyte, and none of it is shown. So only that stays which
//! may tie a session to others (see [`Ties`]). What turns out to be tied to a session that may have a row, or to be named by a
//! process, a hook or a status file, is read once more and taken in like any other. So a marker in a folder costs a second
//! reading of whatever was done there.

use std::path::PathBuf;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use watchbill_core::chain::resolve::Facts;
use watchbill_core::chain::ties::Ties;
use watchbill_core::ids::SessionId;
use watchbill_core::session::resting::RestingFold;
use watchbill_core::time::Timestamp;

use crate::model::resting::is_over;
use crate::model::work::Work;
use crate::problems::Problems;
use crate::transcripts::{Fold, Loaded};

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
            self.add(fold);
        }
        self.problems.absorb(problems);
        self.work.reads += 1;
        self.work.count(count);
        None
    }

    /// Whether the session's own transcript is among them.
    fn has(&self, id: &SessionId) -> bool {
        self.sessions.get(id).is_some_and(|transcripts| transcripts.has_main)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    /// The folders in which they, and those that are held, have worked.
    pub fn cwds(&self) -> impl Iterator<Item = &Arc<str>> {
        self.cwds.iter()
    }

    /// What was wrong with the transcripts, once.
    pub fn take_problems(&mut self) -> Problems {
        std::mem::take(&mut self.problems)
    }

    /// What reading them took.
    pub fn work(&self) -> Work {
        self.work
    }

    /// How many have a row that nobody can ask for, beside those that `rest`.
    pub fn count(&self, rest: impl Fn(&SessionId) -> bool) -> usize {
        self.sessions.iter().filter(|(id, transcripts)| transcripts.has_main && !rest(id)).count()
    }

    /// Whether the sessions that are held are among the ties from now on for the first time.
    pub fn meets_held(&mut self) -> bool {
        !std::mem::replace(&mut self.knows_held, true)
    }

    /// What may tie a session to others.
    pub fn add(&mut self, fold: &RestingFold) {
        self.ties.add(fold.lineage());
        // Many sessions work in one folder: its name is there once.
        for cwd in &fold.lineage().cwds {
            if !self.cwds.contains(cwd) {
                self.cwds.insert(Arc::clone(cwd));
            }
        }
    }

    /// Takes the transcripts of the sessions that may be tied to `seeds`.
    pub fn take_tied<'a>(
        &mut self,
        facts: &Facts<'_>,
        seeds: impl Iterator<Item = &'a SessionId>,
    ) -> Vec<PathBuf> {
        self.ties.add_facts(facts);
        let tied = self.ties.groups_of(seeds, usize::MAX).unwrap_or_default();
        let fetched = tied.iter().filter_map(|id| self.sessions.remove(id));
        fetched.flat_map(|transcripts| transcripts.paths).collect()
    }

    /// Takes all transcripts.
    pub fn take_all(&mut self) -> Vec<PathBuf> {
        std::mem::take(&mut self.sessions).into_values().flat_map(|transcripts| transcripts.paths).collect()
    }
}
