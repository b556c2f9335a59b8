//! Reads exactly the bytes that came since the last time, and notices when the past was rewritten.
//!
//! A length alone cannot tell an append from "truncated and grown again beyond the old end", and an inode number
//! is reused. So a cursor also remembers what the file's first bytes and the bytes just before its end were; both
//! are compared at every read, which costs the same for a file of a kilobyte and of three gigabytes.
//!
//! An edit in between that keeps the length is told by the time of writing alone, as long as nothing is appended after it:
//! `is_edited` says when. Three limits follow. An edit between the first and the last kilobyte goes unnoticed when a record
//! is appended before the next look, when it follows the write before it within two seconds or has its time set back to that,
//! and in a file of more than 16 MiB.

use std::io;
use std::path::Path;

use watchbill_core::ids::{stable_hash, stable_hash_from};
use watchbill_core::time::{Millis, Timestamp};

use crate::fs::{FileId, FileKind, FileStat, Fs, NotRegular, ReadAt, is_gone, read_retrying};

/// How many bytes at the front are remembered.
const HEAD: usize = 1024;
/// How many bytes before the cursor are remembered. Records end alike (version, branch), so that the window must
/// reach over their ends to where ids and times stand.
const WINDOW: usize = 1024;
/// A file that was written without a change of length is read anew up to this length; of a longer one the first and last
/// bytes are compared alone, since somebody may wait meanwhile.
const READ_ANEW: u64 = 16 << 20;
/// Within so long after the last write another time says nothing: an append shows its time a moment before its length, and
/// some file systems set the time again when the writer closes the file.
const SETTLED: Millis = Millis::from_secs(2);
/// How many new bytes are read at once.
const CHUNK: usize = 256 * 1024;

/// Where reading stopped, and what the file was then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// Which file it was.
    pub id: FileId,
    /// What it held.
    pub fingerprint: Fingerprint,
    /// All bytes before this one were delivered.
    pub offset: u64,
    /// When it had last been written: the only witness of a rewrite that keeps the length.
    pub mtime: Timestamp,
}

/// What a file held at two places: hashes of its first bytes and of the last ones before the cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint {
    head: u64,
    window: u64,
}

impl Fingerprint {
    /// Both hashes, for keeping: of the first bytes, and of the last ones before the cursor.
    pub fn hashes(self) -> (u64, u64) {
        (self.head, self.window)
    }

    /// From the hashes that were kept.
    pub fn from_hashes((head, window): (u64, u64)) -> Self {
        Self { head, window }
    }
}

impl Default for Fingerprint {
    fn default() -> Self {
        Self { head: stable_hash(&[]), window: stable_hash(&[]) }
    }
}

/// What to do about a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadPlan {
    /// Nothing changed.
    Nothing,
    /// Read from here to there, if the fingerprint still holds. Equal ends ask for the comparison alone: the
    /// file was written without a change of length.
    Append {
        /// The first byte to read.
        from: u64,
        /// One after the last.
        to: u64,
    },
    /// What was delivered is void; read from the front.
    Restart(RestartReason),
    /// There is no such file.
    Gone,
}

/// How we know that what was delivered is void.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RestartReason {
    /// Another file has the name now.
    Replaced,
    /// It is shorter than what was delivered.
    Truncated,
    /// It is long enough but holds something else.
    Rewritten,
}

/// Decides from what is remembered and what `stat` says.
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

/// Whether a file was written some time after its last byte was delivered, and has the length that it had: no agent does
/// that, so it was edited in place, or only touched, which cannot be told apart without reading it.
fn is_edited(cursor: &Cursor, stat: &FileStat) -> bool {
    let moved = stat.mtime.since(cursor.mtime).max(cursor.mtime.since(stat.mtime));
    stat.len == cursor.offset && moved >= SETTLED && stat.len <= READ_ANEW
}

/// What one read did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReadOutcome {
    /// How many bytes were delivered.
    pub bytes_read: u64,
    /// Whether the budget ended before the file did: call again.
    pub more: bool,
    /// Why everything was delivered anew, if it was.
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
    /// The system said no.
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

/// One file that is followed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tail {
    /// Where reading stopped; `None` before the first read.
    pub cursor: Option<Cursor>,
    /// Where delivering goes on when that lies before the cursor: what stands between was delivered before a restart
    /// of the program, to somebody who waited for the rest of a line and has forgotten its beginning.
    pub again_from: Option<u64>,
}

