//! The archive: compressed copies of transcripts, made before the agent's own clean-up removes them. The
//! transcripts themselves are only read.
//!
//! [`plan`] decides which transcripts to pack and which copies to delete. An archived transcript is one file of
//! zstd frames ([`frames`]) that only grows. Only its first `stored` bytes count, as its row in the table says. The
//! row is written last, after the file was synced and read back, so an unclean exit leaves no row whose file is
//! incomplete. A file without a row may be the last copy of a transcript (`strays`, `tidy`).

pub mod frames;
pub mod plan;
mod strays;
mod tidy;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use watchbill_core::time::Timestamp;

pub use crate::names::ARCHIVE;
use crate::tables::archive::ArchiveRow;
use crate::{StoreError, folder};
use frames::{FRAME, Frames, Label, Packer, TranscriptHash};

/// The folder of archived transcripts.
#[derive(Debug, Clone)]
pub struct Archive {
    folder: PathBuf,
}

/// A transcript to archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Original<'o> {
    /// Its path.
    pub path: &'o str,
    /// Its session.
    pub session_id: &'o str,
    /// The subagent, if it is a subagent's transcript.
    pub subagent: Option<&'o str>,
    /// When it was last written.
    pub mtime: Timestamp,
    /// Device and inode, so that the archived copy can stand in for it.
    pub id: (u64, u64),
    /// The contents of the file beside a subagent's transcript, archived with it.
    pub meta: Option<&'o str>,
}

impl Original<'_> {
    fn label(&self, now: Timestamp) -> Label {
        Label {
            path: self.path.to_owned(),
            session_id: self.session_id.to_owned(),
            subagent: self.subagent.map(str::to_owned),
            mtime: self.mtime.as_millis(),
            archived_at: now.as_millis(),
            id: self.id,
            meta: self.meta.map(str::to_owned),
            whole: None,
        }
    }
}

/// The result of packing.
#[derive(Debug)]
pub struct Packed {
    /// The row to store. From then on it counts.
    pub row: ArchiveRow,
    /// A file that no row names once `row` is stored.
    pub void: Option<String>,
    /// The row of the earlier copy, to store with `row`: that copy holds records that the transcript has lost.
    pub earlier: Option<ArchiveRow>,
}

impl Archive {
    /// The archive in this data folder. Its folder is created when something is packed.
    pub fn new(data_dir: &Path) -> Self {
        Self { folder: data_dir.join(ARCHIVE) }
    }

    /// Packs `source` from its beginning to its end; `level` is zstd's. If its beginning is archived already and
    /// unchanged, only the rest is added.
    ///
    /// # Errors
    /// When the source cannot be read or the archive cannot be written. The earlier copy stays archived.
    pub fn pack(
        &self,
        original: &Original<'_>,
        source: &mut dyn Read,
        known: Option<&ArchiveRow>,
        level: i32,
        now: Timestamp,
    ) -> Result<Packed, StoreError> {
        folder::make(&self.folder)?;
        let mut hash = Sha256::new();
        if let Some(known) = known {
            // The old part is read again, to compare it and to continue its hash.
            let read = hash_of(&mut (&mut *source).take(known.bytes), &mut hash)
                .map_err(|e| read_error(original, e))?;
            let is_held = read == known.bytes && hex(hash.clone()) == known.hash;
            if !is_held || !self.is_whole(known) {
                return Err(read_error(original, io::Error::other(RewrittenError { is_held })));
            }
        }
        let name = known.map_or_else(|| self.free_name(original.path), |known| known.file.clone());
        let path = self.folder.join(&name);
        let before = known.map(|known| known.stored);
        let before_bytes = known.map_or(0, |known| known.bytes);
        let place = AppendTarget { path: &path, begin: before.unwrap_or(0), bytes: before_bytes, level };
        let added = add(&place, original, original.label(now), source, &mut hash);
        let (bytes, stored) = added.inspect_err(|_| self.cut_or_remove(&path, before))?;
        let row = ArchiveRow {
            path: original.path.to_owned(),
            session_id: original.session_id.to_owned(),
            subagent: original.subagent.map(str::to_owned),
            file: name,
            bytes: before_bytes + bytes,
            stored: before.unwrap_or(0) + stored,
            hash: hex(hash),
            mtime: original.mtime,
            archived_at: now,
            dev: original.id.0,
            inode: original.id.1,
        };
        if !self.is_whole(&row) {
            self.cut_or_remove(&path, before);
            return Err(StoreError::Io {
                path,
                source: io::Error::other("it does not hold what was written to it"),
            });
        }
        // Without this, a crash may lose the file's name. The row is then refused when it is read.
        folder::sync_names(&self.folder);
        Ok(Packed { row, void: None, earlier: None })
    }

