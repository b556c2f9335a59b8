//! What the engine gives out to be kept, and how it takes that up again when the program starts.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use watchbill_core::chain::lineage::RegistryMove;
use watchbill_core::ids::SessionId;
use watchbill_core::person::Change;
use watchbill_core::roster::row::Row;

use super::Engine;
use crate::files::{ByWords, FilePath, Paths};
use crate::persist::changes::{Changes, Facts, FileChange};
use crate::persist::kept::{Counted, KeptFile};
use crate::session::Session;
use crate::transcripts::{Fold, TrackedFile};

/// For more transcripts than this no room is made before they are there.
const EXPECTED: usize = 50_000;

/// What has changed since the last [`Engine::take_changes`].
#[derive(Default)]
pub(super) struct Keeping {
    /// Somebody keeps what changes.
    on: bool,
    files: BTreeSet<PathBuf>,
    rows: BTreeMap<SessionId, Row>,
    /// The rows to come were stored by an earlier run, as far as they do not depend on the time.
    just_restored: bool,
    transitions: Vec<Row>,
    links: bool,
    words: Vec<Change>,
    markers: bool,
    last_move: Option<RegistryMove>,
    /// What was kept of these is of no use: they are to be read from their beginning.
    pub(super) begun_anew: Vec<PathBuf>,
    /// While files are taken up: the sessions that several of them tell of.
    of_several: HashSet<SessionId, ByWords>,
}

impl Keeping {
    /// A transcript was read, or is gone, or its tokens are counted otherwise.
    pub(super) fn file(&mut self, path: &Path) {
        if self.on {
            self.files.insert(path.to_path_buf());
        }
    }

    /// A row is another one than before.
    pub(super) fn row(&mut self, row: &Row) {
        if self.on && !self.just_restored {
            self.rows.insert(row.session_id.clone(), row.clone());
        }
    }

    /// The rows to come are as an earlier run has stored them.
    pub(super) fn rows_were_kept(&mut self) {
        self.just_restored = true;
    }

    /// The rows of what was restored have been put together, or will be together with others.
    pub(super) fn rows_are_known(&mut self) {
        self.just_restored = false;
    }

    /// The state of a row has just changed.
    pub(super) fn transition(&mut self, row: &Row) {
        if self.on {
            self.transitions.push(row.clone());
        }
    }

    /// The chains were resolved anew.
    pub(super) fn links(&mut self) {
        self.links = self.on;
    }

    /// The person has said something, or what they said has had its time.
    pub(super) fn word(&mut self, change: &Change) {
        if self.on {
            self.words.push(change.clone());
        }
    }

    /// A marker is new.
    pub(super) fn markers(&mut self) {
        self.markers = self.on;
    }
}

impl Engine {
    /// From now on everything that changes is noted for [`Engine::take_changes`], and what is known already.
    pub fn keep(&mut self) {
        self.keeping.on = true;
        for file in self.files.values_mut() {
            file.note_new();
        }
    }

    /// Everything is to be kept anew: who kept it before is another one.
    pub fn keep_everything(&mut self) {
        for path in self.files.paths().map(Path::to_path_buf).collect::<Vec<_>>() {
            self.take_up(&path);
        }
        self.keep();
        for (path, file) in self.files.iter_mut() {
            file.give_out_anew();
            self.keeping.files.insert(path.to_path_buf());
        }
        self.keeping.markers = true;
        self.keeping.links = true;
        self.dirty.extend(self.sessions.keys().cloned());
    }

    /// Whether anybody keeps what changes.
    pub fn keeps(&self) -> bool {
        self.keeping.on
    }

    /// Transcripts were read before the rows of what was restored have been put together: then all rows to come are kept,
    /// since a new session may also have moved one that nobody has read.
    pub(crate) fn rows_may_differ(&mut self) {
        self.keeping.rows_are_known();
    }

