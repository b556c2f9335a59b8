//! The format of an archived transcript: zstd frames of a megabyte each. Any position can be reached without
//! unpacking the data before it.
//!
//! Before each frame is a skippable frame of 16 bytes with the frame's two lengths. Each write to the file begins
//! and ends with another skippable frame that names the transcript ([`Label`]). So even without the database the
//! files tell what is archived. `zstd -d` skips both kinds: a user gets the transcript back without this program.

use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::CParameter;

/// Bytes of a transcript in each frame but the last.
pub const FRAME: usize = 1 << 20;

/// Magic number of a skippable frame (RFC 8878, 3.1.2), little-endian.
const SKIPPABLE: [u8; 4] = 0x184D_2A57u32.to_le_bytes();
/// Length of the header before each frame: magic number, length of the rest, two lengths.
const HEADER: usize = 16;
/// Magic number of the skippable frame that holds a label. After its length come [`CHECK`] bytes of the hash of the
/// rest.
const LABEL: [u8; 4] = 0x184D_2A58u32.to_le_bytes();
/// The label's header has the same length as the others: magic number, length of the rest, and so many bytes of its
/// hash.
const CHECK: usize = 8;
/// Far longer than any label; a greater length is damage.
const LABEL_LIMIT: usize = 1 << 20;

/// The description of a transcript in its archive file, as JSON. The last one in the file counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// Path of the transcript.
    pub path: String,
    /// Its session.
    pub session_id: String,
    /// The subagent, if it is a subagent's transcript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent: Option<String>,
    /// When it was last written, in milliseconds since 1970.
    pub mtime: i64,
    /// When it was archived, in the same unit.
    pub archived_at: i64,
    /// Its device and its inode.
    pub id: (u64, u64),
    /// The contents of the file beside a subagent's transcript, which says to which call the subagent belongs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<String>,
    /// Present at the end of a write: describes the whole transcript, so that a reader need not unpack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<TranscriptHash>,
}

/// The transcript up to a label.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TranscriptHash {
    /// Its length.
    pub bytes: u64,
    /// The hash of its bytes.
    pub hash: String,
}

impl Label {
    /// Writes the label; returns how many bytes that took.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, to: &mut dyn Write) -> io::Result<u64> {
        let json = serde_json::to_vec(self)?;
        to.write_all(&LABEL)?;
        to.write_all(&length(CHECK + json.len())?.to_le_bytes())?;
        to.write_all(&Sha256::digest(&json)[..CHECK])?;
        to.write_all(&json)?;
        Ok((HEADER + json.len()) as u64)
    }
}

/// Packs frames.
pub struct Packer {
    compressor: Compressor<'static>,
}

impl Packer {
    /// With zstd's level; 3 to 9 make sense here.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn new(level: i32) -> io::Result<Self> {
        let mut compressor = Compressor::new(level)?;
        compressor.set_parameter(CParameter::ChecksumFlag(true))?;
        Ok(Self { compressor })
    }

    /// Writes one frame; returns how many bytes that took.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&mut self, bytes: &[u8], to: &mut dyn Write) -> io::Result<u64> {
        let packed = self.compressor.compress(bytes)?;
        let mut header = [0; HEADER];
        header[..4].copy_from_slice(&SKIPPABLE);
        header[4..8].copy_from_slice(&8u32.to_le_bytes());
        header[8..12].copy_from_slice(&length(packed.len())?.to_le_bytes());
        header[12..].copy_from_slice(&length(bytes.len())?.to_le_bytes());
        to.write_all(&header)?;
        to.write_all(&packed)?;
        Ok((HEADER + packed.len()) as u64)
    }
}

fn length(len: usize) -> io::Result<u32> {
    u32::try_from(len).map_err(|_| damaged())
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "it holds something else than an archived transcript")
}

/// Whether the contents of the file are wrong, and not the disk that fails to read them.
pub(super) fn is_of_content(error: &io::Error) -> bool {
    error.raw_os_error().is_none()
}

/// How much of a file is complete, if the valid length is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArchiveFileState {
    /// Something in it is not as it was written, and more data follows. That alone is no reason to cut or remove
    /// the file.
    Damaged,
    /// It ends in the middle of a write, as after a kill. These first bytes hold complete frames.
    Begun {
        /// How many.
        stored: u64,
    },
    /// These first bytes were finished. The data after them was not.
    Finished {
        /// How many.
        stored: u64,
    },
}

