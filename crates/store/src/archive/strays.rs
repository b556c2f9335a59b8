//! Archive files without a row in the table. An unclean exit leaves such files. But if the database was damaged or
//! removed, they may be the last copies of transcripts. So they are added to the table again, by their own labels.

use std::collections::HashSet;
use std::fs::{self, File};

use sha2::{Digest, Sha256};
use watchbill_core::time::Timestamp;

use super::frames::{ArchiveFileState, Frames, is_of_content};
use super::{Archive, hash_of, hex};
use crate::folder;
use crate::tables::archive::ArchiveRow;

/// How complete an archived transcript is; more is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Completeness {
    /// It cannot be read as it was written. Its file stays unchanged.
    Damaged,
    /// Packing it was interrupted: it is complete as far as it goes.
    Begun,
    /// Everything that was packed is there.
    Finished,
}

/// An archived transcript in a file, with the row that it has or would have.
#[derive(Debug)]
pub(super) struct Found {
    pub row: ArchiveRow,
    pub sound: Completeness,
}

/// The kinds of files that no row names.
pub(super) enum Stray {
    Transcript(Box<Found>),
    /// It holds no data of a transcript.
    Empty,
    /// It cannot be read now, does not name its transcript, or is another kind of file.
    Unknown,
}

impl Archive {
    /// Examines a file without its row.
    pub(super) fn stray(&self, name: &str) -> Stray {
        let path = self.folder.join(name);
        let Ok((frames, state)) = File::open(&path).and_then(Frames::as_found) else {
            return Stray::Unknown;
        };
        let Some(label) = frames.label() else {
            let is_empty = state == ArchiveFileState::Begun { stored: 0 };
            return if is_empty { Stray::Empty } else { Stray::Unknown };
        };
        let (sound, stored, hash) = match (state, frames.hash()) {
            (ArchiveFileState::Finished { stored }, Some(hash)) => {
                (Completeness::Finished, stored, hash.to_owned())
            }
            (ArchiveFileState::Begun { stored }, _) => {
                let mut hash = Sha256::new();
                match hash_of(&mut frames.reader(), &mut hash) {
                    Ok(_) => (Completeness::Begun, stored, hex(hash)),
                    Err(error) if is_of_content(&error) => (Completeness::Damaged, 0, String::new()),
                    Err(_) => return Stray::Unknown,
                }
            }
            _ => (Completeness::Damaged, 0, String::new()),
        };
        let is_damaged = sound == Completeness::Damaged;
        if frames.is_empty() && !is_damaged {
            return Stray::Empty;
        }
        Stray::Transcript(Box::new(Found {
            row: ArchiveRow {
                path: label.path.clone(),
                session_id: label.session_id.clone(),
                subagent: label.subagent.clone(),
                file: name.to_owned(),
                // Of a damaged one no bytes count. So it is reported, and packed anew from its transcript.
                bytes: if is_damaged { 0 } else { frames.len() },
                stored: if is_damaged { folder::size(&path) } else { stored },
                hash,
                mtime: Timestamp::from_millis(label.mtime),
                archived_at: Timestamp::from_millis(label.archived_at),
                dev: label.id.0,
                inode: label.id.1,
            },
            sound,
        }))
    }

    /// The copies of transcripts in the folder that none of these rows names.
    pub(crate) fn copies_without(&self, rows: &[ArchiveRow]) -> Vec<ArchiveRow> {
        let copy = |name: String| match self.stray(&name) {
            Stray::Transcript(found) => Some(found.row),
            Stray::Empty | Stray::Unknown => None,
        };
        self.strays(rows).into_iter().filter_map(copy).collect()
    }

    /// The files in the folder that none of these rows names.
    pub(super) fn strays(&self, rows: &[ArchiveRow]) -> Vec<String> {
        let named: HashSet<&str> = rows.iter().map(|row| &*row.file).collect();
        let Ok(files) = fs::read_dir(&self.folder) else { return Vec::new() };
        let names = files.flatten().filter_map(|file| file.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|name| !named.contains(&**name)).collect();
        names.sort();
        names
    }
}