impl Tail {
    /// Delivers what is new in `path` through `on_bytes` (offset in the file, bytes), at most `budget` bytes.
    ///
    /// When the past was rewritten `on_restart` is called first and the file is delivered from its front. The
    /// bytes delivered since the last restart are always a prefix of what the file held at one moment.
    /// `scratch` is a buffer to be shared by all files; it never grows beyond 258 KiB.
    ///
    /// # Errors
    ///
    /// [`TailError`]; whatever was delivered before stays delivered, and the cursor stands behind it.
    pub fn read(
        &mut self,
        fs: &dyn Fs,
        path: &Path,
        scratch: &mut Vec<u8>,
        budget: u64,
        on_restart: &mut dyn FnMut(),
        on_bytes: &mut dyn FnMut(u64, &[u8]),
    ) -> Result<ReadOutcome, TailError> {
        let named = fs.stat(path)?;
        if named.kind != FileKind::File {
            return Err(TailError::NotAFile);
        }
        if plan_read(self.cursor.as_ref(), Some(&named)) == ReadPlan::Nothing {
            return Ok(ReadOutcome::default());
        }
        // Most files are read once, and lie there.
        let file = if self.cursor.is_some() { fs.open_again(path, &named)? } else { fs.open(path)? };
        // The name may lead to another file by now: from here on only the open one counts.
        let stat = file.stat()?;
        let mut outcome = ReadOutcome::default();
        match plan_read(self.cursor.as_ref(), Some(&stat)) {
            ReadPlan::Nothing | ReadPlan::Gone => return Ok(outcome),
            ReadPlan::Restart(reason) => outcome.restarted = Some(reason),
            ReadPlan::Append { .. } => {
                if let Some(cursor) = &mut self.cursor
                    && !(!is_edited(cursor, &stat)
                        && still_holds(file.as_ref(), cursor, scratch)?
                        && set_back(file.as_ref(), cursor, self.again_from, scratch)?)
                {
                    outcome.restarted = Some(RestartReason::Rewritten);
                }
            }
        }
        self.again_from = None;
        if outcome.restarted.is_some() {
            self.cursor = None;
            on_restart();
        }
        let fresh = Cursor { id: stat.id, fingerprint: Fingerprint::default(), offset: 0, mtime: stat.mtime };
        let cursor = self.cursor.get_or_insert(fresh);
        deliver(file.as_ref(), cursor, stat.len, budget, scratch, on_bytes, &mut outcome)?;
        outcome.more = cursor.offset < stat.len && outcome.bytes_read >= budget;
        // Only now, so that an error on the way leaves the old time and the next look tries again.
        cursor.mtime = stat.mtime;
        Ok(outcome)
    }
}

/// The last `room` bytes of a file, or all of a shorter one, and the byte at which they begin: for who cannot wait for the rest.
///
/// # Errors
/// [`TailError`].
pub fn read_end(fs: &dyn Fs, path: &Path, room: u64) -> Result<(u64, Vec<u8>), TailError> {
    if fs.stat(path)?.kind != FileKind::File {
        return Err(TailError::NotAFile);
    }
    let file = fs.open(path)?;
    let len = file.stat()?.len;
    let room = room.min(len);
    let mut bytes = vec![0; usize::try_from(room).unwrap_or(usize::MAX)];
    let got = fill(file.as_ref(), &mut bytes, len - room)?;
    bytes.truncate(got);
    Ok((len - room, bytes))
}

/// Reads up to `end` or until the budget is spent, keeping the cursor behind what was delivered.
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
        // The window before the cursor is read again with the new bytes, so that nothing need be kept between
        // two reads and thousands of followed files cost a few words each.
        let back = cursor.offset.min(WINDOW as u64) as usize;
        let room = (end - cursor.offset).min(budget - outcome.bytes_read).min(CHUNK as u64) as usize;
        let scratch = first(scratch, back + room);
        let got = fill(file, scratch, cursor.offset - back as u64)?;
        if got <= back {
            // Cut off under our hands; the next `stat` tells.
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

/// Whether the file still holds at both places what it held when the cursor was set.
fn still_holds(file: &dyn ReadAt, cursor: &Cursor, scratch: &mut Vec<u8>) -> io::Result<bool> {
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

/// Moves the cursor back to where delivering goes on; `false` when the file has become shorter meanwhile.
fn set_back(
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

/// So many bytes of the buffer, whatever they hold: to blank a quarter of a megabyte for each file is work for nothing.
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
