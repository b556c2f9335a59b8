//! The form of an archived transcript: zstd frames of a megabyte each, so that any place is reached without
//! unpacking what stands before it.
//!
//! Before each frame stands a skippable one of 16 bytes that holds the frame's two lengths. Before and behind what was
//! written at one time stands another that says what transcript it is of ([`Label`]): whoever has lost the database knows from
//! the files what is archived. `zstd -d` passes over both: a person gets the transcript back without this program.

use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::CParameter;

/// Bytes of a transcript in one frame, but in the last.
pub const FRAME: usize = 1 << 20;

/// Magic number of a skippable frame (RFC 8878, 3.1.2), little-endian.
const SKIPPABLE: [u8; 4] = 0x184D_2A57u32.to_le_bytes();
/// Length of the frame that stands before each: magic number, length of the rest, two lengths.
const HEADER: usize = 16;
/// Magic number of the skippable frame that holds a label. Behind its length stands [`CHECK`] bytes of the hash of the rest.
const LABEL: [u8; 4] = 0x184D_2A58u32.to_le_bytes();
/// The label's header is as long as the others: magic number, length of the rest, and so much of its hash.
const CHECK: usize = 8;
/// Far more than any label; a length beyond is damage.
const LABEL_LIMIT: usize = 1 << 20;

/// What a file of the archive says of the transcript that is in it, as JSON; the last in the file counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// Path of the transcript.
    pub path: String,
    /// Whose it is.
    pub session_id: String,
    /// The subagent, if it is a subagent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent: Option<String>,
    /// When it was last written, in milliseconds since 1970.
    pub mtime: i64,
    /// When it was archived, in the same.
    pub archived_at: i64,
    /// Its device and its inode.
    pub id: (u64, u64),
    /// What stands in the file beside a subagent's transcript that says which call it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<String>,
    /// Behind what was written at one time: what all of it is, so that nobody has to unpack it to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<Whole>,
}

/// The transcript up to a label.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Whole {
    /// Its length.
    pub bytes: u64,
    /// The hash of its bytes.
    pub hash: String,
}

impl Label {
    /// Writes it; says how many bytes that took.
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

    /// Writes one frame; says how many bytes that took.
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

/// Where one frame stands.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// Of the transcript.
    begin: u64,
    len: u32,
    /// In the file, behind the header.
    at: u64,
    packed: u32,
}

/// An archived transcript, open for reading at any place.
pub struct Frames {
    file: File,
    places: Vec<Place>,
    label: Option<Label>,
    /// The hash of everything, and where the label ends that says it.
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
    /// When they are not whole.
    pub fn new(file: File, stored: u64) -> io::Result<Self> {
        let (frames, at, ended) = Self::up_to(file, stored);
        ended?;
        if at == stored { Ok(frames) } else { Err(damaged()) }
    }

    /// As many frames as can be unpacked at the beginning of a file, and how many bytes of it those are.
    ///
    /// # Errors
    /// When its length cannot be told.
    pub fn as_far_as_whole(file: File) -> io::Result<(Self, u64)> {
        let len = file.metadata()?.len();
        let (mut frames, mut stored, _) = Self::up_to(file, len);
        if let Some((_, end)) = &frames.whole {
            // It was synced and read back before that was written. What came behind it was never finished.
            stored = *end;
        } else if let Some(bad) = frames.places.iter().position(|place| frames.unpack(place).is_err()) {
            stored = frames.places[bad].at - HEADER as u64;
            frames.places.truncate(bad);
        }
        Ok((frames, stored))
    }

    /// The frames before `end`, the place behind the last, and what was wrong there.
    fn up_to(file: File, end: u64) -> (Self, u64, io::Result<()>) {
        let mut frames =
            Self { file, places: Vec::new(), label: None, whole: None, unpacked: Mutex::new(None) };
        let mut at = 0;
        while at < end {
            match frames.take_up(at, end) {
                Ok(next) => at = next,
                Err(error) => return (frames, at, Err(error)),
            }
        }
        (frames, at, Ok(()))
    }

    /// Takes up the frame at this place of the file, if it ends before `end`; says where the next one stands.
    fn take_up(&mut self, at: u64, end: u64) -> io::Result<u64> {
        let mut header = [0; HEADER];
        read_exact_at(&self.file, &mut header, at)?;
        let number = |at: usize| header[at..at + 4].iter().rev().fold(0u32, |n, b| n << 8 | u32::from(*b));
        let behind = at + HEADER as u64;
        let rest = number(4) as usize;
        if header[..4] == LABEL && (CHECK..LABEL_LIMIT).contains(&rest) {
            let mut json = vec![0; rest - CHECK];
            let next = behind + json.len() as u64;
            read_exact_at(&self.file, &mut json, behind)?;
            if next > end || Sha256::digest(&json)[..CHECK] != header[8..] {
                return Err(damaged());
            }
            // One that a later version has written otherwise says nothing to this one.
            if let Ok(label) = serde_json::from_slice::<Label>(&json) {
                let whole = label.whole.as_ref().filter(|whole| whole.bytes == self.len());
                self.whole = whole.map(|whole| (whole.hash.clone(), next)).or(self.whole.take());
                self.label = Some(label);
            }
            return Ok(next);
        }
        let (packed, len) = (number(8), number(12));
        let fits =
            len > 0 && len as usize <= FRAME && packed as usize <= zstd::zstd_safe::compress_bound(FRAME);
        let next = behind + u64::from(packed);
        if header[..4] != SKIPPABLE || rest != 8 || !fits || next > end {
            return Err(damaged());
        }
        self.whole = None;
        self.places.push(Place { begin: self.len(), len, at: behind, packed });
        Ok(next)
    }

    /// The hash of the transcript, where the file says it.
    pub fn hash(&self) -> Option<&str> {
        self.whole.as_ref().map(|(hash, _)| &**hash)
    }

    /// Whether the file begins like one of the archive, as far as it goes, and has no whole frame.
    pub fn is_torn_begin(&self) -> bool {
        let mut begin = Vec::new();
        for at in 0..LABEL.len() {
            let mut byte = [0];
            if read_exact_at(&self.file, &mut byte, at as u64).is_ok() {
                begin.extend(byte);
            }
        }
        self.places.is_empty() && (LABEL.starts_with(&begin) || SKIPPABLE.starts_with(&begin))
    }

    /// What the file says of the transcript; nothing in files from before there were labels.
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

    fn unpack(&self, place: &Place) -> io::Result<Vec<u8>> {
        let mut packed = vec![0; place.packed as usize];
        read_exact_at(&self.file, &mut packed, place.at)?;
        let bytes = Decompressor::new()?.decompress(&packed, place.len as usize)?;
        if bytes.len() == place.len as usize { Ok(bytes) } else { Err(damaged()) }
    }

    /// From the beginning to the end.
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
