//! Files of the archive that no row names. An unclean exit leaves such; but where the database was damaged, or taken away,
//! they may be the last that there is of transcripts. So they are taken up again, by what stands in them.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};

use sha2::{Digest, Sha256};
use watchbill_core::time::Timestamp;

use super::frames::Frames;
use super::{Archive, hash_of, hex};
use crate::tables::archive::ArchiveRow;
use crate::tables::meta::ARCHIVE_TAKEN_UP;
use crate::{Store, StoreError};

/// What a file is that no row names.
enum Stray {
    /// An archived transcript, as far as it is whole.
    Transcript(Box<ArchiveRow>),
    /// Nothing of a transcript came into it.
    Empty,
    /// An archived transcript that does not say of what, or something else altogether.
    Unknown,
}

/// What came of putting the archive's folder and its table in agreement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tidied {
    /// Transcripts that count again.
    pub taken_up: usize,
    /// Bytes that were freed.
    pub freed: u64,
    /// Files that say nothing of what they hold, and stay.
    pub unknown: usize,
}

impl Archive {
    /// Looks at a file that no row names.
    fn stray(&self, name: &str) -> Stray {
        let Ok((frames, stored)) = File::open(self.folder.join(name)).and_then(Frames::as_far_as_whole)
        else {
            return Stray::Unknown;
        };
        let bytes = frames.len();
        let hash = match frames.hash() {
            Some(hash) => hash.to_owned(),
            None => {
                let mut hash = Sha256::new();
                if hash_of(&mut frames.reader(), &mut hash).is_err() {
                    return Stray::Unknown;
                }
                hex(hash)
            }
        };
        match frames.label() {
            Some(_) if bytes == 0 => Stray::Empty,
            None if stored == 0 && frames.is_torn_begin() => Stray::Empty,
            Some(label) => Stray::Transcript(Box::new(ArchiveRow {
                path: label.path.clone(),
                session_id: label.session_id.clone(),
                subagent: label.subagent.clone(),
                file: name.to_owned(),
                bytes,
                stored,
                hash,
                mtime: Timestamp::from_millis(label.mtime),
                archived_at: Timestamp::from_millis(label.archived_at),
                dev: label.id.0,
                inode: label.id.1,
            })),
            None => Stray::Unknown,
        }
    }

    /// The files in the folder that none of these rows names.
    fn strays(&self, rows: &[ArchiveRow]) -> Vec<String> {
        let named: HashSet<&str> = rows.iter().map(|row| &*row.file).collect();
        let Ok(files) = fs::read_dir(&self.folder) else { return Vec::new() };
        let names = files.flatten().filter_map(|file| file.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|name| !named.contains(&**name)).collect();
        names.sort();
        names
    }
}

impl Store {
    /// At the start of a writer: a database that was made anew knows nothing of what was archived before.
    pub(crate) fn see_to_archive(&mut self) -> Result<(), StoreError> {
        if self.meta(ARCHIVE_TAKEN_UP)?.is_some() {
            return Ok(());
        }
        let tidied = self.tidy_archive()?;
        if tidied.taken_up > 0 {
            tracing::warn!(
                transcripts = tidied.taken_up,
                "archived transcripts were found again that the store did not know"
            );
        }
        let mut step = self.step()?;
        step.set_meta(ARCHIVE_TAKEN_UP, "1")?;
        step.commit()
    }

    /// Puts the archive's folder and its table in agreement: what an unclean exit has left is removed, and transcripts that
    /// no row names are taken up again, but for those of sessions that were forgotten.
    ///
    /// # Errors
    /// When the database cannot be read or written.
    pub fn tidy_archive(&mut self) -> Result<Tidied, StoreError> {
        let Some(folder) = self.path().parent() else { return Ok(Tidied::default()) };
        let archive = Archive::new(folder);
        let rows = self.all_archived()?;
        let mut tidied = Tidied { freed: archive.cut_ends(&rows), ..Tidied::default() };
        let forgotten: HashSet<String> = self.forgotten()?.iter().map(ToString::to_string).collect();
        let known: HashSet<&str> = rows.iter().map(|row| &*row.path).collect();
        let mut found: BTreeMap<String, ArchiveRow> = BTreeMap::new();
        let remove = |name: &str, freed: &mut u64| {
            *freed += crate::folder::size(&archive.folder.join(name));
            archive.remove(name);
        };
        for name in archive.strays(&rows) {
            match archive.stray(&name) {
                Stray::Unknown => tidied.unknown += 1,
                Stray::Empty => remove(&name, &mut tidied.freed),
                // A row of the same transcript counts: its file was replaced by this one, or was to be.
                Stray::Transcript(row)
                    if known.contains(&*row.path) || forgotten.contains(&row.session_id) =>
                {
                    remove(&name, &mut tidied.freed);
                }
                Stray::Transcript(row) => {
                    let age = |row: &ArchiveRow| (row.archived_at, row.bytes);
                    let older = match found.get(&row.path) {
                        Some(other) if age(other) >= age(&row) => Some(*row),
                        _ => found.insert(row.path.clone(), *row),
                    };
                    older.iter().for_each(|older| remove(&older.file, &mut tidied.freed));
                }
            }
        }
        if tidied.unknown > 0 {
            tracing::warn!(files = tidied.unknown, folder = %archive.folder.display(), "files in the archive say nothing of what they hold; they stay");
        }
        if found.is_empty() {
            return Ok(tidied);
        }
        let mut step = self.step()?;
        for row in found.values() {
            step.put_archived(row)?;
        }
        step.commit()?;
        // What came after their whole beginnings.
        let found: Vec<ArchiveRow> = found.into_values().collect();
        tidied.freed += archive.cut_ends(&found);
        tidied.taken_up = found.len();
        Ok(tidied)
    }
}