/// The header before each frame and before each label.
#[derive(Debug, Clone, Copy)]
enum Header {
    Label { json: usize, check: [u8; CHECK] },
    Packed { packed: u32, len: u32 },
}

impl Header {
    /// Parses a header; `None` if it is none.
    fn of(header: &[u8; HEADER]) -> Option<Self> {
        let number = |at: usize| header[at..at + 4].iter().rev().fold(0u32, |n, b| n << 8 | u32::from(*b));
        let rest = number(4) as usize;
        if header[..4] == LABEL && (CHECK..LABEL_LIMIT).contains(&rest) {
            let check = header[HEADER - CHECK..].try_into().ok()?;
            return Some(Self::Label { json: rest - CHECK, check });
        }
        let (packed, len) = (number(8), number(12));
        let fits =
            len > 0 && len as usize <= FRAME && packed as usize <= zstd::zstd_safe::compress_bound(FRAME);
        (header[..4] == SKIPPABLE && rest == 8 && fits).then_some(Self::Packed { packed, len })
    }

    /// How many bytes follow the header, as it states.
    fn rest(self) -> u64 {
        match self {
            Self::Label { json, .. } => json as u64,
            Self::Packed { packed, .. } => u64::from(packed),
        }
    }
}

/// The position of one frame.
#[derive(Debug, Clone, Copy)]
struct FrameOffset {
    /// In the transcript.
    begin: u64,
    len: u32,
    /// In the file, after the header.
    at: u64,
    packed: u32,
}

/// An archived transcript, open for reading at any position.
pub struct Frames {
    file: File,
    places: Vec<FrameOffset>,
    label: Option<Label>,
    /// The hash of the whole transcript, and the end of the label that states it.
    whole: Option<(String, u64)>,
    /// The frame that was read last.
    unpacked: Mutex<Option<(usize, Vec<u8>)>>,
}

impl std::fmt::Debug for Frames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Frames").field("frames", &self.places.len()).finish_non_exhaustive()
    }
}

impl Frames {
    /// The frames in the first `stored` bytes of a file.
    ///
    /// # Errors
    /// When they are not complete.
    pub fn new(file: File, stored: u64) -> io::Result<Self> {
        let (frames, at, ended) = Self::up_to(file, stored);
        ended?;
        if at == stored { Ok(frames) } else { Err(damaged()) }
    }

    /// Opens a file whose valid length is not known. Returns its frames, and how far they are complete. It unpacks
    /// none.
    ///
    /// # Errors
    /// When it cannot be read now, which says nothing about its contents.
    pub fn as_found(file: File) -> io::Result<(Self, ArchiveFileState)> {
        let meta = file.metadata()?;
        if !meta.is_file() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let (frames, at, ended) = Self::up_to(file, meta.len());
        let torn = match ended {
            Ok(()) => true,
            Err(error) if is_of_content(&error) => frames.is_torn(at, meta.len())?,
            Err(error) => return Err(error),
        };
        let state = match &frames.whole {
            _ if !torn => ArchiveFileState::Damaged,
            // The data before this label was synced first. Data after it was never finished.
            Some((_, end)) => ArchiveFileState::Finished { stored: *end },
            None => ArchiveFileState::Begun { stored: at },
        };
        Ok((frames, state))
    }

    /// Whether the file ends with only the beginning of one frame: it ends before the length that the header
    /// states. A damaged length may be too great as well, but then other frames follow.
    fn is_torn(&self, at: u64, len: u64) -> io::Result<bool> {
        let longest = HEADER + LABEL_LIMIT.max(zstd::zstd_safe::compress_bound(FRAME));
        let Some(left) = usize::try_from(len - at).ok().filter(|left| *left < longest) else {
            return Ok(false);
        };
        let mut rest = vec![0; left];
        read_exact_at(&self.file, &mut rest, at)?;
        let Some((header, body)) = rest.split_first_chunk::<HEADER>() else {
            let magic = &rest[..rest.len().min(LABEL.len())];
            return Ok(LABEL.starts_with(magic) || SKIPPABLE.starts_with(magic));
        };
        let announced = Header::of(header).map(Header::rest);
        let goes_on = body.windows(LABEL.len()).any(|four| *four == LABEL || *four == SKIPPABLE);
        Ok(announced.is_some_and(|announced| announced > body.len() as u64) && !goes_on)
    }

