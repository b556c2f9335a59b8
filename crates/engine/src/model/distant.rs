//! Sessions that ended before the default roster begins and that the store does not know. A single look reads their
//! transcripts, but keeps none of them. Those of a database have the agent's own times and are tied to no other session, so they are
//! not even read.
//!
//! The folds of a hundred thousand transcripts take half a gigabyte, and no row shows them. So the engine keeps only
//! the facts that may tie a session to others (see [`SessionGroups`]). The engine reads the transcripts of a distant
//! session again and takes them in, if a fact ties the session to one that may have a row. It also does so if a
//! process, a hook or a status file names the session. A marker in a folder may tie all sessions of that folder, so all
//! their transcripts are read twice.

use std::path::PathBuf;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use watchbill_agents::layout::ClientPath;
use watchbill_core::chain::resolve::LineageFacts;
use watchbill_core::chain::ties::SessionGroups;
use watchbill_core::ids::SessionId;
use watchbill_core::session::lazy::LazyFold;
use watchbill_core::time::Timestamp;
use watchbill_watch::scan::Found;

use crate::model::resting::is_over;
use crate::model::work::WorkCount;
use crate::transcripts::{Fold, Loaded};
use crate::world::problems::Problems;

/// All distant sessions, with the facts that the engine keeps of their transcripts.
#[derive(Default)]
pub(crate) struct Distant {
    sessions: FxHashMap<SessionId, Transcripts>,
    /// Facts that may tie these sessions to each other. After the first [`Self::meets_held`], they may also tie them to
    /// sessions that the engine holds.
    ties: SessionGroups,
    /// The working folders of all sessions in `ties`.
    cwds: FxHashSet<Arc<str>>,
    /// Whether `ties` includes the sessions that the engine holds.
    knows_held: bool,
    /// Problems in the transcripts. The engine reports them although it keeps no transcript.
    problems: Problems,
    work: WorkCount,
}

/// The transcripts of one session.
#[derive(Default)]
struct Transcripts {
    paths: Vec<PathBuf>,
    /// Whether `paths` contains the session's own transcript. Then the session has a row, but the roster does not
    /// show it.
    has_main: bool,
}

impl Distant {
    /// Takes in one transcript that was read, or gives it back if the engine must keep it.
    ///
    /// The transcript of a subagent is treated like that of its session: it is given back unless the session's own
    /// transcript is here already.
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

    /// Takes in a transcript unread, if it is a session's own, or one of a subagent whose session's own is here. Returns whether it
    /// did. Only for agents whose transcripts tie no session to another.
    pub fn pass_unread(&mut self, found: &Found) -> bool {
        let (session, is_main) = match found.place() {
            Some(ClientPath::Transcript { session, .. }) => (session, true),
            Some(ClientPath::Subagent { session, .. }) if self.has(&session) => (session, false),
            _ => return false,
        };
        let transcripts = self.sessions.entry(session).or_default();
        transcripts.paths.push(found.path.clone());
        transcripts.has_main |= is_main;
        true
    }

    /// Whether the session's own transcript was passed over.
    fn has(&self, id: &SessionId) -> bool {
        self.sessions.get(id).is_some_and(|transcripts| transcripts.has_main)
    }

    /// Whether there are no distant sessions.
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    /// The working folders of the distant sessions and, if they were added, of the held ones.
    pub fn cwds(&self) -> impl Iterator<Item = &Arc<str>> {
        self.cwds.iter()
    }

    /// Takes the problems in the transcripts.
    pub fn take_problems(&mut self) -> Problems {
        std::mem::take(&mut self.problems)
    }

    /// The work done to read the transcripts.
    pub fn work(&self) -> WorkCount {
        self.work
    }

    /// The number of distant sessions that have a row. Skips the sessions for which `rest` is true, because the caller
    /// counts them already.
    pub fn count(&self, rest: impl Fn(&SessionId) -> bool) -> usize {
        self.sessions.iter().filter(|(id, transcripts)| transcripts.has_main && !rest(id)).count()
    }

    /// Notes that `ties` includes the held sessions from now on. Returns whether this is new.
    pub fn meets_held(&mut self) -> bool {
        !std::mem::replace(&mut self.knows_held, true)
    }

    /// Adds the facts that may tie a session to others.
    pub fn add(&mut self, fold: &LazyFold) {
        self.ties.add(fold.lineage());
        // Many sessions share one working folder, so store each name once.
        for cwd in &fold.lineage().cwds {
            if !self.cwds.contains(cwd) {
                self.cwds.insert(Arc::clone(cwd));
            }
        }
    }

    /// Removes the sessions that may be tied to `seeds`, and returns the paths of their transcripts.
    pub fn take_tied<'a>(
        &mut self,
        facts: &LineageFacts<'_>,
        seeds: impl Iterator<Item = &'a SessionId>,
    ) -> Vec<PathBuf> {
        self.ties.add_facts(facts);
        let tied = self.ties.groups_of(seeds, usize::MAX).unwrap_or_default();
        let fetched = tied.iter().filter_map(|id| self.sessions.remove(id));
        fetched.flat_map(|transcripts| transcripts.paths).collect()
    }

    /// Removes all distant sessions, and returns the paths of their transcripts.
    pub fn take_all(&mut self) -> Vec<PathBuf> {
        std::mem::take(&mut self.sessions).into_values().flat_map(|transcripts| transcripts.paths).collect()
    }
}
