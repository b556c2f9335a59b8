//! Archive files without a row in the table. An unclean exit leaves such files. But if the database was damaged or
//! removed, they may be the last copies of transcripts. So they are added to the table again, by their own labels.

use std::collections::HashSet;
use std::fs::{self, File};

use watchbill_core::time::Timestamp;

use super::frames::Frames;
use super::{Archive, BEGUN};
use crate::folder;
use crate::tables::archive::ArchiveRow;

/// An archived transcript in a file, with the row that it has or would have.
#[derive(Debug)]
pub(super) struct Found {
    pub row: ArchiveRow,
    /// Otherwise it cannot be read as it was written. Its file stays unchanged.
    pub is_whole: bool,
}

/// The kinds of files that no row names.
pub(super) enum Stray {
    Transcript(Box<Found>),
    /// Writing it was interrupted, or it holds no data of a transcript.
    Begun,
    /// It cannot be read now, does not name its transcript, or is another kind of file.
    Unknown,
}

impl Archive {
    /// Examines a file without its row.
    pub(super) fn stray(&self, name: &str) -> Stray {
        if name.ends_with(BEGUN) {
            return Stray::Begun;
        }
        let path = self.folder.join(name);
        let Ok(frames) = File::open(&path).and_then(Frames::as_found) else { return Stray::Unknown };
        let size = folder::size(&path);
        if frames.is_empty() && frames.stored() == size {
            return Stray::Begun;
        }
        let Some(label) = frames.label() else { return Stray::Unknown };
        let hash = frames.hash().filter(|_| frames.stored() == size);
        Stray::Transcript(Box::new(Found {
            row: ArchiveRow {
                path: label.path.clone(),
                session_id: label.session_id.clone(),
                subagent: label.subagent.clone(),
                file: name.to_owned(),
                // Of a damaged one no bytes count. So it is reported, and packed anew from its transcript.
                bytes: hash.map_or(0, |_| frames.len()),
                stored: size,
                hash: hash.unwrap_or_default().to_owned(),
                mtime: Timestamp::from_millis(label.mtime),
                archived_at: Timestamp::from_millis(label.archived_at),
                dev: label.id.0,
                inode: label.id.1,
            },
            is_whole: hash.is_some(),
        }))
    }

    /// The copies of transcripts in the folder that none of these rows names.
    pub(crate) fn copies_without(&self, rows: &[ArchiveRow]) -> Vec<ArchiveRow> {
        let copy = |name: String| match self.stray(&name) {
            Stray::Transcript(found) => Some(found.row),
            Stray::Begun | Stray::Unknown => None,
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