    /// The frames before `end`, the position after the last one, and the error there.
    fn up_to(file: File, end: u64) -> (Self, u64, io::Result<()>) {
        let mut frames =
            Self { file, places: Vec::new(), label: None, whole: None, unpacked: Mutex::new(None) };
        let mut at = 0;
        while at < end {
            match frames.read_frame(at, end) {
                Ok(next) => at = next,
                Err(error) => return (frames, at, Err(error)),
            }
        }
        (frames, at, Ok(()))
    }

    /// Reads the frame at this position of the file, if it ends before `end`. Returns the position of the next one.
    fn read_frame(&mut self, at: u64, end: u64) -> io::Result<u64> {
        let mut header = [0; HEADER];
        read_exact_at(&self.file, &mut header, at)?;
        let behind = at + HEADER as u64;
        let Some(announced) = Header::of(&header) else { return Err(damaged()) };
        let next = behind + announced.rest();
        match announced {
            Header::Label { json, check } => {
                let mut json = vec![0; json];
                read_exact_at(&self.file, &mut json, behind)?;
                if next > end || Sha256::digest(&json)[..CHECK] != check {
                    return Err(damaged());
                }
                // A label in the format of a later version is ignored.
                if let Ok(label) = serde_json::from_slice::<Label>(&json) {
                    let whole = label.whole.as_ref().filter(|whole| whole.bytes == self.len());
                    self.whole = whole.map(|whole| (whole.hash.clone(), next)).or(self.whole.take());
                    self.label = Some(label);
                }
            }
            Header::Packed { packed, len } => {
                if next > end {
                    return Err(damaged());
                }
                self.whole = None;
                self.places.push(FrameOffset { begin: self.len(), len, at: behind, packed });
            }
        }
        Ok(next)
    }

    /// The hash of the transcript, if the file states it.
    pub fn hash(&self) -> Option<&str> {
        self.whole.as_ref().map(|(hash, _)| &**hash)
    }

    /// The file's description of the transcript; `None` in files from before there were labels.
    pub fn label(&self) -> Option<&Label> {
        self.label.as_ref()
    }

    /// Bytes of the transcript.
    pub fn len(&self) -> u64 {
        self.places.last().map_or(0, |last| last.begin + u64::from(last.len))
    }

    /// Whether the transcript is empty.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Reads into `buffer` from `offset` of the transcript; 0 at the end.
    ///
    /// # Errors
    /// When the frame there cannot be read, or is damaged.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let at = self.places.partition_point(|place| place.begin + u64::from(place.len) <= offset);
        let Some(place) = self.places.get(at) else { return Ok(0) };
        let mut unpacked = self.unpacked.lock().unwrap_or_else(PoisonError::into_inner);
        if unpacked.as_ref().is_none_or(|(n, _)| *n != at) {
            *unpacked = Some((at, self.unpack(place)?));
        }
        let bytes = unpacked.as_ref().map_or(&[][..], |(_, bytes)| bytes);
        let from = usize::try_from(offset - place.begin).unwrap_or(usize::MAX).min(bytes.len());
        let count = buffer.len().min(bytes.len() - from);
        buffer[..count].copy_from_slice(&bytes[from..from + count]);
        Ok(count)
    }

    fn unpack(&self, place: &FrameOffset) -> io::Result<Vec<u8>> {
        let mut packed = vec![0; place.packed as usize];
        read_exact_at(&self.file, &mut packed, place.at)?;
        let bytes = Decompressor::new()?.decompress(&packed, place.len as usize)?;
        if bytes.len() == place.len as usize { Ok(bytes) } else { Err(damaged()) }
    }

    /// Reads the transcript from its beginning to its end.
    pub fn reader(&self) -> impl Read + '_ {
        Reader { frames: self, at: 0 }
    }
}

struct Reader<'f> {
    frames: &'f Frames,
    at: u64,
}

impl Read for Reader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.frames.read_at(buffer, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

#[cfg(not(unix))]
fn read_exact_at(mut file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    use std::io::Seek;
    file.seek(io::SeekFrom::Start(offset))?;
    file.read_exact(buffer)
}
