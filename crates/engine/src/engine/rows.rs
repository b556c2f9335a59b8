//! From what became dirty to rows: verdicts first, then the two views.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use watchbill_core::ids::SessionId;
use watchbill_core::roster::row::Row;
use watchbill_core::session::resting::RestingFold;
use watchbill_core::time::Timestamp;

use super::{Due, Engine, View};
use crate::files::FilePath;
use crate::input::Output;
use crate::publish::Published;
use crate::session::{ripe_at, row};
use crate::transcripts::TrackedFile;
use crate::verdict::Makings;

impl Engine {
    pub(super) fn makings<'a>(&'a self, id: &'a SessionId) -> Makings<'a> {
        Makings {
            id,
            session: self.sessions.get(id).map(|session| &**session),
            fold: self.main_file(id).and_then(|(path, file)| Some((path, &**file.main()?))),
            registry: &self.registry,
            hooks: self.hooks.of(id),
            status_file: self.status_file(id),
            child: self.children.of(id),
            chains: &self.chains,
            aside: self.words.aside(id),
            live: self.outlook.live,
            timeouts: self.settings.timeouts,
            now: self.now,
        }
    }

    pub(super) fn rebuild_rows(&mut self, out: &mut Vec<Output>) -> bool {
        let dirty = self.keeping.due_rows(&mut self.dirty);
        if dirty.is_empty() {
            return false;
        }
        let mut shown: [Vec<Row>; 2] = [Vec::new(), Vec::new()];
        let mut hidden: [Vec<SessionId>; 2] = [Vec::new(), Vec::new()];
        for id in &dirty {
            let rested = self.resting.sessions.remove(id);
            self.resting.late.remove(id);
            self.advance(id);
            self.share_out(id);
            let agents_next = self.advance_agents(id);
            let child_next = self.look_at_children(id, out);
            self.work.rows += 1;
            let made = row(&self.makings(id));
            let Some((mut row, next)) = made else {
                self.disregard(id);
                hidden.iter_mut().for_each(|list| list.push(id.clone()));
                if self.states.remove(id).is_some() {
                    self.keeping.gone(id);
                }
                // A registry file alone becomes a row when it is old enough.
                let again = self.registry.all().filter(|witness| witness.entry.session == *id).map(ripe_at);
                let again = again.filter(|at| *at > self.now).min();
                self.deadlines.set(Due::Session(id.clone()), again);
                continue;
            };
            self.outlive(&row);
            let state = (row.state, row.state_kind);
            // Of a session at rest nobody knew how it was.
            let is_news = self.startup.is_over() && !rested && !self.keeping.is_alone();
            if self.states.insert(id.clone(), state) != Some(state) && is_news {
                self.keeping.transition(&row);
            }
            let fold_next = self.fold(id).and_then(|fold| fold.deadline());
            let hides = self.views[0].filter.hides_at(&row, self.now);
            let counts = if self.views[0].filter.shows(&row, self.now) {
                self.attend(&mut row)
            } else {
                self.disregard(id);
                None
            };
            let next = [next, fold_next, agents_next, child_next, hides, counts]
                .into_iter()
                .flatten()
                .filter(|at| *at > self.now)
                .min();
            self.deadlines.set(Due::Session(id.clone()), next);
            if self.keeping.lacks_row(id) || self.views[1].roster.get(id).is_none_or(|known| **known != row) {
                self.keeping.row(&row);
            }
            for (n, view) in self.views.iter().enumerate() {
                if view.filter.shows(&row, self.now) && !self.keeping.is_alone() {
                    shown[n].push(row.clone());
                } else {
                    hidden[n].push(id.clone());
                }
            }
            if hidden[0].last() == Some(id) {
                self.rest(id);
            }
        }
        self.keeping.have_rows(&dirty);
        let mut changed = false;
        let revision = self.revision + 1;
        for (view, (shown, hidden)) in self.views.iter_mut().zip(shown.into_iter().zip(hidden)) {
            changed |= view.apply(shown, hidden, revision);
        }
        changed
    }

    /// Lets the deadlines of the fold fire, and notes the repository.
    pub(super) fn advance(&mut self, id: &SessionId) {
        let Some(path) = self.main_file(id).map(|(path, _)| path.to_path_buf()) else { return };
        let now = self.outlook.until.map_or(self.now, |until| until.min(self.now));
        let mut effects = Vec::new();
        let Some(file) = self.files.get_mut(&path) else { return };
        file.advance(now, &mut effects);
        if file.main().is_some_and(RestingFold::is_unreadable) {
            return self.take_up(&path);
        }
        let cwd = file.main().and_then(|fold| fold.cwd().cloned());
        let (Some(session), Some(cwd)) = (self.sessions.get_mut(id), cwd) else { return };
        // Looked for when the folder was, which comes before the rows.
        session.repo_root = self.folders.repository(&cwd);
    }

    /// The roster does not show the session, so that its row is all that is asked of it: thousands of them would be in
    /// memory twice.
    fn rest(&mut self, id: &SessionId) {
        let Some(path) = self.main_file(id).map(|(path, _)| path.to_path_buf()) else { return };
        if let Some(file) = self.files.get_mut(&path) {
            file.rest();
        }
    }

    /// Lets subagents that have been silent for too long count as gone; says when the next one will.
    pub(super) fn advance_agents(&mut self, id: &SessionId) -> Option<Timestamp> {
        let silence = self.settings.timeouts.idle;
        let (files, now) = (&self.files, self.now);
        let agent = |path: &FilePath| files.get(path).and_then(TrackedFile::agent);
        let session = self.sessions.get_mut(id)?;
        session.agents_running.retain(|path| agent(path).is_some_and(|fold| fold.is_running(now, silence)));
        session.agents_running.iter().filter_map(|path| agent(path)?.deadline(silence)).min()
    }
}

impl View {
    pub(super) fn apply(&mut self, shown: Vec<Row>, hidden: Vec<SessionId>, revision: u64) -> bool {
        let Some(delta) = self.roster.apply(shown, hidden) else { return false };
        // Where nothing is in place of anything, none of thousands need be looked at.
        if self.published.len() + delta.upserts.len() != self.roster.rows().len() {
            let touched: FxHashSet<&SessionId> =
                delta.removals.iter().chain(delta.upserts.iter().map(|(_, row)| &row.session_id)).collect();
            self.published.retain(|published| !touched.contains(&published.id));
        }
        for (index, row) in &delta.upserts {
            let published = Published { id: row.session_id.clone(), version: revision, row: Arc::clone(row) };
            self.published.insert((*index).min(self.published.len()), published);
        }
        true
    }
}
