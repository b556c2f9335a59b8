//! The stored state of one file's history, as parts of a snapshot in the store.
//!
//! The first part is small and is written with every change. The ids of the records, which detect doubles, only grow.
//! They follow in further parts, eight bytes each, and only the last part is written anew.

use std::path::Path;

use serde::{Deserialize, Serialize};
use watchbill_core::history::HistoryFold;
use watchbill_core::ids::SessionId;
use watchbill_core::session::IdSet;
use watchbill_core::session::snapshot::{VERSION, from_bytes, to_bytes};
use watchbill_store::tables::files::{FileCursor, FileRow};
use watchbill_store::tables::snapshots::{SnapshotKind, SnapshotPart};
use watchbill_store::{FileKey, SessionKey, Store, StoreError, WriteTransaction};
use watchbill_watch::fs::FileId;
use watchbill_watch::tail::{Cursor, Fingerprint};

/// Bytes of a full part. Its row in the store then fits into one page, as in the table of states.
const PART_BYTES: usize = 230 * 8;

/// The stored ids, in parts.
#[derive(Debug, Clone, Default)]
pub struct IdParts {
    /// Number of full parts.
    full: u32,
    /// The bytes of the part after them.
    open: Vec<u8>,
}

impl IdParts {
    /// From the stored parts. Only a short last part is open. The others are full, also those of another length that
    /// an earlier version wrote.
    fn of(stored: &[SnapshotPart]) -> Self {
        match stored.split_last() {
            Some((last, others)) if last.bytes.len() < PART_BYTES => {
                Self { full: others.len() as u32, open: last.bytes.clone() }
            }
            _ => Self { full: stored.len() as u32, open: Vec::new() },
        }
    }

    /// Stores more ids.
    fn add(
        &mut self,
        step: &mut WriteTransaction<'_>,
        file: FileKey,
        line_start: u64,
        ids: &[u64],
    ) -> Result<(), StoreError> {
        self.open.extend(ids.iter().flat_map(|id| id.to_le_bytes()));
        let ids = std::mem::take(&mut self.open);
        for bytes in ids.chunks(PART_BYTES) {
            // The first part is the head.
            step.put_snapshot(file, SnapshotKind::History, self.full + 1, VERSION, line_start, bytes)?;
            if bytes.len() == PART_BYTES {
                self.full += 1;
            } else {
                self.open = bytes.to_vec();
            }
        }
        Ok(())
    }
}

/// The content of the first part.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    /// Where the unfinished line begins.
    line_start: u64,
    /// Without the ids themselves.
    seen: IdSet,
    session: SessionId,
    fold: Vec<u8>,
}

/// The stored state of a file.
pub struct SavedFile {
    pub file: FileKey,
    pub session: SessionKey,
    pub cursor: Cursor,
    pub line_start: u64,
    pub seen: IdSet,
    pub fold: HistoryFold,
    pub ids: IdParts,
}

/// The stored data of a file.
pub enum StoredState {
    /// The file is not stored.
    New,
    /// The complete state of the file.
    Resumable(Box<SavedFile>),
    /// Rows, but no state in the current form: the file must be read from its beginning.
    RowsOnly(FileKey, SessionKey),
}

/// Reads the stored state of a file.
pub fn read(store: &Store, path: &Path, agent: Option<&str>) -> Result<StoredState, StoreError> {
    let Some((file, row)) = store.file(&path.to_string_lossy())? else { return Ok(StoredState::New) };
    let parts = store.snapshot(file, SnapshotKind::History)?;
    Ok(match whole(file, &row, &parts, agent) {
        Some(kept) => StoredState::Resumable(Box::new(kept)),
        None => StoredState::RowsOnly(file, row.session),
    })
}

fn whole(file: FileKey, row: &FileRow, parts: &[SnapshotPart], agent: Option<&str>) -> Option<SavedFile> {
    let (head, pieces) = parts.split_first()?;
    let Head { line_start, mut seen, session, fold } = from_bytes(&head.bytes).ok()?;
    let fold = HistoryFold::restore(&fold, &session, agent).ok()?;
    let mut ids = Vec::with_capacity(seen.len());
    for piece in pieces {
        let (words, rest) = piece.bytes.as_chunks::<8>();
        ids.extend(words.iter().map(|word| u64::from_le_bytes(*word)));
        if !rest.is_empty() {
            return None;
        }
    }
    if !seen.restore_pieces(&ids) {
        return None;
    }
    seen.note_new();
    let FileCursor { dev, inode, mtime, head, window, offset, .. } = row.cursor;
    let cursor = Cursor {
        id: FileId { dev, ino: inode },
        fingerprint: Fingerprint::from_hashes((head, window)),
        offset,
        mtime,
    };
    Some(SavedFile { file, session: row.session, cursor, line_start, seen, fold, ids: IdParts::of(pieces) })
}

/// Writes the changed state of a file.
pub fn write(
    step: &mut WriteTransaction<'_>,
    file: FileKey,
    cursor: &Cursor,
    line_start: u64,
    seen: &mut IdSet,
    fold: &HistoryFold,
    ids: &mut IdParts,
) -> Result<(), StoreError> {
    let new = seen.take_new();
    let head = Head {
        line_start,
        seen: std::mem::take(seen),
        session: fold.session().clone(),
        fold: fold.snapshot(),
    };
    step.put_snapshot(file, SnapshotKind::History, 0, VERSION, line_start, &to_bytes(&head))?;
    *seen = head.seen;
    if !new.is_empty() {
        ids.add(step, file, line_start, &new)?;
    }
    let (head, window) = cursor.fingerprint.hashes();
    let FileId { dev, ino } = cursor.id;
    let (mtime, offset) = (cursor.mtime, cursor.offset);
    step.set_cursor(file, &FileCursor { dev, inode: ino, size: offset, mtime, head, window, offset })
}
