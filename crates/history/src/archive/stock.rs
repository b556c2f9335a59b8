//! What the store knows that decides what is due: what is archived, and whose transcripts are not to be.

use std::collections::HashSet;
use std::path::PathBuf;

use watchbill_core::history::ArchiveSettings;
use watchbill_core::history::Exclude;
use watchbill_core::time::Timestamp;
use watchbill_store::tables::archive::ArchiveRow;
use watchbill_store::{Store, StoreError};
use watchbill_watch::fs::Fs;
use watchbill_watch::scan::Found;

use super::due::{Due, due};
use super::found::owner;

/// As the store says at one moment, so that it is free while transcripts are looked at.
pub struct Stock {
    rows: Vec<ArchiveRow>,
    /// Sessions that were forgotten, or have worked in a folder that `exclude` names.
    left_out: HashSet<String>,
}

impl Stock {
    /// Puts the archive's folder and its table in agreement, and takes stock.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub fn of(store: &mut Store, exclude: &Exclude) -> Result<Self, StoreError> {
        store.tidy_archive()?;
        let rows = store.all_archived()?;
        let mut left_out: HashSet<String> = store.forgotten()?.iter().map(ToString::to_string).collect();
        store.sessions(&mut |_, row| {
            if row.cwd.as_deref().is_some_and(|cwd| exclude.leaves_out(cwd)) {
                left_out.insert(row.session_id);
            }
        })?;
        Ok(Self { rows, left_out })
    }

    /// What is to be packed and given up now.
    pub fn due(
        &self,
        fs: &dyn Fs,
        roots: &[PathBuf],
        exclude: &Exclude,
        settings: &ArchiveSettings,
        now: Timestamp,
    ) -> Due {
        let is_left_out = |found: &Found| {
            exclude.leaves_out(&found.path.to_string_lossy())
                || owner(fs, found).is_none_or(|(session, _)| self.left_out.contains(&session))
        };
        due(fs, roots, &self.rows, &is_left_out, settings, now)
    }
}
