//! What the engine gives out to be kept.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rustc_hash::FxHashSet;
use watchbill_core::chain::lineage::RegistryMove;
use watchbill_core::chain::link::Link;
use watchbill_core::history::Exclude;
use watchbill_core::ids::SessionId;
use watchbill_core::person::Change;
use watchbill_core::roster::row::Row;

use super::Engine;
use crate::persist::changes::{Changes, Facts, FileChange};
use crate::persist::kept::Counted;
use crate::session::Session;
use crate::transcripts::Fold;

/// Rows that are made to be kept alone are made so many at a time, and are in memory until they are stored.
const ROWS_AT_ONCE: usize = 1_024;

/// What has changed since the last [`Engine::take_changes`].
#[derive(Default)]
pub(super) struct Keeping {
    /// Somebody keeps what changes.
    pub(super) on: bool,
    /// And nobody looks at it.
    alone: bool,
    files: BTreeSet<PathBuf>,
    rows: BTreeMap<SessionId, Row>,
    gone: BTreeSet<SessionId>,
    /// The rows to come were stored by an earlier run, as far as they do not depend on the time.
    pub(super) just_restored: bool,
    /// Sessions that have no stored rows yet, though their transcripts were stored, or may have none; once all are taken up,
    /// those at rest.
    pub(super) without_rows: FxHashSet<SessionId>,
    /// There were such sessions, or may have been.
    pub(super) rows_behind: bool,
    transitions: Vec<Row>,
    links: bool,
    new_links: Vec<Link>,
    old_links: Vec<Link>,
    words: Vec<Change>,
    markers: bool,
    pub(super) last_move: Option<RegistryMove>,
    /// What was kept of these is of no use: they are to be read from their beginning.
    pub(super) begun_anew: Vec<PathBuf>,
    /// While files are taken up: the sessions that several of them tell of.
    pub(super) of_several: FxHashSet<SessionId>,
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
        if self.on && (!self.just_restored || self.lacks_row(&row.session_id)) {
            self.gone.remove(&row.session_id);
            self.rows.insert(row.session_id.clone(), row.clone());
        }
    }

    /// There is nothing to show any more of a session that had a row.
    pub(super) fn gone(&mut self, id: &SessionId) {
        if self.on {
            self.rows.remove(id);
            self.gone.insert(id.clone());
        }
    }

    /// Whether a session has no stored row yet, though its transcript was stored.
    pub(super) fn lacks_row(&self, id: &SessionId) -> bool {
        self.without_rows.contains(id)
    }

    /// Whether rows are made to be kept alone.
    pub(super) fn is_alone(&self) -> bool {
        self.alone
    }

    /// The sessions whose rows are to be made now.
    pub(super) fn due_rows(&self, dirty: &mut BTreeSet<SessionId>) -> BTreeSet<SessionId> {
        let first_of_rest = dirty.iter().nth(ROWS_AT_ONCE).filter(|_| self.alone).cloned();
        let rest = first_of_rest.map(|id| dirty.split_off(&id)).unwrap_or_default();
        std::mem::replace(dirty, rest)
    }

    /// The rows to come are as an earlier run has stored them.
    pub(super) fn rows_were_kept(&mut self) {
        self.just_restored = true;
    }

    /// The rows of these were put together, as far as they have any.
    pub(super) fn have_rows(&mut self, sessions: &BTreeSet<SessionId>) {
        self.rows_are_known();
        if !self.without_rows.is_empty() {
            for id in sessions {
                self.without_rows.remove(id);
            }
        }
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

    /// Some of the chains were resolved anew: these links are new, and those are not so any more.
    pub(super) fn other_links(&mut self, new: Vec<Link>, old: Vec<Link>) {
        if self.on {
            self.new_links.retain(|link| !old.contains(link));
            self.old_links.retain(|link| !new.contains(link));
            self.new_links.extend(new);
            self.old_links.extend(old);
        }
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

    /// What is found out is kept, and shown to nobody: of thousands of sessions neither rows nor folds stay in memory.
    pub fn keep_alone(&mut self) {
        self.keeping.alone = true;
        self.show_recent_alone();
    }

    /// Whether rows are still to be made: with the next step.
    pub fn owes_rows(&self) -> bool {
        !self.dirty.is_empty()
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
        // Also rows that are here as they are to be: the other one may have been ended before it stored them.
        self.keeping.without_rows.extend(self.sessions.keys().cloned());
        self.keeping.rows_behind = true;
        self.dirty.extend(self.sessions.keys().cloned());
    }

    /// These sessions are stored again, of which nothing is stored.
    pub fn keep_anew(&mut self, sessions: &[SessionId]) {
        for id in sessions {
            let Some(session) = self.sessions.get(id) else { continue };
            let Session { mains, agents, .. } = &**session;
            let paths: Vec<PathBuf> =
                mains.iter().chain(agents.keys()).map(|path| path.to_path_buf()).collect();
            for path in paths {
                self.take_up(&path);
                if let Some(file) = self.files.get_mut(&path) {
                    file.give_out_anew();
                }
                self.keeping.file(&path);
            }
            match self.views[1].roster.get(id) {
                Some(row) => self.keeping.row(row),
                None => drop(self.dirty.insert(id.clone())),
            }
        }
        if !sessions.is_empty() {
            self.keeping.markers();
            self.keeping.links();
        }
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
            gone: std::mem::take(&mut self.keeping.gone),
            transitions: std::mem::take(&mut self.keeping.transitions),
            links: std::mem::take(&mut self.keeping.links).then(|| {
                let links = self.chains.iter().flat_map(|chain| &chain.links);
                links.filter(|link| link.from != link.to).cloned().collect()
            }),
            new_links: std::mem::take(&mut self.keeping.new_links),
            old_links: std::mem::take(&mut self.keeping.old_links),
            words: std::mem::take(&mut self.keeping.words),
            carried_out: None,
            forgotten: BTreeSet::new(),
            facts: facts
                .then(|| Facts { moves: self.registry.moves().to_vec(), markers: self.markers.kept() }),
            rows_behind: self.chains_wait() && !std::mem::replace(&mut self.keeping.rows_behind, true),
            all_rows: !self.startup.is_reading()
                && self.dirty.is_empty()
                && !self.is_waking()
                && self.keeping.without_rows.is_empty()
                && std::mem::take(&mut self.keeping.rows_behind),
            left_out: BTreeSet::new(),
        };
        self.leave_out(&mut changes);
        changes
    }

    /// Whether rows are stored before their chains are known: a kill would leave them so, since nothing happens to them any more.
    fn chains_wait(&self) -> bool {
        self.keeping.on
            && !self.keeping.alone
            && (self.startup.chains_pending() || !self.resting.late.is_empty())
    }

    /// Notes the sessions among the changes that have worked in a folder of which nothing is to be stored, or whose
    /// transcript lies in one: by the rules of now, whatever those were by which this was noted before.
    pub(crate) fn leave_out(&self, changes: &mut Changes) {
        let exclude = &self.settings.history.exclude;
        if exclude.is_empty() {
            changes.left_out.clear();
            return;
        }
        // Of a session whose transcript is gone by now nobody could tell any more.
        changes.left_out.retain(|id| self.main_file(id).is_none());
        let of_files = changes.files.values().filter_map(|change| match change {
            FileChange::Read { session, .. } => Some(SessionId::new(session)),
            FileChange::Gone => None,
        });
        let links = changes.links.iter().flatten().chain(&changes.new_links);
        let of_links = links.flat_map(|link| [link.from.clone(), link.to.clone()]);
        // A session without a transcript, of which a hook or a status file has told, has a folder all the same.
        let rows = || changes.rows.values().chain(&changes.transitions);
        let in_folder = rows().filter(|row| row.cwd.as_deref().is_some_and(|cwd| exclude.leaves_out(cwd)));
        let of_rows = rows().map(|row| row.session_id.clone());
        let of_facts = changes.facts.iter().flat_map(Facts::sessions).cloned();
        let named: BTreeSet<_> = of_files.chain(of_links).chain(of_rows).chain(of_facts).collect();
        let named = named.into_iter().filter(|id| self.is_left_out(id, exclude));
        let left_out: BTreeSet<_> = in_folder.map(|row| row.session_id.clone()).chain(named).collect();
        changes.left_out.extend(left_out);
    }

    /// Whether a session has worked in a folder that is excluded, or its transcript lies in one.
    pub(super) fn is_left_out(&self, id: &SessionId, exclude: &Exclude) -> bool {
        self.main_file(id).is_some_and(|(path, file)| {
            exclude.leaves_out(&path.to_string_lossy())
                || file.main().is_some_and(|fold| exclude.leaves_out_session(fold.lineage()))
        })
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