    /// What has changed since the last call.
    pub fn take_changes(&mut self) -> Changes {
        let newest = self.registry.moves().last();
        let facts = self.keeping.markers || newest != self.keeping.last_move.as_ref();
        self.keeping.last_move = newest.cloned();
        self.keeping.markers = false;
        let files = std::mem::take(&mut self.keeping.files);
        let mut changes = Changes {
            files: files.into_iter().map(|path| (path.clone(), self.change_of(&path))).collect(),
            rows: std::mem::take(&mut self.keeping.rows),
            transitions: std::mem::take(&mut self.keeping.transitions),
            links: std::mem::take(&mut self.keeping.links).then(|| {
                let links = self.chains.iter().flat_map(|chain| &chain.links);
                links.filter(|link| link.from != link.to).cloned().collect()
            }),
            words: std::mem::take(&mut self.keeping.words),
            wishes: None,
            facts: facts
                .then(|| Facts { moves: self.registry.moves().to_vec(), markers: self.markers.kept() }),
            left_out: BTreeSet::new(),
        };
        self.leave_out(&mut changes);
        changes
    }

    /// Notes the sessions among the changes that have worked in a folder of which nothing is to be stored, or whose
    /// transcript lies in one.
    fn leave_out(&self, changes: &mut Changes) {
        let exclude = &self.settings.history.exclude;
        if exclude.is_empty() {
            return;
        }
        let is_left_out = |id: &SessionId| {
            self.main_file(id).is_some_and(|(path, file)| {
                let cwds = file.main().map(|fold| &fold.lineage().cwds[..]).unwrap_or_default();
                exclude.leaves_out(&path.to_string_lossy()) || cwds.iter().any(|cwd| exclude.leaves_out(cwd))
            })
        };
        let of_files = changes.files.values().filter_map(|change| match change {
            FileChange::Read { session, .. } => Some(SessionId::new(session)),
            FileChange::Gone => None,
        });
        let of_links = changes.links.iter().flatten().flat_map(|link| [link.from.clone(), link.to.clone()]);
        // A session without a transcript, of which a hook or a status file has told, has a folder all the same.
        let rows = || changes.rows.values().chain(&changes.transitions);
        let in_folder = rows().filter(|row| row.cwd.as_deref().is_some_and(|cwd| exclude.leaves_out(cwd)));
        let of_rows = rows().map(|row| row.session_id.clone());
        let of_facts = changes.facts.iter().flat_map(Facts::sessions).cloned();
        let named: BTreeSet<_> = of_files.chain(of_links).chain(of_rows).chain(of_facts).collect();
        let named = named.into_iter().filter(is_left_out);
        changes.left_out = in_folder.map(|row| row.session_id.clone()).chain(named).collect();
    }

    fn change_of(&mut self, path: &Path) -> FileChange {
        let counted = self.counted(path);
        let session = match &counted {
            Some((id, _)) => id.as_ref().map(ToString::to_string).unwrap_or_default(),
            None => return FileChange::Gone,
        };
        let (Some(file), Some((_, counted))) = (self.files.get_mut(path), counted) else {
            return FileChange::Gone;
        };
        let Some(kept) = file.kept(path, &self.problems, counted) else { return FileChange::Gone };
        let (piece, fresh) = file.take_new();
        FileChange::Read { session, head: kept.to_bytes(), piece, fresh }
    }

    /// Whose a file is, and how its tokens are shared out.
    fn counted(&self, path: &Path) -> Option<(Option<SessionId>, Counted)> {
        let file = self.files.get(path)?;
        match file.fold() {
            Fold::Main(fold) => {
                let id = fold.lineage().session.clone();
                let session = self.sessions.get(&id);
                let inherited = session.map(|session| session.inherited).unwrap_or_default();
                let shared = session.and_then(|session| session.shared.clone());
                Some((Some(id), Counted::Session { inherited, shared }))
            }
            Fold::Agent(_) => {
                let with = file.counted_with.clone();
                let session = with.as_ref().and_then(|id| self.sessions.get(id));
                let tokens = session
                    .and_then(|session| session.agents.get(path.as_os_str()).copied())
                    .unwrap_or_default();
                Some((with.clone(), Counted::Agent { with, tokens }))
            }
        }
    }

    /// At most so many transcripts are to be taken up: whoever makes room for them once need not move the earlier ones.
    pub fn expect_files(&mut self, most: usize) {
        // Numbers are not given again, so that a store of which much was forgotten expects too many.
        let most = most.min(EXPECTED);
        self.files.reserve(most);
        self.sessions.reserve(most);
    }