    /// Packs also a transcript that was rewritten since it was archived. All of it is packed anew, beside the
    /// earlier copy, which counts until the new row is stored. If the transcript does not begin with all of the
    /// earlier copy, that copy may be the last of its records, and stays.
    ///
    /// # Errors
    /// As for [`Archive::pack`].
    pub fn pack_again(
        &self,
        original: &Original<'_>,
        open: &mut dyn FnMut() -> io::Result<Box<dyn Read>>,
        known: Option<&ArchiveRow>,
        level: i32,
        now: Timestamp,
    ) -> Result<Packed, StoreError> {
        let mut source = open().map_err(|e| read_error(original, e))?;
        match self.pack(original, &mut source, known, level, now) {
            Err(StoreError::Io { source: error, path }) => {
                let Some((known, changed)) = known.zip(RewrittenError::cause_of(&error)) else {
                    return Err(StoreError::Io { source: error, path });
                };
                let mut source = open().map_err(|e| read_error(original, e))?;
                let mut packed = self.pack(original, &mut source, None, level, now)?;
                if changed.is_held {
                    packed.void = Some(known.file.clone());
                } else {
                    packed.earlier = Some(known.as_earlier());
                }
                Ok(packed)
            }
            other => other,
        }
    }

    /// Whether `copy` begins with all of `other`, or equals it.
    fn begins_with(&self, copy: &ArchiveRow, other: &ArchiveRow) -> bool {
        if copy.hash == other.hash {
            return true;
        }
        let mut hash = Sha256::new();
        let read = self.open(copy).and_then(|frames| {
            hash_of(&mut frames.reader().take(other.bytes), &mut hash)
                .map_err(|e| StoreError::io(&self.path_of(copy), e))
        });
        read.is_ok_and(|read| read == other.bytes) && hex(hash) == other.hash
    }

    /// The path of its file.
    pub fn path_of(&self, row: &ArchiveRow) -> PathBuf {
        self.folder.join(&row.file)
    }

    /// Opens an archived transcript for reading at any position.
    ///
    /// # Errors
    /// When its file is missing, or is not as the row says.
    pub fn open(&self, row: &ArchiveRow) -> Result<Frames, StoreError> {
        let path = self.folder.join(&row.file);
        let opened = File::open(&path).and_then(|file| Frames::new(file, row.stored));
        let frames = opened.map_err(|e| StoreError::io(&path, e))?;
        if frames.len() == row.bytes {
            Ok(frames)
        } else {
            Err(StoreError::Io {
                path,
                source: io::Error::new(io::ErrorKind::InvalidData, "it is not whole"),
            })
        }
    }

    /// Opens one that may be damaged, as far as its frames can be found.
    ///
    /// # Errors
    /// When its file cannot be read.
    pub fn open_as_found(&self, row: &ArchiveRow) -> io::Result<Frames> {
        File::open(self.path_of(row)).and_then(Frames::as_found).map(|(frames, _)| frames)
    }

    /// Whether the file holds, byte for byte, the transcript of the row.
    pub fn is_whole(&self, row: &ArchiveRow) -> bool {
        let Ok(frames) = self.open(row) else { return false };
        let mut hash = Sha256::new();
        hash_of(&mut frames.reader(), &mut hash).is_ok_and(|bytes| bytes == row.bytes)
            && hex(hash) == row.hash
    }

    /// Removes one file that no row names any more.
    pub fn remove(&self, name: &str) {
        self.cut_or_remove(&self.folder.join(name), None);
    }

