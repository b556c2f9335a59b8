//! All sessions: their transcripts with the folds, and the data about each session.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use watchbill_agents::layout::ClientPath;
use watchbill_core::chain::lineage::ActiveTime;
use watchbill_core::ids::SessionId;
use watchbill_core::session::lazy::LazyFold;
use watchbill_core::session::usage::RequestLedger;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_core::transcript::record::Usage;
use watchbill_watch::fs::Fs;
use watchbill_watch::tail::TailError;

use crate::model::files::Files;
use crate::model::paths::FilePath;
use crate::model::problem_report::ProblemReport;
use crate::model::session::{RequestCounts, SessionData, minus};
use crate::persist::stored_transcript::TokenSharing;
use crate::transcripts::{Fold, ReadCount, STEP_BUDGET, TrackedFile};

/// Agents stop much earlier to start subagents of subagents.
const MAX_DEPTH: usize = 64;

/// See the module.
#[derive(Default)]
pub(crate) struct Sessions {
    files: Files,
    /// A hash map, because making a row needs several lookups. Boxed to keep the table small.
    by_id: FxHashMap<SessionId, Box<SessionData>>,
    /// Read buffer.
    scratch: Vec<u8>,
    /// During a restore: sessions with data from several transcripts.
    of_several: FxHashSet<SessionId>,
}

/// The state of a fold after its deadlines fired.
pub(crate) enum Advanced {
    /// The session has a transcript; this is its current working folder.
    To(Option<Arc<str>>),
    /// The stored state of this transcript turned out to be unusable.
    Unreadable(PathBuf),
    /// The session has no transcript.
    None,
}

impl Sessions {
    /// Reserves room for so many transcripts, so that inserting them does not rehash the earlier ones.
    pub fn reserve(&mut self, most: usize) {
        self.files.reserve(most);
        self.by_id.reserve(most);
    }

    /// The transcripts.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// The transcripts, mutable.
    pub fn files_mut(&mut self) -> &mut Files {
        &mut self.files
    }

    /// The data about one session.
    pub fn get(&self, id: &SessionId) -> Option<&SessionData> {
        self.by_id.get(id).map(|session| &**session)
    }

    /// The data about one session, mutable.
    pub fn get_mut(&mut self, id: &SessionId) -> Option<&mut SessionData> {
        self.by_id.get_mut(id).map(|session| &mut **session)
    }

    /// The data about one session, mutable; makes a new session.
    pub fn get_or_make(&mut self, id: &SessionId) -> &mut SessionData {
        self.by_id.entry(id.clone()).or_default()
    }

    /// Whether a session is known.
    pub fn contains(&self, id: &SessionId) -> bool {
        self.by_id.contains_key(id)
    }

    /// The number of sessions.
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// All ids, unordered.
    pub fn ids(&self) -> impl Iterator<Item = &SessionId> {
        self.by_id.keys()
    }

    /// All sessions, unordered.
    pub fn iter(&self) -> impl Iterator<Item = (&SessionId, &SessionData)> {
        self.by_id.iter().map(|(id, session)| (id, &**session))
    }