    /// Takes up what was kept of one transcript when the program ended. Says whether that is of use: what is of another
    /// version or damaged is left out, and its file will be read from its beginning. To be followed by
    /// [`Engine::restored`].
    pub fn restore(&mut self, path: &Path, head: &[u8]) -> bool {
        // Another run may have looked elsewhere.
        let Some((root, place)) = self.place_of(path).filter(|(_, place)| place.is_transcript()) else {
            return true;
        };
        let restored = KeptFile::from_bytes(head).and_then(|kept| {
            let file = TrackedFile::restore(place, &kept, self.settings.timeouts)?;
            Ok((file, kept))
        });
        let Ok((file, kept)) = restored else { return false };
        let root = Arc::clone(root);
        self.take_kept(path.into(), root, file, &kept);
        true
    }

    /// All transcripts were taken up; what no file will tell again follows.
    pub fn restored(&mut self, facts: Option<Facts>) {
        if let Some(Facts { moves, markers }) = facts {
            self.keeping.last_move = moves.last().cloned();
            self.registry.restore_moves(moves);
            self.markers.restore(markers);
        }
        for id in std::mem::take(&mut self.keeping.of_several) {
            self.after_restore(&id);
        }
        self.lay_to_rest();
        self.keeping.just_restored = !self.dirty.is_empty();
        (self.chains_dirty, self.problems_dirty) = (true, true);
    }

    fn take_kept(&mut self, path: FilePath, root: Arc<Path>, mut file: TrackedFile, kept: &KeptFile<'_>) {
        if self.keeping.on {
            file.note_new();
        }
        kept.problems(&path).for_each(|problem| self.problems.set(problem));
        match (file.fold(), &kept.counted) {
            (Fold::Main(fold), Counted::Session { inherited, shared }) => {
                let id = &fold.lineage().session;
                let session = self.sessions.entry(id.clone()).or_default();
                session.add_main(path.clone());
                if session.mains.len() > 1 {
                    self.keeping.of_several.insert(id.clone());
                }
                session.root = Some(root);
                session.requests = fold.requests();
                session.lineage = Some((path.clone(), fold.lineage_revision()));
                (session.inherited, session.shared) = (*inherited, shared.clone());
            }
            (Fold::Agent(fold), Counted::Agent { with, tokens }) => {
                let copies = fold.copies_parent();
                let running = !copies && fold.is_running(self.now, self.settings.timeouts.idle);
                let calls = if copies { Vec::new() } else { fold.pending_tools().cloned().collect() };
                if let Some(with) = with {
                    self.keeping.of_several.insert(with.clone());
                    let session = self.sessions.entry(with.clone()).or_default();
                    session.set_agent_tokens(&path, *tokens);
                    session.set_agent_running(&path, running);
                    session.set_agent_calls(&path, calls);
                    if copies {
                        session.copies.insert(path.clone());
                    }
                }
                file.counted_with = with.clone();
            }
            _ => return,
        }
        self.files.insert(path, file);
    }

    fn after_restore(&mut self, id: &SessionId) {
        let main = self
            .main_file(id)
            .and_then(|(path, file)| Some((FilePath::from(path), file.main()?.lineage_revision())));
        let Some(session) = self.sessions.get_mut(id) else { return };
        session.lineage = main;
        let active =
            session.agents.keys().filter_map(|path| self.files.get(path)?.agent()?.last_activity()).max();
        self.stir(id, active);
    }

    /// The transcripts that are known.
    pub fn known_files(&self) -> Paths {
        self.files.paths().map(|path| path.as_os_str().to_owned()).collect()
    }

    /// Tokens of a session were shared out anew.
    pub(super) fn keep_shares(&mut self, id: &SessionId) {
        if !self.keeping.on {
            return;
        }
        let Some(session) = self.sessions.get(id) else { return };
        let Session { mains, copies, .. } = &**session;
        self.keeping.files.extend(mains.iter().chain(copies).map(|path| path.to_path_buf()));
    }
}