    /// How much smaller packing makes a transcript: its size divided by the packed size, measured on its first
    /// bytes.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn ratio(source: &mut dyn Read, level: i32) -> io::Result<f64> {
        let mut head = Vec::new();
        fill(source, &mut head)?;
        let stored = Packer::new(level)?.write(&head, &mut io::sink())?;
        Ok(if head.is_empty() { 1.0 } else { head.len() as f64 / stored as f64 })
    }

    fn cut_or_remove(&self, path: &Path, to: Option<u64>) {
        let done = match to {
            Some(len) => OpenOptions::new().write(true).open(path).and_then(|file| file.set_len(len)),
            None => fs::remove_file(path),
        };
        if let Err(error) = done {
            tracing::warn!(path = %path.display(), %error, "an unneeded file of the archive could not be removed or cut");
        }
    }

    /// A file name that shows the transcript's name, and that no file has.
    fn free_name(&self, path: &str) -> String {
        let stem =
            Path::new(path).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let hash = hex(Sha256::new_with_prefix(path));
        (0..)
            .map(|n| format!("{stem}.{}.{n}.jsonl.zst", &hash[..8]))
            .find(|name| !self.folder.join(name).exists())
            .unwrap_or_default()
    }
}

/// Where frames are added, and how they are packed.
struct AppendTarget<'p> {
    path: &'p Path,
    begin: u64,
    /// How much of the transcript the file holds already.
    bytes: u64,
    level: i32,
}

/// Appends the rest of `source` after the first bytes of a file. Returns how many bytes it read and how many it
/// wrote.
fn add(
    to: &AppendTarget<'_>,
    original: &Original<'_>,
    mut label: Label,
    source: &mut dyn Read,
    hash: &mut Sha256,
) -> Result<(u64, u64), StoreError> {
    let refused = |e| StoreError::io(to.path, e);
    let mut file = folder::touch(to.path)?;
    file.set_len(to.begin).and_then(|()| file.seek(SeekFrom::End(0))).map_err(refused)?;
    let mut packer = Packer::new(to.level).map_err(refused)?;
    let (mut bytes, mut stored) = (0, label.write(&mut file).map_err(refused)?);
    let mut frame = Vec::new();
    loop {
        fill(source, &mut frame).map_err(|e| read_error(original, e))?;
        if frame.is_empty() {
            break;
        }
        hash.update(&frame);
        bytes += frame.len() as u64;
        stored += packer.write(&frame, &mut file).map_err(refused)?;
    }
    // The label at the end states that the transcript is complete. It is written after a sync: a power failure must
    // not leave the label without the data.
    file.sync_all().map_err(refused)?;
    label.whole = Some(TranscriptHash { bytes: to.bytes + bytes, hash: hex(hash.clone()) });
    stored += label.write(&mut file).map_err(refused)?;
    file.sync_all().map_err(refused)?;
    Ok((bytes, stored))
}

fn read_error(original: &Original<'_>, error: io::Error) -> StoreError {
    StoreError::Io { path: original.path.into(), source: error }
}

/// The archived copy is not the beginning of the transcript as it is now, or is damaged.
#[derive(Debug, Clone, Copy)]
struct RewrittenError {
    /// Whether the transcript still begins with all of the archived copy.
    is_held: bool,
}

impl RewrittenError {
    fn cause_of(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref().copied()
    }
}

impl std::fmt::Display for RewrittenError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("it was rewritten since it was archived")
    }
}

impl std::error::Error for RewrittenError {}

/// Reads the bytes of a whole frame, fewer at the end.
fn fill(source: &mut dyn Read, buffer: &mut Vec<u8>) -> io::Result<()> {
    buffer.clear();
    source.take(FRAME as u64).read_to_end(buffer).map(drop)
}

fn hash_of(source: &mut dyn Read, hash: &mut Sha256) -> io::Result<u64> {
    let mut buffer = vec![0; 64 * 1024];
    let mut bytes = 0;
    loop {
        match source.read(&mut buffer) {
            Ok(0) => return Ok(bytes),
            Ok(n) => {
                hash.update(&buffer[..n]);
                bytes += n as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn hex(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
