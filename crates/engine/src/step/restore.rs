//! Restores the engine's stored state at a start.

use std::path::Path;
use watchbill_agents::Root;
use watchbill_core::ids::SessionId;

use super::rooms::Rooms;
use super::settings::forget_targets;
use super::waking::put_at_rest;
use crate::model::paths::FilePath;
use crate::model::session::AgentState;
use crate::persist::changes::SeenFacts;
use crate::persist::pending::NextRows;
use crate::persist::stored_transcript::{StoredTranscript, TokenSharing};
use crate::transcripts::{Fold, TrackedFile};

/// Room is reserved for at most this many transcripts.
const EXPECTED: usize = 50_000;

/// Restores the stored state: each file, then the facts that no file holds.
pub(crate) struct Restoring<'e>(pub(super) &'e mut Rooms);

impl Restoring<'_> {
    /// Reserves room for at most this many transcripts, so that inserting them does not move the earlier ones.
    pub fn expect_files(&mut self, most: usize) {
        // Deleted row numbers are not reused, so a store that forgot much gives too large a number.
        self.0.sessions.reserve(most.min(EXPECTED));
    }

    /// Restores one transcript. Says whether its stored state is usable. If it is damaged or of another version, the
    /// file will be read from its beginning.
    pub fn file(&mut self, path: &Path, head: &[u8]) -> bool {
        restore(self.0, path, head)
    }

    /// A program that reads everything in one run stored transcripts of these sessions ahead of their rows. It may have
    /// ended before it stored the rows.
    pub fn rows_are_behind(&mut self, sessions: impl Iterator<Item = SessionId>) {
        self.0.pending.rows_are_behind(sessions);
    }

    /// The exclusion rules differ from those of the stored state, so forget the targets of open calls.
    pub fn forget_targets(&mut self) {
        forget_targets(self.0);
    }

    /// Transcripts were read before the restored sessions have rows. Then store all coming rows: a new session may also
    /// have changed the row of an unread one.
    pub fn rows_may_differ(&mut self) {
        self.0.pending.expect_rows(NextRows::MayDiffer);
    }

    /// All transcripts were restored. Restores the facts that no file holds.
    pub fn end(self, facts: Option<SeenFacts>) {
        restored(self.0, facts);
    }
}

fn restore(rooms: &mut Rooms, path: &Path, head: &[u8]) -> bool {
    // Another run may have had other roots.
    let Some((root, place)) = rooms.env.place_of(path).filter(|(_, place)| place.is_transcript()) else {
        return true;
    };
    let settings = rooms.env.settings();
    let restored = StoredTranscript::from_bytes(head).and_then(|kept| {
        let file = TrackedFile::restore(place, &kept, settings.timeouts)?;
        Ok((file.with_exclude(&settings.history.exclude), kept))
    });
    let Ok((file, kept)) = restored else { return false };
    let root = root.clone();
    take_kept(rooms, path.into(), root, file, &kept);
    true
}

fn take_kept(
    rooms: &mut Rooms,
    path: FilePath,
    root: Root,
    mut file: TrackedFile,
    kept: &StoredTranscript<'_>,
) {
    let Rooms { env, sessions, pending, problems, .. } = rooms;
    if pending.is_on() {
        file.collect_records();
    }
    kept.problems(&path).for_each(|problem| problems.met_mut().set(problem));
    match (file.fold(), &kept.counted) {
        (Fold::Main(fold), counted) => {
            let id = &fold.lineage().session;
            let session = sessions.get_or_make(id);
            session.add_main(path.clone());
            session.root = Some(root);
            session.requests = fold.requests();
            session.lineage = Some((path.clone(), fold.lineage_revision()));
            if let TokenSharing::Session { inherited, shared } = counted {
                (session.inherited, session.request_counts) = (*inherited, shared.clone());
            }
            if session.mains.len() > 1 {
                sessions.add_several(id.clone());
            }
            let part = file.parent().map(|with| {
                let tokens = match counted {
                    TokenSharing::Agent { tokens, .. } => *tokens,
                    // An earlier version did not count it with its parent.
                    TokenSharing::Session { .. } => fold.ledger().total(),
                };
                (with, tokens, id.clone())
            });
            if let Some((with, tokens, id)) = part {
                let session = sessions.get_or_make(&with);
                session.set_agent_tokens(&path, tokens);
                session.parts.insert(path.clone(), id);
                file.counted_with = Some(with);
            }
        }
        (Fold::Agent(fold), TokenSharing::Agent { with, tokens }) => {
            if let Some(with) = with {
                let session = sessions.get_or_make(with);
                let silence = env.settings().timeouts.idle;
                session.set_agent(&path, *tokens, AgentState::of(fold, env.now(), silence));
                sessions.add_several(with.clone());
            }
            file.counted_with = with.clone();
        }
        _ => return,
    }
    sessions.files_mut().insert(path, file);
}

fn restored(rooms: &mut Rooms, facts: Option<SeenFacts>) {
    if let Some(facts) = facts {
        rooms.pending.set_last_move(facts.moves.last().cloned());
        rooms.witnesses.restore(facts);
    }
    rooms.sessions.join_several();
    put_at_rest(rooms);
    let Rooms { sessions, chains, rows, pending, problems, .. } = rooms;
    // Another run makes the rows of sessions that lie elsewhere.
    let behind = pending.retain_lacking(|id| sessions.contains(id));
    pending.retain_lacking(|id| rows.resting().contains(id));
    if !behind && !rows.due().is_empty() {
        pending.expect_rows(NextRows::Stored);
    }
    chains.mark_all();
    problems.touch();
}
