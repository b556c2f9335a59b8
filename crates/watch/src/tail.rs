//! Reads exactly the bytes that are new since the last read, and detects a rewritten past.
//!
//! A length alone cannot tell an append from "truncated and grown again beyond the old end", and inode numbers are
//! reused. So a cursor also keeps hashes of the file's first bytes and of the bytes just before the cursor. Every
//! read compares both, at the same cost for a file of a kilobyte and of three gigabytes.
//!
//! Only the write time shows an edit between them that keeps the length, and only while nothing is appended after it;
//! `is_edited` has the rule. Three kinds of edits between the first and the last kilobyte stay unnoticed:
//!
//! - an edit with a record appended before the next look;
//! - an edit within two seconds after the write before it, or with its time set back to that;
//! - an edit in a file of more than 16 MiB.

use std::io;
use std::path::Path;

use watchbill_core::ids::{stable_hash, stable_hash_from};
use watchbill_core::time::{Millis, Timestamp};

use crate::fs::{FileId, FileKind, FileStat, Fs, NotRegular, ReadAt, is_gone, read_retrying};

/// Number of first bytes in the fingerprint.
const HEAD: usize = 1024;
/// Number of bytes before the cursor in the fingerprint. Records end alike (version, branch), so the window must
/// reach back to ids and times.
const WINDOW: usize = 1024;
/// Up to this length, a file that was written without a change of length is read anew. Of a longer one only the first
/// and last bytes are compared, because a caller may wait meanwhile.
const MAX_REREAD: u64 = 16 << 20;
/// Within this time after the last write, another write time means nothing. An append shows its time a moment before
/// its length, and some file systems set the time again when the writer closes the file.
const MTIME_TOLERANCE: Millis = Millis::from_secs(2);
/// Most new bytes of one read.
const CHUNK: usize = 256 * 1024;

/// Where reading stopped, and the state of the file then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// The file's identity.
    pub id: FileId,
    /// Hashes of its content.
    pub fingerprint: Fingerprint,
    /// All bytes before this one were delivered.
    pub offset: u64,
    /// Time of its last write: the only evidence of a rewrite that keeps the length.
    pub mtime: Timestamp,
}

/// The content of a file at two places: hashes of its first bytes and of the last ones before the cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint {
    head: u64,
    window: u64,
}

impl Fingerprint {
    /// Both hashes, for storing: of the first bytes, and of the last ones before the cursor.
    pub fn hashes(self) -> (u64, u64) {
        (self.head, self.window)
    }

    /// From the stored hashes.
    pub fn from_hashes((head, window): (u64, u64)) -> Self {
        Self { head, window }
    }
}

impl Default for Fingerprint {
    fn default() -> Self {
        Self { head: stable_hash(&[]), window: stable_hash(&[]) }
    }
}

/// What to read of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadPlan {
    /// Nothing changed.
    Nothing,
    /// Read this range, if the fingerprint still holds. An empty range asks only for the comparison: the file was
    /// written without a change of length.
    Append {
        /// The first byte to read.
        from: u64,
        /// The byte after the last one.
        to: u64,
    },
    /// All delivered bytes are void; read from the front.
    Restart(RestartReason),
    /// There is no such file.
    Gone,
}

/// Why the delivered bytes are void.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RestartReason {
    /// Another file has the name now.
    Replaced,
    /// The file is shorter than the delivered bytes.
    Truncated,
    /// The file is long enough but has other content.
    Rewritten,
}

/// Decides what to read, from the cursor and the file's `stat`.
pub fn plan_read(cursor: Option<&Cursor>, stat: Option<&FileStat>) -> ReadPlan {
    let Some(stat) = stat else { return ReadPlan::Gone };
    let Some(cursor) = cursor else { return ReadPlan::Append { from: 0, to: stat.len } };
    if stat.id != cursor.id {
        ReadPlan::Restart(RestartReason::Replaced)
    } else if stat.len < cursor.offset {
        ReadPlan::Restart(RestartReason::Truncated)
    } else if stat.len == cursor.offset && stat.mtime == cursor.mtime {
        ReadPlan::Nothing
    } else {
        ReadPlan::Append { from: cursor.offset, to: stat.len }
    }
}

