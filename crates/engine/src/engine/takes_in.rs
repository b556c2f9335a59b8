//! What a read has changed: lineage, tokens, subagents, files that are gone.

use std::path::Path;
use std::sync::Arc;

use watchbill_core::chain::lineage::{Activity, BOUNDARY_LIMIT};
use watchbill_core::ids::SessionId;
use watchbill_core::time::Timestamp;

use super::Engine;
use crate::files::FilePath;
use crate::transcripts::Fold;

impl Engine {
    /// Takes in what a read has changed in the fold of `path`, which is a `fresh` one when the file was read
    /// from its beginning.
    ///
    /// `before` is what was known of its activity.
    pub(super) fn after_read(&mut self, path: &Path, fresh: bool, before: Option<Activity>) {
        self.problems_dirty = true;
        self.keeping.file(path);
        let Some(file) = self.files.get(path) else { return };
        match file.fold() {
            Fold::Main(fold) => {
                let id = fold.lineage().session.clone();
                self.sessions.entry(id.clone()).or_default().add_main(path.into());
                self.after_main_changed(&id, fresh);
                if self.depends_on_activity(&id, before) {
                    self.tying.due.insert(id.clone());
                }
                self.dirty.insert(id);
            }
            Fold::Agent(_) => self.after_agent_read(path),
        }
    }

    /// The transcript that stands for a session may be another one, or say something else of its lineage.
    pub(super) fn after_main_changed(&mut self, id: &SessionId, fresh: bool) {
        let Some((path, file)) = self.main_file(id) else { return };
        let Some(fold) = file.main() else { return };
        let lineage = Some((FilePath::from(path), fold.lineage_revision()));
        let full = fold.lineage().boundaries.len() >= BOUNDARY_LIMIT;
        let says_nothing = fresh && fold.lineage().start().is_none();
        let requests = fold.requests();
        let root = self.place_of(path).map(|(root, _)| Arc::clone(root));
        let Some(session) = self.sessions.get_mut(id) else { return };
        session.root = root;
        let agents: Vec<FilePath> = match fresh {
            true => session.agents.keys().cloned().collect(),
            false => Vec::new(),
        };
        if fresh {
            session.shared = None;
        }
        if fresh || session.lineage != lineage {
            // What a file that was begun anew does not say any more may have tied others; so may the oldest of very many
            // boundaries.
            let says_less = session
                .lineage
                .as_ref()
                .is_some_and(|(path, _)| fresh || lineage.as_ref().is_none_or(|(now, _)| now != path))
                || full;
            session.lineage = lineage;
            self.chains_dirty |= says_less || self.tying.gone.remove(id);
            if says_nothing {
                // It was emptied, and is about to be written anew.
                self.tying.gone.insert(id.clone());
            }
            self.tying.due.insert(id.clone());
        }
        if fresh || session.requests != requests {
            session.requests = requests;
            self.touch_copies(id);
        }
        // Its subagents' files may have been read before its own.
        let active = agents.iter().filter_map(|path| self.files.get(path)?.agent()?.last_activity()).max();
        self.stir(id, active);
    }

    /// What a fork copied is counted with its origin, so that the fork's tokens depend on the origin's requests.
    pub(super) fn touch_copies(&mut self, id: &SessionId) {
        for (copy, _) in self.origins.iter().filter(|(_, origin)| *origin == id) {
            if let Some(session) = self.sessions.get_mut(copy) {
                session.shared = None;
            }
            self.dirty.insert(copy.clone());
        }
    }

    pub(super) fn after_agent_read(&mut self, path: &Path) {
        self.keeping.file(path);
        let Some(file) = self.files.get_mut(path) else { return };
        let Fold::Agent(fold) = file.fold() else { return };
        let parent = file.parent();
        let (tokens, copies) = (fold.ledger().total(), fold.copies_parent());
        let active = fold.last_activity();
        let running = !copies && fold.is_running(self.now, self.settings.timeouts.idle);
        let calls = if copies { Vec::new() } else { fold.pending_tools().cloned().collect() };
        let before = std::mem::replace(&mut file.counted_with, parent.clone());
        if let Some(before) = before.filter(|before| Some(before) != parent.as_ref()) {
            self.forget_agent(&before, path);
        }
        let Some(parent) = parent else { return };
        let session = self.sessions.entry(parent.clone()).or_default();
        let path = FilePath::from(path);
        session.set_agent_tokens(&path, tokens);
        session.set_agent_running(&path, running);
        session.set_agent_calls(&path, calls);
        if copies {
            // Its transcript repeats its parent's requests; they are taken off when the row is made.
            session.copies.insert(path);
            session.shared = None;
        }
        self.stir(&parent, active);
        self.dirty.insert(parent);
    }

    /// A parent that waits for its subagents writes nothing itself; their records keep it from being idle.
    pub(super) fn stir(&mut self, parent: &SessionId, active: Option<Timestamp>) {
        let main = self.main_file(parent).map(|(path, _)| path.to_path_buf());
        if let (Some(at), Some(main)) = (active, main.and_then(|path| self.files.get_mut(&path))) {
            main.subagent_active(at);
        }
    }

    pub(super) fn forget_agent(&mut self, parent: &SessionId, path: &Path) {
        if let Some(session) = self.sessions.get_mut(parent) {
            session.forget_agent(path);
            if session.is_empty() {
                self.sessions.remove(parent);
            }
        }
        self.dirty.insert(parent.clone());
    }

    pub(super) fn forget_file(&mut self, path: &Path) {
        if self.place_of(path).is_none_or(|(_, place)| place.is_transcript()) {
            self.problems.forget(&path.to_string_lossy());
            self.problems_dirty = true;
        }
        let Some(file) = self.files.remove(path) else { return };
        self.keeping.file(path);
        let id = match file.fold() {
            Fold::Main(fold) => fold.lineage().session.clone(),
            Fold::Agent(_) => {
                if let Some(parent) = &file.counted_with {
                    self.forget_agent(parent, path);
                }
                return;
            }
        };
        if let Some(session) = self.sessions.get_mut(&id) {
            session.mains.retain(|main| **main != *path);
            session.lineage = None;
            if session.is_empty() {
                self.sessions.remove(&id);
            }
        }
        self.after_main_changed(&id, true);
        if self.main_file(&id).is_none() {
            self.tying.gone.insert(id.clone());
        }
        self.touch_copies(&id);
        self.chains_dirty = true;
        self.dirty.insert(id);
    }
}
