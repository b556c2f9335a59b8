//! The archive: transcripts kept compressed, before the agent's own clean-up removes them. The transcripts themselves
//! are only read.
//!
//! [`plan`] says what to pack and what to give up. An archived transcript is one file of zstd frames ([`frames`]) that
//! only grows. What counts of it is what the table says, `stored` bytes: that is written last, after the file was
//! synced and read back, so that an unclean exit leaves nothing that counts and is not whole. A file that the table does
//! not name may be the last that there is of a transcript (`strays`, `tidy`).

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
use frames::{FRAME, Frames, Label, Packer, Whole};

/// The folder of archived transcripts.
#[derive(Debug, Clone)]
pub struct Archive {
    folder: PathBuf,
}

/// A transcript that is to be archived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Original<'o> {
    /// Where it lies.
    pub path: &'o str,
    /// Whose it is.
    pub session_id: &'o str,
    /// The subagent, if it is a subagent's.
    pub subagent: Option<&'o str>,
    /// When it was last written.
    pub mtime: Timestamp,
    /// Device and inode, so that the archived one can stand in for it.
    pub id: (u64, u64),
    /// What stands beside a subagent's transcript, and goes with it.
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

/// What packing gave.
#[derive(Debug)]
pub struct Packed {
    /// To be stored: from then on it counts.
    pub row: ArchiveRow,
    /// A file that no row names any more once `row` is stored.
    pub void: Option<String>,
    /// What was archived before, to be stored with `row`: it holds what the transcript does no longer.
    pub earlier: Option<ArchiveRow>,
}

impl Archive {
    /// In this data folder. Nothing is made before something is packed.
    pub fn new(data_dir: &Path) -> Self {
        Self { folder: data_dir.join(ARCHIVE) }
    }

    /// Packs what `source` gives, from its beginning to its end; `level` is zstd's. Where the beginning is archived
    /// already and still the same, only the rest is added.
    ///
    /// # Errors
    /// When the source cannot be read or the archive cannot be written. What was archived before still is.
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
            // The old part is read again: it is compared, and the hash goes on from it.
            let read = hash_of(&mut (&mut *source).take(known.bytes), &mut hash)
                .map_err(|e| read_error(original, e))?;
            let is_held = read == known.bytes && hex(hash.clone()) == known.hash;
            if !is_held || !self.is_whole(known) {
                return Err(read_error(original, io::Error::other(Changed { is_held })));
            }
        }
        let name = known.map_or_else(|| self.free_name(original.path), |known| known.file.clone());
        let path = self.folder.join(&name);
        let before = known.map(|known| known.stored);
        let before_bytes = known.map_or(0, |known| known.bytes);
        let place = Place { path: &path, begin: before.unwrap_or(0), bytes: before_bytes, level };
        let added = add(&place, original, original.label(now), source, &mut hash);
        let (bytes, stored) = added.inspect_err(|_| self.take_back(&path, before))?;
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
            self.take_back(&path, before);
            return Err(StoreError::Io {
                path,
                source: io::Error::other("it does not hold what was written to it"),
            });
        }
        // Where that cannot be, the row is refused when it is read.
        folder::sync_names(&self.folder);
        Ok(Packed { row, void: None, earlier: None })
    }

    /// The same, also when the transcript was rewritten since it was archived: then all of it is packed anew, beside
    /// what is archived, which counts until the new row is stored. Where the transcript does not begin with all of what is
    /// archived, that may be the last there is of it, and stays.
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
                let Some((known, changed)) = known.zip(Changed::cause_of(&error)) else {
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

    /// Whether all that is in one copy is the beginning of another, or all of that.
    fn holds(&self, copy: &ArchiveRow, other: &ArchiveRow) -> bool {
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

    /// Where its file lies.
    pub fn path_of(&self, row: &ArchiveRow) -> PathBuf {
        self.folder.join(&row.file)
    }

    /// An archived transcript, to be read at any place.
    ///
    /// # Errors
    /// When its file is not there, or is not what the row says.
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

    /// The same of one that may be damaged, as far as its frames can be found at all.
    ///
    /// # Errors
    /// When its file cannot be read.
    pub fn open_as_found(&self, row: &ArchiveRow) -> io::Result<Frames> {
        File::open(self.path_of(row)).and_then(Frames::as_found).map(|(frames, _)| frames)
    }

    /// Whether the file holds, byte for byte, what the row says.
    pub fn is_whole(&self, row: &ArchiveRow) -> bool {
        let Ok(frames) = self.open(row) else { return false };
        let mut hash = Sha256::new();
        hash_of(&mut frames.reader(), &mut hash).is_ok_and(|bytes| bytes == row.bytes)
            && hex(hash) == row.hash
    }

    /// Removes one file, which no row names any more.
    pub fn remove(&self, name: &str) {
        self.take_back(&self.folder.join(name), None);
    }

    /// How much smaller a transcript would become: its size divided by this, from its first bytes.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn ratio(source: &mut dyn Read, level: i32) -> io::Result<f64> {
        let mut head = Vec::new();
        fill(source, &mut head)?;
        let stored = Packer::new(level)?.write(&head, &mut io::sink())?;
        Ok(if head.is_empty() { 1.0 } else { head.len() as f64 / stored as f64 })
    }

    fn take_back(&self, path: &Path, to: Option<u64>) {
        let done = match to {
            Some(len) => OpenOptions::new().write(true).open(path).and_then(|file| file.set_len(len)),
            None => fs::remove_file(path),
        };
        if let Err(error) = done {
            tracing::warn!(path = %path.display(), %error, "a file of the archive that does not count stays");
        }
    }

    /// A name that says what it is of, and that no file has.
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

/// Where something is added, and how.
struct Place<'p> {
    path: &'p Path,
    begin: u64,
    /// Of the transcript, in what stands there.
    bytes: u64,
    level: i32,
}

/// Adds what is left of `source` behind the first bytes of a file; how many bytes that were, and are.
fn add(
    to: &Place<'_>,
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
    // That it is whole stands behind it when it is: a power supply that fails must not leave the word without the rest.
    file.sync_all().map_err(refused)?;
    label.whole = Some(Whole { bytes: to.bytes + bytes, hash: hex(hash.clone()) });
    stored += label.write(&mut file).map_err(refused)?;
    file.sync_all().map_err(refused)?;
    Ok((bytes, stored))
}

fn read_error(original: &Original<'_>, error: io::Error) -> StoreError {
    StoreError::Io { path: original.path.into(), source: error }
}

/// What is archived is no beginning of the transcript as it is now, or is damaged.
#[derive(Debug, Clone, Copy)]
struct Changed {
    /// The transcript still begins with all of what was archived.
    is_held: bool,
}

impl Changed {
    fn cause_of(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref().copied()
    }
}

impl std::fmt::Display for Changed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("it was rewritten since it was archived")
    }
}

impl std::error::Error for Changed {}

/// Reads a whole frame's worth, less at the end.
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
