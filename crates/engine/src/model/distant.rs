//! Sessions that ended before the default roster begins and that the store does not know. A look reads their
//! transcripts and keeps none of them.
//!
//! The folds of a hundred thousand transcripts take half a gigabyte, and no row shows them. So the engine keeps only
//! the facts that may tie a session to others (see [`Ties`]). It reads a session's transcripts again and takes them in,
//! if the session turns out to be tied to a session that may have a row. The same if a process, a hook or a status file
//! names it. So a marker in a folder costs a second read of all work in that folder.

use std::path::PathBuf;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use watchbill_core::chain::resolve::Facts;
use watchbill_core::chain::ties::SessionGroups;
use watchbill_core::ids::SessionId;
use watchbill_core::session::lazy::LazyFold;
use watchbill_core::time::Timestamp;

use crate::model::resting::is_over;
use crate::model::work::WorkCount;
use crate::problems::Problems;
use crate::transcripts::{Fold, Loaded};

/// The remaining facts of their transcripts.
#[derive(Default)]
pub(crate) struct Distant {
    sessions: FxHashMap<SessionId, Transcripts>,
    /// Facts that may tie them to each other and, after the first [`Self::meets_held`], to the sessions that the engine
    /// holds.
    ties: SessionGroups,
    /// The working folders of all these sessions.
    cwds: FxHashSet<Arc<str>>,
    /// The ties include the sessions that the engine holds.
    knows_held: bool,
    /// Problems in the transcripts. The engine reports them although it keeps no transcript.
    problems: Problems,
    work: WorkCount,
}

/// The transcripts of one session.
#[derive(Default)]
struct Transcripts {
    paths: Vec<PathBuf>,
    /// One of the paths is the session's own transcript: the session has a row, which is not shown.
    has_main: bool,
}

impl Distant {
    /// Takes in one transcript that was read, or gives it back if the engine must keep it.
    ///
    /// A subagent's transcript follows its session's. Gives it back unless that session is known as distant.
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

    /// The working folders of these sessions and of the held ones.
    pub fn cwds(&self) -> impl Iterator<Item = &Arc<str>> {
        self.cwds.iter()
    }

    /// The problems in the transcripts; takes them.
    pub fn take_problems(&mut self) -> Problems {
        std::mem::take(&mut self.problems)
    }

    /// The work of reading them.
    pub fn work(&self) -> WorkCount {
        self.work
    }

    /// The number of sessions with a row that no caller can ask for, without those that `rest` counts already.
    pub fn count(&self, rest: impl Fn(&SessionId) -> bool) -> usize {
        self.sessions.iter().filter(|(id, transcripts)| transcripts.has_main && !rest(id)).count()
    }

    /// Notes that the ties include the held sessions from now on. Says whether that is new.
    pub fn meets_held(&mut self) -> bool {
        !std::mem::replace(&mut self.knows_held, true)
    }

    /// Adds the facts that may tie a session to others.
    pub fn add(&mut self, fold: &LazyFold) {
        self.ties.add(fold.lineage());
        // Many sessions work in one folder; store its name once.
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
