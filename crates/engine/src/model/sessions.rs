//! All sessions: their transcripts, what was folded from these, and what is kept of each beside.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use watchbill_core::chain::lineage::Activity;
use watchbill_core::ids::SessionId;
use watchbill_core::session::resting::RestingFold;
use watchbill_core::session::usage::RequestLedger;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_core::transcript::record::Usage;
use watchbill_watch::fs::Fs;
use watchbill_watch::layout::Place;
use watchbill_watch::tail::TailError;

use crate::model::files::Files;
use crate::model::paths::FilePath;
use crate::model::problem_report::ProblemReport;
use crate::model::session::{Session, Shared, minus};
use crate::persist::kept::Counted;
use crate::transcripts::{Fold, ReadCount, STEP_BUDGET, TrackedFile};

/// See the module.
#[derive(Default)]
pub(crate) struct Sessions {
    files: Files,
    /// Looked up several times for each row; nothing depends on an order among them. Boxed, so that the table is small.
    by_id: FxHashMap<SessionId, Box<Session>>,
    /// What is read goes through here.
    scratch: Vec<u8>,
    /// While transcripts are restored: the sessions that several of them tell of.
    of_several: FxHashSet<SessionId>,
}

/// What has become of a fold whose deadlines have fired.
pub(crate) enum Advanced {
    /// There is a transcript; the folder where it works now.
    To(Option<Arc<str>>),
    /// What was kept of this transcript turned out to be of no use.
    Unreadable(PathBuf),
    /// There is no transcript.
    None,
}

impl Sessions {
    /// Room for so many transcripts, so that taking them in does not hash the earlier ones again.
    pub fn reserve(&mut self, most: usize) {
        self.files.reserve(most);
        self.by_id.reserve(most);
    }

    /// The transcripts.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// The transcripts, to be changed.
    pub fn files_mut(&mut self) -> &mut Files {
        &mut self.files
    }

    /// What is kept of one session.
    pub fn get(&self, id: &SessionId) -> Option<&Session> {
        self.by_id.get(id).map(|session| &**session)
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, id: &SessionId) -> Option<&mut Session> {
        self.by_id.get_mut(id).map(|session| &mut **session)
    }

    /// The same; a new session is made.
    pub fn get_or_make(&mut self, id: &SessionId) -> &mut Session {
        self.by_id.entry(id.clone()).or_default()
    }

    /// Whether a session is known.
    pub fn contains(&self, id: &SessionId) -> bool {
        self.by_id.contains_key(id)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Their ids, in no order.
    pub fn ids(&self) -> impl Iterator<Item = &SessionId> {
        self.by_id.keys()
    }

    /// All of them, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (&SessionId, &Session)> {
        self.by_id.iter().map(|(id, session)| (id, &**session))
    }