/// Whether a file was written some time after its last byte was delivered, and kept its length. The agent never does
/// that. So the file was edited in place, or only touched; only reading can tell.
fn is_edited(cursor: &Cursor, stat: &FileStat) -> bool {
    let moved = stat.mtime.since(cursor.mtime).max(cursor.mtime.since(stat.mtime));
    stat.len == cursor.offset && moved >= MTIME_TOLERANCE && stat.len <= MAX_REREAD
}

/// The result of one read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReadOutcome {
    /// Number of delivered bytes.
    pub bytes_read: u64,
    /// Whether the budget ended before the file did, so that the caller must call again.
    pub more: bool,
    /// Why everything was delivered again, if it was.
    pub restarted: Option<RestartReason>,
}

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum TailError {
    /// There is no such file. The cursor stays, for a file that comes back.
    #[error("the file is gone")]
    Gone,
    /// It is a folder, pipe, socket or device.
    #[error("not a regular file")]
    NotAFile,
    /// The system reported an error.
    #[error(transparent)]
    Io(io::Error),
}

impl From<io::Error> for TailError {
    fn from(error: io::Error) -> Self {
        if is_gone(&error) {
            Self::Gone
        } else if NotRegular::is_cause_of(&error) {
            Self::NotAFile
        } else {
            Self::Io(error)
        }
    }
}

/// A followed file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tail {
    /// Where reading stopped; `None` before the first read.
    pub cursor: Option<Cursor>,
    /// Where delivery goes on, if that is before the cursor. The bytes between the two were delivered before a
    /// restart of the program, and the receiver has not kept the beginning of its unfinished line.
    pub redeliver_from: Option<u64>,
}

impl Tail {
    /// Delivers the new bytes of `path` through `on_bytes` (offset in the file, bytes), at most `budget` bytes.
    ///
    /// If earlier content was rewritten, it calls `on_restart` first and delivers the file from its front. The bytes
    /// delivered since the last restart are always a prefix of the file's content at one moment. All files share the
    /// buffer `scratch`; it never grows beyond 258 KiB.
    ///
    /// # Errors
    ///
    /// [`TailError`]. Bytes delivered before the error stay delivered, and the cursor stands after them.
    pub fn read(
        &mut self,
        fs: &dyn Fs,
        path: &Path,
        scratch: &mut Vec<u8>,
        budget: u64,
        on_restart: &mut dyn FnMut(),
        on_bytes: &mut dyn FnMut(u64, &[u8]),
    ) -> Result<ReadOutcome, TailError> {
        // Most files are read once and never grow.
        let file = match self.cursor {
            Some(_) => {
                let named = fs.stat(path)?;
                if named.kind != FileKind::File {
                    return Err(TailError::NotAFile);
                }
                if plan_read(self.cursor.as_ref(), Some(&named)) == ReadPlan::Nothing {
                    return Ok(ReadOutcome::default());
                }
                fs.open_again(path, &named)?
            }
            None => fs.open(path)?,
        };
        // The name may lead to another file by now. From here on only the open file counts.
        let stat = file.stat()?;
        let mut outcome = ReadOutcome::default();
        match plan_read(self.cursor.as_ref(), Some(&stat)) {
            ReadPlan::Nothing | ReadPlan::Gone => return Ok(outcome),
            ReadPlan::Restart(reason) => outcome.restarted = Some(reason),
            ReadPlan::Append { .. } => {
                if let Some(cursor) = &mut self.cursor
                    && !(!is_edited(cursor, &stat)
                        && fingerprint_matches(file.as_ref(), cursor, scratch)?
                        && move_back(file.as_ref(), cursor, self.redeliver_from, scratch)?)
                {
                    outcome.restarted = Some(RestartReason::Rewritten);
                }
            }
        }
        self.redeliver_from = None;
        if outcome.restarted.is_some() {
            self.cursor = None;
            on_restart();
        }
        let fresh = Cursor { id: stat.id, fingerprint: Fingerprint::default(), offset: 0, mtime: stat.mtime };
        let cursor = self.cursor.get_or_insert(fresh);
        deliver(file.as_ref(), cursor, stat.len, budget, scratch, on_bytes, &mut outcome)?;
        outcome.more = cursor.offset < stat.len && outcome.bytes_read >= budget;
        // Set only here, so that an error above leaves the old time and the next look tries again.
        cursor.mtime = stat.mtime;
        Ok(outcome)
    }
}

