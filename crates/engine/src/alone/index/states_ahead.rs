//! Stores the engine's state of a newly read transcript together with its texts, ahead of the session's row. Otherwise
//! the folds of thousands of transcripts would stay in memory until the last one is read.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use watchbill_agents::layout::ClientPath;
use watchbill_core::history::Exclude;
use watchbill_core::ids::SessionId;
use watchbill_core::session::state::Timeouts;
use watchbill_core::transcript::record::Usage;
use watchbill_history::index::IndexObserver;
use watchbill_settings::Settings;
use watchbill_store::{StoreError, WriteTransaction};
use watchbill_watch::fs::Fs;
use watchbill_watch::scan::Found;

use crate::model::session::RequestCounts;
use crate::persist::stored_transcript::TokenSharing;
use crate::transcripts::beside::FoldedBeside;
use crate::transcripts::{Fold, Loaded};

/// Stores each state that it can. Keeps the others for the engine.
pub(super) struct StatesAhead<'r> {
    fs: &'r dyn Fs,
    exclude: &'r Exclude,
    timeouts: Timeouts,
    /// With exclusion rules: how many main transcripts of a session are still unread. At zero, its subagents may be
    /// stored. For sessions not in this map, only the engine can decide.
    unread: HashMap<SessionId, usize>,
    /// Transcripts of subagents whose sessions are still unread.
    waiting: HashMap<SessionId, Vec<Loaded>>,
    /// Transcripts that are left out, or that only the engine can decide about.
    rest: Vec<Loaded>,
    /// The store lacks rows of sessions.
    pub rows_are_behind: bool,
}

impl<'r> StatesAhead<'r> {
    /// For one run with these settings.
    pub fn new(fs: &'r dyn Fs, settings: &'r Settings) -> Self {
        let (exclude, timeouts) = (&settings.history.exclude, settings.timeouts);
        let (unread, waiting, rest) = Default::default();
        Self { fs, exclude, timeouts, unread, waiting, rest, rows_are_behind: false }
    }

    /// Takes a transcript that was read to its end.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn take(&mut self, step: &mut WriteTransaction<'_>, loaded: Loaded) -> Result<(), StoreError> {
        let Some(file) = &loaded.file else { return Ok(()) };
        let (session, is_left_out) = match file.fold() {
            Fold::Agent(_) if self.exclude.is_empty() => return self.store(step, loaded),
            Fold::Agent(_) => {
                match file.parent().map(|session| (self.unread.get(&session), session)) {
                    Some((Some(0), _)) => return self.store(step, loaded),
                    Some((Some(_), session)) => self.waiting.entry(session).or_default().push(loaded),
                    Some((None, _)) | None => self.rest.push(loaded),
                }
                return Ok(());
            }
            Fold::Main(fold) => {
                let lineage = fold.lineage();
                (lineage.session.clone(), self.exclude.excludes_session(lineage))
            }
        };
        if is_left_out {
            self.unread.remove(&session);
            self.rest.push(loaded);
            return Ok(());
        }
        self.store(step, loaded)?;
        let Some(unread) = self.unread.get_mut(&session) else { return Ok(()) };
        *unread = unread.saturating_sub(1);
        if *unread == 0 {
            for agent in self.waiting.remove(&session).unwrap_or_default() {
                self.store(step, agent)?;
            }
        }
        Ok(())
    }

    /// The transcripts that were not stored.
    pub fn into_rest(self) -> Vec<Loaded> {
        let Self { waiting, mut rest, .. } = self;
        rest.extend(waiting.into_values().flatten());
        rest
    }

    fn store(&mut self, step: &mut WriteTransaction<'_>, mut loaded: Loaded) -> Result<(), StoreError> {
        if !store(step, &mut loaded)? {
            self.rest.push(loaded);
        }
        Ok(())
    }
}

impl IndexObserver for StatesAhead<'_> {
    type File = FoldedBeside;

    fn expect(&mut self, files: &[Found], known: &mut dyn Iterator<Item = &str>) {
        if self.exclude.is_empty() {
            return;
        }
        // Known transcripts are not read from their beginning, so they do not come here.
        let known: HashSet<_> = known.filter_map(|path| Path::new(path).file_stem()).collect();
        for found in files {
            if let Some(ClientPath::Transcript { session, .. }) = found.place()
                && !known.contains(session.as_str().as_ref() as &std::ffi::OsStr)
            {
                *self.unread.entry(session).or_default() += 1;
            }
        }
    }

    fn begin(&mut self, path: &Path, place: ClientPath) -> FoldedBeside {
        FoldedBeside::new(self.fs, path, place, self.timeouts)
    }

    fn end(
        &mut self,
        step: &mut WriteTransaction<'_>,
        file: FoldedBeside,
        skipped: bool,
    ) -> Result<(), StoreError> {
        match file.finish() {
            // Only the engine can tell whether to store any of it.
            Some(loaded) if skipped => self.rest.push(loaded),
            Some(loaded) => self.take(step, loaded)?,
            None => {}
        }
        Ok(())
    }

    fn note_rows_behind(&mut self) {
        self.rows_are_behind = true;
    }
}

/// Stores one state. Says whether its fold is no longer needed.
fn store(step: &mut WriteTransaction<'_>, loaded: &mut Loaded) -> Result<bool, StoreError> {
    let Loaded { path, file: Some(file), problems, .. } = loaded else { return Ok(true) };
    let Some(name) = path.to_str() else { return Ok(false) };
    // The engine compares the tokens that files share when it makes rows, and counts again where these are wrong.
    let with = file.parent();
    let (session, counted) = match file.fold() {
        Fold::Main(fold) if with.is_some() => {
            let tokens = fold.ledger().total();
            (Some(fold.lineage().session.clone()), TokenSharing::Agent { with, tokens })
        }
        Fold::Main(fold) => {
            let shared = RequestCounts { own: fold.requests(), origin: None, copies: 0 };
            let counted = TokenSharing::Session { inherited: Usage::default(), shared: Some(shared) };
            (Some(fold.lineage().session.clone()), counted)
        }
        Fold::Agent(fold) => (with.clone(), TokenSharing::Agent { with, tokens: fold.ledger().total() }),
    };
    // A state that an engine stored may cover several reads, so it goes before this one.
    if step.knows_state(name)? {
        return Ok(true);
    }
    let Some(kept) = file.to_stored(path, problems, counted) else { return Ok(false) };
    let (piece, fresh) = file.take_new_records();
    let session = session.as_ref().map_or("", |id| id.as_str());
    step.put_state(name, session, &kept.to_bytes(), piece.as_deref(), fresh)?;
    Ok(true)
}