    /// The transcript that stands for a session: of several, the one that was active last.
    pub fn main_file<'a>(&'a self, id: &SessionId) -> Option<(&'a Path, &'a TrackedFile)> {
        let session = self.by_id.get(id)?;
        let known = |path: &'a FilePath| Some((&**path, self.files.get(path)?));
        if session.mains.len() == 1 {
            return session.mains.first().and_then(known);
        }
        let by_activity = |(path, file): &(&'a Path, &TrackedFile)| {
            (file.main().and_then(RestingFold::last_activity_at), *path)
        };
        session.mains.iter().filter_map(known).max_by_key(by_activity)
    }

    /// Where that lies.
    pub fn main_path(&self, id: &SessionId) -> Option<PathBuf> {
        self.main_file(id).map(|(path, _)| path.to_path_buf())
    }

    /// What was folded from it.
    pub fn fold(&self, id: &SessionId) -> Option<&RestingFold> {
        self.main_file(id).and_then(|(_, file)| file.main())
    }

    /// The folds of all sessions, in no order. Where each has one transcript they are taken as they lie there: to look
    /// each of thousands up takes longer than what is done with it.
    pub fn folds(&self) -> Vec<&RestingFold> {
        if self.by_id.values().any(|session| session.mains.len() > 1) {
            self.by_id.keys().filter_map(|id| self.fold(id)).collect()
        } else {
            self.files.values().filter_map(TrackedFile::main).collect()
        }
    }

    /// When a session began.
    pub fn began(&self, id: &SessionId) -> Option<Timestamp> {
        let lineage = self.fold(id)?.lineage();
        lineage.own_started_at.or(lineage.started_at)
    }

    /// The name under which a file that is new to us is known already.
    pub fn twin_of(&self, path: &Path, place: &Place, fs: &dyn Fs) -> Option<PathBuf> {
        let (Place::Transcript { session, .. } | Place::Subagent { session, .. }) = place else {
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

    /// The transcripts of these sessions, and of their subagents.
    pub fn transcripts_of<'a>(
        &'a self,
        ids: impl Iterator<Item = &'a SessionId> + 'a,
    ) -> impl Iterator<Item = PathBuf> + 'a {
        let shown = ids.filter_map(|id| self.by_id.get(id));
        let files = shown.flat_map(|session| session.mains.iter().chain(session.agents.keys()));
        files.map(|path| path.to_path_buf())
    }

    /// Reads what is new in a transcript, as much as one step may, with its companion where it is read from its beginning; a
    /// new one is made. Gives with it what was known of its activity before.
    pub fn read(
        &mut self,
        path: &Path,
        is_new: bool,
        make: impl FnOnce() -> TrackedFile,
        fs: &dyn Fs,
        problems: &mut ProblemReport,
    ) -> (Option<Activity>, Result<ReadCount, TailError>) {
        let file = self.files.get_or_make(path, make);
        let before = file.main().map(|fold| fold.lineage().activity());
        let mut effects = Vec::new();
        let read = file.read(fs, path, STEP_BUDGET, &mut self.scratch, problems.met_mut(), &mut effects);
        if read.as_ref().is_ok_and(|count| is_new || count.restarted) {
            file.read_meta(fs, path);
        }
        (before, read)
    }

    /// A parent that waits for its subagents writes nothing itself; their records keep it from being idle.
    pub fn stir(&mut self, parent: &SessionId, active: Option<Timestamp>) {
        let Some(at) = active else { return };
        let main = self.main_path(parent);
        if let Some(main) = main.and_then(|path| self.files.get_mut(&path)) {
            main.subagent_active(at);
        }
    }

    /// The same by all of its subagents, as far as these were read.
    pub fn stir_by_agents(&mut self, id: &SessionId) {
        let agents = self.by_id.get(id).into_iter().flat_map(|session| session.agents.keys());
        let active = agents.filter_map(|path| self.files.get(path)?.agent()?.last_activity()).max();
        self.stir(id, active);
    }

    /// Several transcripts that are being restored tell of a session.
    pub fn told_by_several(&mut self, id: SessionId) {
        self.of_several.insert(id);
    }

    /// All transcripts were restored: joins what several tell of one session.
    pub fn join_several(&mut self) {
        for id in std::mem::take(&mut self.of_several) {
            let main = self
                .main_file(&id)
                .and_then(|(path, file)| Some((FilePath::from(path), file.main()?.lineage_revision())));
            let Some(session) = self.get_mut(&id) else { continue };
            session.lineage = main;
            self.stir_by_agents(&id);
        }
    }

    /// A main transcript of a session is gone.
    pub fn forget_main(&mut self, id: &SessionId, path: &Path) {
        if let Some(session) = self.by_id.get_mut(id) {
            session.mains.retain(|main| **main != *path);
            session.lineage = None;
            self.remove_if_empty(id);
        }
    }

    /// A subagent's transcript is gone.
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

    /// Lets the deadlines of a session's fold fire.
    pub fn advance(&mut self, id: &SessionId, until: Timestamp) -> Advanced {
        let Some(path) = self.main_path(id) else { return Advanced::None };
        let Some(file) = self.files.get_mut(&path) else { return Advanced::None };
        file.advance(until, &mut Vec::new());
        if file.main().is_some_and(RestingFold::is_unreadable) {
            return Advanced::Unreadable(path);
        }
        Advanced::To(file.main().and_then(|fold| fold.cwd().cloned()))
    }

    /// The roster does not show the session, so that its row is all that is asked of it: thousands of them would be in
    /// memory twice.
    pub fn rest(&mut self, id: &SessionId) {
        let Some(path) = self.main_path(id) else { return };
        if let Some(file) = self.files.get_mut(&path) {
            file.rest();
        }
    }

    /// Lets subagents that have been silent for too long count as gone; says when the next one will.
    pub fn advance_agents(&mut self, id: &SessionId, now: Timestamp, silence: Millis) -> Option<Timestamp> {
        let files = &self.files;
        let agent = |path: &FilePath| files.get(path).and_then(TrackedFile::agent);
        let session = self.by_id.get_mut(id)?;
        session.agents_running.retain(|path| agent(path).is_some_and(|fold| fold.is_running(now, silence)));
        session.agents_running.iter().filter_map(|path| agent(path)?.deadline(silence)).min()
    }

    /// Whose a transcript is, and how its tokens are shared out.
    pub fn counted(&self, path: &Path) -> Option<(Option<SessionId>, Counted)> {
        let file = self.files.get(path)?;
        match file.fold() {
            Fold::Main(fold) => {
                let id = fold.lineage().session.clone();
                let session = self.by_id.get(&id);
                let inherited = session.map(|session| session.inherited).unwrap_or_default();
                let shared = session.and_then(|session| session.shared.clone());
                Some((Some(id), Counted::Session { inherited, shared }))
            }
            Fold::Agent(_) => {
                let with = file.counted_with.clone();
                let session = with.as_ref().and_then(|id| self.by_id.get(id));
                let tokens = session
                    .and_then(|session| session.agents.get(path.as_os_str()).copied())
                    .unwrap_or_default();
                Some((with.clone(), Counted::Agent { with, tokens }))
            }
        }
    }

    /// The numbers that sharing tokens out depends on; `origin` is the session that this one copied from.
    pub fn shared(&self, id: &SessionId, origin: Option<&SessionId>) -> Option<Shared> {
        let session = self.by_id.get(id)?;
        let requests = |id: &SessionId| self.fold(id).map(RestingFold::requests);
        Some(Shared {
            own: requests(id).unwrap_or(0),
            origin: origin.and_then(|from| Some((from.clone(), requests(from)?))),
            copies: self.copies(session).map(|(_, copy)| copy.len()).sum(),
        })
    }

    /// What is counted in the origin, and what each copy adds.
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
        session: &'a Session,
    ) -> impl Iterator<Item = (&'a FilePath, &'a RequestLedger)> + 'a {
        session.copies.iter().filter_map(|path| Some((path, self.files.get(path)?.agent()?.ledger())))
    }

    /// The files whose requests have to be compared; none where the session shares nothing.
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