/// The last `room` bytes of a file, or all of a shorter one, and their offset: for callers that cannot wait for the
/// whole file.
///
/// # Errors
/// [`TailError`].
pub fn read_end(fs: &dyn Fs, path: &Path, room: u64) -> Result<(u64, Vec<u8>), TailError> {
    let file = fs.open(path)?;
    let len = file.stat()?.len;
    let room = room.min(len);
    let mut bytes = vec![0; usize::try_from(room).unwrap_or(usize::MAX)];
    let got = fill(file.as_ref(), &mut bytes, len - room)?;
    bytes.truncate(got);
    Ok((len - room, bytes))
}

/// Reads up to `end`, or until the budget is spent. The cursor always stands after the delivered bytes.
fn deliver(
    file: &dyn ReadAt,
    cursor: &mut Cursor,
    end: u64,
    budget: u64,
    scratch: &mut Vec<u8>,
    on_bytes: &mut dyn FnMut(u64, &[u8]),
    outcome: &mut ReadOutcome,
) -> io::Result<()> {
    while cursor.offset < end && outcome.bytes_read < budget {
        // Reads the window before the cursor again with the new bytes. So nothing is kept between two reads, and each
        // of thousands of followed files costs a few words.
        let back = cursor.offset.min(WINDOW as u64) as usize;
        let room = (end - cursor.offset).min(budget - outcome.bytes_read).min(CHUNK as u64) as usize;
        let scratch = first(scratch, back + room);
        let got = fill(file, scratch, cursor.offset - back as u64)?;
        if got <= back {
            // The file was truncated during the read; the next `stat` shows that.
            return Ok(());
        }
        let known = &scratch[..got];
        let fresh = &known[back..];
        if cursor.offset < HEAD as u64 {
            let head = fresh.len().min(HEAD - cursor.offset as usize);
            cursor.fingerprint.head = stable_hash_from(cursor.fingerprint.head, &fresh[..head]);
        }
        cursor.fingerprint.window = stable_hash(&known[got.saturating_sub(WINDOW)..]);
        on_bytes(cursor.offset, fresh);
        cursor.offset += fresh.len() as u64;
        outcome.bytes_read += fresh.len() as u64;
    }
    Ok(())
}

/// Whether the file still has the content of the fingerprint at both places.
fn fingerprint_matches(file: &dyn ReadAt, cursor: &Cursor, scratch: &mut Vec<u8>) -> io::Result<bool> {
    let head = cursor.offset.min(HEAD as u64) as usize;
    let front = first(scratch, head);
    if fill(file, front, 0)? < head || stable_hash(front) != cursor.fingerprint.head {
        return Ok(false);
    }
    let back = cursor.offset.min(WINDOW as u64) as usize;
    let window = first(scratch, back);
    Ok(fill(file, window, cursor.offset - back as u64)? == back
        && stable_hash(window) == cursor.fingerprint.window)
}

/// Moves the cursor back to where delivery goes on; `false` if the file has become shorter meanwhile.
fn move_back(
    file: &dyn ReadAt,
    cursor: &mut Cursor,
    to: Option<u64>,
    scratch: &mut Vec<u8>,
) -> io::Result<bool> {
    let Some(to) = to.filter(|to| *to < cursor.offset) else { return Ok(true) };
    let head = to.min(HEAD as u64) as usize;
    let front = first(scratch, head);
    if fill(file, front, 0)? < head {
        return Ok(false);
    }
    let head = stable_hash(front);
    let back = to.min(WINDOW as u64) as usize;
    let window = first(scratch, back);
    if fill(file, window, to - back as u64)? < back {
        return Ok(false);
    }
    cursor.fingerprint = Fingerprint { head, window: stable_hash(window) };
    cursor.offset = to;
    Ok(true)
}

/// The first `count` bytes of the buffer, with any content: clearing a quarter of a megabyte for each file is wasted
/// work.
fn first(scratch: &mut Vec<u8>, count: usize) -> &mut [u8] {
    if scratch.len() < count {
        scratch.resize(count, 0);
    }
    &mut scratch[..count]
}

/// Reads until `buf` is full or the file ends.
fn fill(file: &dyn ReadAt, buf: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut got = 0;
    while got < buf.len() {
        match read_retrying(file, &mut buf[got..], offset + got as u64)? {
            0 => break,
            more => got += more,
        }
    }
    Ok(got)
}
