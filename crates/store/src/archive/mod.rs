//! The archive: compressed copies of transcripts, made before the agent's own clean-up removes them. The
//! transcripts themselves are only read.
//!
//! [`plan`] decides which transcripts to pack and which copies to delete. An archived transcript is one file of
//! zstd frames ([`frames`]) that never changes. The file has its name, and after that its row in the table, only when
//! it was synced and read back. A file without a row may be the last copy of a transcript (`strays`, `tidy`).

pub mod frames;
pub mod plan;
mod strays;
mod tidy;

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use watchbill_core::time::Timestamp;

pub use crate::names::ARCHIVE;
use crate::tables::archive::ArchiveRow;
use crate::{StoreError, folder};
use frames::{FRAME, Frames, Label, Packer, TranscriptHash};

/// The end of a file's name while it is written.
const BEGUN: &str = ".begun";

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

    /// Packs `source` from its beginning to its end into a new file; `level` is zstd's. The earlier copy counts until
    /// the new row is stored. If the transcript does not begin with all of that copy, it may be the last of its
    /// records, and stays.
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
        let name = self.free_name(original.path);
        let begun = format!("{name}{BEGUN}");
        let from = self.folder.join(&begun);
        let packed = self.pack_as(&begun, original, source, known, level, now).and_then(|packed| {
            let to = self.folder.join(&name);
            fs::rename(&from, &to).map_err(|e| StoreError::io(&to, e)).map(|()| packed)
        });
        let mut packed = packed.inspect_err(|_| self.remove(&begun))?;
        packed.row.file = name;
        // Without this, a crash may lose the file's name. The row is then refused when it is read.
        folder::sync_names(&self.folder);
        Ok(packed)
    }

    /// Writes one file and reads it back.
    fn pack_as(
        &self,
        name: &str,
        original: &Original<'_>,
        source: &mut dyn Read,
        known: Option<&ArchiveRow>,
        level: i32,
        now: Timestamp,
    ) -> Result<Packed, StoreError> {
        let path = self.folder.join(name);
        let refused = |e| StoreError::io(&path, e);
        let mut file = folder::touch(&path)?;
        file.set_len(0).map_err(refused)?;
        let mut label = original.label(now);
        let mut packer = Packer::new(level).map_err(refused)?;
        let (mut bytes, mut stored) = (0, label.write(&mut file).map_err(refused)?);
        let (mut hash, mut frame, mut is_held) = (Sha256::new(), Vec::new(), false);
        loop {
            fill(source, &mut frame).map_err(|e| read_error(original, e))?;
            if frame.is_empty() {
                break;
            }
            // How much of this frame the earlier copy holds, if it ends here.
            let end = known.and_then(|known| usize::try_from(known.bytes.checked_sub(bytes)?).ok());
            if let Some((known, head)) = known.zip(end.and_then(|end| frame.get(..end))) {
                is_held |= hex(hash.clone().chain_update(head)) == known.hash;
            }
            hash.update(&frame);
            bytes += frame.len() as u64;
            stored += packer.write(&frame, &mut file).map_err(refused)?;
        }
        let hash = hex(hash);
        label.whole = Some(TranscriptHash { bytes, hash: hash.clone() });
        stored += label.write(&mut file).map_err(refused)?;
        file.sync_all().map_err(refused)?;
        let row = ArchiveRow {
            path: original.path.to_owned(),
            session_id: original.session_id.to_owned(),
            subagent: original.subagent.map(str::to_owned),
            file: name.to_owned(),
            bytes,
            stored,
            hash,
            mtime: original.mtime,
            archived_at: now,
            dev: original.id.0,
            inode: original.id.1,
        };
        if !self.is_whole(&row) {
            return Err(refused(io::Error::other("it does not hold what was written to it")));
        }
        let (void, earlier) = match known {
            Some(known) if is_held => (Some(known.file.clone()), None),
            known => (None, known.map(ArchiveRow::as_earlier)),
        };
        Ok(Packed { row, void, earlier })
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
        File::open(self.path_of(row)).and_then(Frames::as_found)
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
        let path = self.folder.join(name);
        if let Err(error) = fs::remove_file(&path) {
            tracing::warn!(path = %path.display(), %error, "an unneeded file of the archive could not be removed");
        }
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

fn read_error(original: &Original<'_>, error: io::Error) -> StoreError {
    StoreError::Io { path: original.path.into(), source: error }
}

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
