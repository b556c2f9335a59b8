//! What is kept of one file's history over a restart, as parts of a snapshot in the store.
//!
//! The first part is written with every change and is small. What is remembered of each record, its id against
//! doubles, only grows: it follows in further parts, eight bytes for each.

use std::path::Path;

use serde::{Deserialize, Serialize};
use watchbill_core::history::HistoryFold;
use watchbill_core::ids::SessionId;
use watchbill_core::session::IdSet;
use watchbill_core::session::snapshot::{VERSION, from_bytes, to_bytes};
use watchbill_store::tables::files::{FileCursor, FileRow};
use watchbill_store::tables::snapshots::{SnapshotKind, SnapshotPart};
use watchbill_store::{FileKey, SessionKey, Step, Store, StoreError};
use watchbill_watch::fs::FileId;
use watchbill_watch::tail::{Cursor, Fingerprint};

/// More parts than this become one when the next is written.
const MOST_PARTS: u32 = 64;

/// What stands in the first part.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    /// Where the unfinished line begins.
    line_start: u64,
    /// Without the ids themselves.
    seen: IdSet,
    session: SessionId,
    fold: Vec<u8>,
}

/// A file as the store knows it.
pub struct Kept {
    pub file: FileKey,
    pub session: SessionKey,
    pub cursor: Cursor,
    pub line_start: u64,
    pub seen: IdSet,
    pub fold: HistoryFold,
    /// Number of the next part.
    pub parts: u32,
}

/// What the store knows of a file.
pub enum Known {
    /// Nothing.
    New,
    /// Where we were in it.
    Whole(Box<Kept>),
    /// Rows, but not where we were, or in another form: it is to be read from its beginning.
    Rows(FileKey, SessionKey),
}

/// Asks the store.
pub fn read(store: &Store, path: &Path, agent: Option<&str>) -> Result<Known, StoreError> {
    let Some((file, row)) = store.file(&path.to_string_lossy())? else { return Ok(Known::New) };
    let parts = store.snapshot(file, SnapshotKind::History)?;
    Ok(match whole(file, &row, &parts, agent) {
        Some(kept) => Known::Whole(Box::new(kept)),
        None => Known::Rows(file, row.session),
    })
}

fn whole(file: FileKey, row: &FileRow, parts: &[SnapshotPart], agent: Option<&str>) -> Option<Kept> {
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
    if !seen.take_up(&ids) {
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
    Some(Kept { file, session: row.session, cursor, line_start, seen, fold, parts: parts.len() as u32 })
}

/// Writes what has changed; gives back the number of the next part.
pub fn write(
    step: &mut Step<'_>,
    file: FileKey,
    cursor: &Cursor,
    line_start: u64,
    seen: &mut IdSet,
    fold: &HistoryFold,
    mut parts: u32,
) -> Result<u32, StoreError> {
    let kind = SnapshotKind::History;
    if parts > MOST_PARTS {
        step.cut_snapshot(file, kind, 1)?;
        seen.note_all();
        parts = 1;
    }
    let new = seen.take_new();
    let head = Head {
        line_start,
        seen: std::mem::take(seen),
        session: fold.session().clone(),
        fold: fold.snapshot(),
    };
    step.put_snapshot(file, kind, 0, VERSION, line_start, &to_bytes(&head))?;
    *seen = head.seen;
    parts = parts.max(1);
    if !new.is_empty() {
        let bytes: Vec<u8> = new.iter().flat_map(|id| id.to_le_bytes()).collect();
        step.put_snapshot(file, kind, parts, VERSION, line_start, &bytes)?;
        parts += 1;
    }
    let (head, window) = cursor.fingerprint.hashes();
    let FileId { dev, ino } = cursor.id;
    let (mtime, offset) = (cursor.mtime, cursor.offset);
    step.set_cursor(file, &FileCursor { dev, inode: ino, size: offset, mtime, head, window, offset })?;
    Ok(parts)
}
