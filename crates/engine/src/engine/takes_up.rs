//! How the engine takes up what it has kept, when the program starts.

use std::path::Path;
use std::sync::Arc;

use watchbill_core::ids::SessionId;

use super::Engine;
use crate::files::{FilePath, Paths};
use crate::persist::changes::Facts;
use crate::persist::kept::{Counted, KeptFile};
use crate::transcripts::{Fold, TrackedFile};

/// For more transcripts than this no room is made before they are there.
const EXPECTED: usize = 50_000;

impl Engine {
    /// At most so many transcripts are to be taken up: whoever makes room for them once need not move the earlier ones.
    pub fn expect_files(&mut self, most: usize) {
        // Numbers in between are not given again, so that a store of which much was forgotten expects too many.
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
            Ok((file.leaving_out(&self.settings.history.exclude), kept))
        });
        let Ok((file, kept)) = restored else { return false };
        let root = Arc::clone(root);
        self.take_kept(path.into(), root, file, &kept);
        true
    }

    /// Transcripts of these sessions were stored ahead of their rows, by a program that reads everything in one go and may
    /// have been ended since. To be followed by [`Engine::restored`].
    pub fn rows_are_behind(&mut self, sessions: impl Iterator<Item = SessionId>) {
        self.keeping.without_rows.extend(sessions);
        self.keeping.rows_behind = true;
    }

    /// Whether a file lies where this engine looks: another run may have looked elsewhere.
    pub(crate) fn looks_at(&self, path: &Path) -> bool {
        self.place_of(path).is_some()
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
        // What lies elsewhere is for others to make.
        self.keeping.without_rows.retain(|id| self.sessions.contains_key(id));
        let behind = !self.keeping.without_rows.is_empty();
        self.keeping.without_rows.retain(|id| self.resting.sessions.contains(id));
        self.keeping.just_restored = !behind && !self.dirty.is_empty();
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
}
