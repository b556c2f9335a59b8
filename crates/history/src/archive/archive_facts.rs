//! What the store contributes to the archiving plan: the archived transcripts, and the sessions that must not be
//! archived.

use std::collections::HashSet;

use watchbill_agents::Root;
use watchbill_core::history::ArchiveSettings;
use watchbill_core::history::Exclude;
use watchbill_core::time::Timestamp;
use watchbill_store::tables::archive::ArchiveRow;
use watchbill_store::{Store, StoreError};
use watchbill_watch::fs::Fs;
use watchbill_watch::scan::Found;

use super::archive_candidates::owner;
use super::archive_work::{ArchiveWork, due};

/// A copy of these facts at one moment, so that the store is free while the transcripts are scanned.
pub struct ArchiveFacts {
    rows: Vec<ArchiveRow>,
    /// Sessions that were forgotten, or whose folder `exclude` names.
    left_out: HashSet<String>,
}

impl ArchiveFacts {
    /// Makes the archive's folder and its table agree, then copies the facts.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub fn of(store: &mut Store, exclude: &Exclude) -> Result<Self, StoreError> {
        store.tidy_archive()?;
        let rows = store.all_archived()?;
        let mut left_out: HashSet<String> = store.forgotten()?.iter().map(ToString::to_string).collect();
        store.sessions(&mut |_, row| {
            if row.cwd.as_deref().is_some_and(|cwd| exclude.excludes(cwd)) {
                left_out.insert(row.session_id);
            }
        })?;
        Ok(Self { rows, left_out })
    }

    /// Transcripts to pack now, and archived ones to drop.
    pub fn due(
        &self,
        fs: &dyn Fs,
        roots: &[Root],
        exclude: &Exclude,
        settings: &ArchiveSettings,
        now: Timestamp,
    ) -> ArchiveWork {
        let is_left_out = |found: &Found| {
            exclude.excludes(&found.path.to_string_lossy())
                || owner(fs, found).is_none_or(|(session, _)| self.left_out.contains(&session))
        };
        due(fs, roots, &self.rows, &is_left_out, settings, now)
    }
}