    /// The transcript that represents a session: of several, the one that was active last.
    pub fn main_file<'a>(&'a self, id: &SessionId) -> Option<(&'a Path, &'a TrackedFile)> {
        let session = self.by_id.get(id)?;
        let known = |path: &'a FilePath| Some((&**path, self.files.get(path)?));
        if session.mains.len() == 1 {
            return session.mains.first().and_then(known);
        }
        let by_activity = |(path, file): &(&'a Path, &TrackedFile)| {
            (file.main().and_then(LazyFold::last_activity_at), *path)
        };
        session.mains.iter().filter_map(known).max_by_key(by_activity)
    }

    /// The path of that transcript.
    pub fn main_path(&self, id: &SessionId) -> Option<PathBuf> {
        self.main_file(id).map(|(path, _)| path.to_path_buf())
    }

    /// The fold of that transcript.
    pub fn fold(&self, id: &SessionId) -> Option<&LazyFold> {
        self.main_file(id).and_then(|(_, file)| file.main())
    }

    /// The folds of all sessions, unordered. If each session has one transcript, reads the files in table order: a
    /// lookup for each of thousands of sessions would take longer than the caller's work.
    pub fn folds(&self) -> Vec<&LazyFold> {
        if self.by_id.values().any(|session| session.mains.len() > 1) {
            self.by_id.keys().filter_map(|id| self.fold(id)).collect()
        } else {
            self.files.values().filter_map(TrackedFile::main).collect()
        }
    }

    /// The start of a session.
    pub fn began(&self, id: &SessionId) -> Option<Timestamp> {
        let lineage = self.fold(id)?.lineage();
        lineage.own_started_at.or(lineage.started_at)
    }

    /// If the session is a subagent: the session at the beginning of its parents.
    pub fn whole_of(&self, id: &SessionId) -> Option<SessionId> {
        let starter = |id: &SessionId| self.fold(id)?.lineage().subagent_of.clone();
        // A broken file may name its own subagent as its parent.
        std::iter::successors(starter(id), |id| starter(id)).take(MAX_DEPTH).last()
    }

    /// The known path of a file that has appeared under another path.
    pub fn known_path_of(&self, path: &Path, place: &ClientPath, fs: &dyn Fs) -> Option<PathBuf> {
        let (ClientPath::Transcript { session, .. } | ClientPath::Subagent { session, .. }) = place else {
            return None;
        };
        let session = self.by_id.get(session)?;
        let id = fs.stat(path).ok()?.id;
        let mut names = session.mains.iter().chain(session.agents.keys());
        let same = |name: &&FilePath| {
            name.file_name() == path.file_name() && fs.stat(name).is_ok_and(|stat| stat.id == id)
        };
        names.find(same).map(|name| name.to_path_buf())
    }

    /// The transcripts of these sessions and of their subagents.
    pub fn transcripts_of<'a>(
        &'a self,
        ids: impl Iterator<Item = &'a SessionId> + 'a,
    ) -> impl Iterator<Item = PathBuf> + 'a {
        let shown = ids.filter_map(|id| self.by_id.get(id));
        let files = shown.flat_map(|session| session.mains.iter().chain(session.agents.keys()));
        files.map(|path| path.to_path_buf())
    }

    /// Reads the new bytes of a transcript, within the budget of one step. Adds the transcript if it is new. If it is read from its beginning, also reads its companion file (`.meta.json`). Gives the session's activity from before the read.
    pub fn read(
        &mut self,
        path: &Path,
        is_new: bool,
        make: impl FnOnce() -> TrackedFile,
        fs: &dyn Fs,
        problems: &mut ProblemReport,
    ) -> (Option<ActiveTime>, Result<ReadCount, TailError>) {
        let file = self.files.get_or_make(path, make);
        let before = file.main().map(|fold| fold.lineage().activity());
        let mut effects = Vec::new();
        let read = file.read(fs, path, STEP_BUDGET, &mut self.scratch, problems.met_mut(), &mut effects);
        if read.as_ref().is_ok_and(|count| is_new || count.restarted) {
            file.read_meta(fs, path);
        }
        (before, read)
    }

    /// A subagent was active. A parent that waits for its subagents writes nothing, so their records keep it from being
    /// idle.
    pub fn note_subagent_activity(&mut self, parent: &SessionId, active: Option<Timestamp>) {
        let Some(at) = active else { return };
        let main = self.main_path(parent);
        if let Some(main) = main.and_then(|path| self.files.get_mut(&path)) {
            main.subagent_active(at);
        }
    }

    /// Like [`Self::note_subagent_activity`], with the latest activity of all its subagents that were read.
    pub fn note_agents_activity(&mut self, id: &SessionId) {
        let agents = self.by_id.get(id).into_iter().flat_map(|session| session.agents.keys());
        let active = agents.filter_map(|path| self.files.get(path)?.agent()?.last_activity()).max();
        self.note_subagent_activity(id, active);
    }

    /// Several transcripts in the restore have data about this session.
    pub fn add_several(&mut self, id: SessionId) {
        self.of_several.insert(id);
    }

    /// All transcripts were restored: combines the data of sessions with several transcripts.
    pub fn join_several(&mut self) {
        for id in std::mem::take(&mut self.of_several) {
            let main = self
                .main_file(&id)
                .and_then(|(path, file)| Some((FilePath::from(path), file.main()?.lineage_revision())));
            let Some(session) = self.get_mut(&id) else { continue };
            session.lineage = main;
            self.note_agents_activity(&id);
        }
    }

    /// Removes a main transcript of a session.
    pub fn forget_main(&mut self, id: &SessionId, path: &Path) {
        if let Some(session) = self.by_id.get_mut(id) {
            session.mains.retain(|main| **main != *path);
            session.lineage = None;
            self.remove_if_empty(id);
        }
    }

    /// Removes a subagent's transcript.
    pub fn forget_agent(&mut self, parent: &SessionId, path: &Path) {
        if let Some(session) = self.by_id.get_mut(parent) {
            session.forget_agent(path);
            self.remove_if_empty(parent);
        }
    }

    fn remove_if_empty(&mut self, id: &SessionId) {
        if self.by_id.get(id).is_some_and(|session| session.is_empty()) {
            self.by_id.remove(id);
        }
    }

    /// Fires the deadlines of a session's fold.
    pub fn advance(&mut self, id: &SessionId, until: Timestamp) -> Advanced {
        let Some(path) = self.main_path(id) else { return Advanced::None };
        let Some(file) = self.files.get_mut(&path) else { return Advanced::None };
        file.advance(until, &mut Vec::new());
        if file.main().is_some_and(LazyFold::is_unreadable) {
            return Advanced::Unreadable(path);
        }
        Advanced::To(file.main().and_then(|fold| fold.cwd().cloned()))
    }

    /// Frees the decoded fold of a session that the roster does not show. Only its row needed it.
    pub fn rest(&mut self, id: &SessionId) {
        let Some(path) = self.main_path(id) else { return };
        if let Some(file) = self.files.get_mut(&path) {
            file.rest();
        }
    }

    /// Ends subagents that were silent for too long. Gives the time when the next one ends.
    pub fn advance_agents(&mut self, id: &SessionId, now: Timestamp, silence: Millis) -> Option<Timestamp> {
        let files = &self.files;
        let agent = |path: &FilePath| files.get(path).and_then(TrackedFile::agent);
        let session = self.by_id.get_mut(id)?;
        session.agents_running.retain(|path| agent(path).is_some_and(|fold| fold.is_running(now, silence)));
        session.agents_running.iter().filter_map(|path| agent(path)?.deadline(silence)).min()
    }

    /// The session of a transcript, and how its tokens count.
    pub fn counted(&self, path: &Path) -> Option<(Option<SessionId>, TokenSharing)> {
        let file = self.files.get(path)?;
        match file.fold() {
            Fold::Main(fold) if file.counted_with.is_none() => {
                let id = fold.lineage().session.clone();
                let session = self.by_id.get(&id);
                let inherited = session.map(|session| session.inherited).unwrap_or_default();
                let shared = session.and_then(|session| session.request_counts.clone());
                Some((Some(id), TokenSharing::Session { inherited, shared }))
            }
            fold => {
                let with = file.counted_with.clone();
                let session = with.as_ref().and_then(|id| self.by_id.get(id));
                let tokens = session
                    .and_then(|session| session.agents.get(path.as_os_str()).copied())
                    .unwrap_or_default();
                let own = match fold {
                    Fold::Main(fold) => Some(fold.lineage().session.clone()),
                    Fold::Agent(_) => with.clone(),
                };
                Some((own, TokenSharing::Agent { with, tokens }))
            }
        }
    }

    /// The request counts that token sharing depends on. `origin` is the session that this one was copied from.
    pub fn shared(&self, id: &SessionId, origin: Option<&SessionId>) -> Option<RequestCounts> {
        let session = self.by_id.get(id)?;
        let requests = |id: &SessionId| self.fold(id).map(LazyFold::requests);
        Some(RequestCounts {
            own: requests(id).unwrap_or(0),
            origin: origin.and_then(|from| Some((from.clone(), requests(from)?))),
            copies: self.copies(session).map(|(_, copy)| copy.len()).sum(),
        })
    }

    /// The tokens that count in the origin, and the tokens that each copy adds.
    pub fn tokens_by_file(
        &self,
        id: &SessionId,
        origin: Option<&SessionId>,
    ) -> (Usage, Vec<(FilePath, Usage)>) {
        let own = self.fold(id).map(|fold| fold.ledger());
        let inherited = match (own, origin.and_then(|from| Some(self.fold(from)?.ledger()))) {
            (Some(own), Some(origin)) => minus(own.total(), own.total_without(origin)),
            _ => Usage::default(),
        };
        let copies = self.by_id.get(id).into_iter().flat_map(|session| self.copies(session));
        let tokens = copies
            .map(|(path, copy)| (path.clone(), own.map_or(copy.total(), |own| copy.total_without(own))));
        (inherited, tokens.collect())
    }

    fn copies<'a>(
        &'a self,
        session: &'a SessionData,
    ) -> impl Iterator<Item = (&'a FilePath, &'a RequestLedger)> + 'a {
        session.copies.iter().filter_map(|path| Some((path, self.files.get(path)?.agent()?.ledger())))
    }

    /// The files whose requests must be compared; empty if the session shares none.
    pub fn files_shared_with(&self, id: &SessionId, origin: Option<&SessionId>) -> Vec<PathBuf> {
        let Some(session) = self.by_id.get(id) else { return Vec::new() };
        let origin = origin.and_then(|from| self.main_path(from));
        if origin.is_none() && session.copies.is_empty() {
            return Vec::new();
        }
        let mains = self.main_path(id).into_iter().chain(origin);
        mains.chain(session.copies.iter().map(|path| path.to_path_buf())).collect()
    }
}
