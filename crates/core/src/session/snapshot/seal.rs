//! The seal: length, version and checksum before a piece of bytes.

/// Version of the form, and of the state that the folds make from records. Raise it when a field of a fold is
/// added, removed or moved: then the test `the_form_is_the_one_of_this_version` fails. Also raise it when the same
/// records give another state: no test notices that.
pub const VERSION: u32 = 14;

/// Why bytes are no snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// Another version of Watchbill wrote them.
    #[error("the snapshot is of version {found}, this program's is {VERSION}")]
    OtherVersion {
        /// The version of the bytes.
        found: u32,
    },
    /// They differ from what was written, or belong to something else.
    #[error("the snapshot is damaged")]
    Damaged,
}

/// Length of the content, version, checksum.
const HEADER: usize = 4 + 4 + 8;

/// An empty piece, to be filled with content.
pub fn begin() -> Vec<u8> {
    vec![0; HEADER]
}

/// Writes the header of the piece that begins at `at` and ends at the end of the bytes.
pub fn finish(mut bytes: Vec<u8>, at: usize) -> Vec<u8> {
    let content = &bytes[at + HEADER..];
    // No piece reaches four gigabytes; the reader would refuse one.
    let len = u32::try_from(content.len()).unwrap_or(u32::MAX);
    let sum = checksum(content);
    bytes[at..at + 4].copy_from_slice(&len.to_le_bytes());
    bytes[at + 4..at + 8].copy_from_slice(&version().to_le_bytes());
    bytes[at + 8..at + HEADER].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// The content of the first piece, and the bytes after it.
pub fn open(bytes: &[u8]) -> Result<(&[u8], &[u8]), SnapshotError> {
    let (header, rest) = bytes.split_at_checked(HEADER).ok_or(SnapshotError::Damaged)?;
    let [len, found] =
        [0, 4].map(|at| header[at..at + 4].iter().rev().fold(0u32, |n, b| n << 8 | u32::from(*b)));
    if found != version() {
        return Err(SnapshotError::OtherVersion { found });
    }
    let sum = header[8..].iter().rev().fold(0u64, |n, b| n << 8 | u64::from(*b));
    let (content, rest) = rest.split_at_checked(len as usize).ok_or(SnapshotError::Damaged)?;
    if checksum(content) == sum { Ok((content, rest)) } else { Err(SnapshotError::Damaged) }
}

/// The form's version mixed with the release's. A release never reads the folds of another one, even if it folds
/// differently and [`VERSION`] was not raised.
fn version() -> u32 {
    let release = env!("CARGO_PKG_VERSION")
        .bytes()
        .fold(0x811c_9dc5u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    VERSION ^ (release << 8)
}

/// Works on eight bytes at a time. It detects damage by disks and bugs, not malice.
fn checksum(bytes: &[u8]) -> u64 {
    let mix = |sum: u64, word: u64| (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |n, b| n << 8 | u64::from(*b));
    let (words, rest) = bytes.as_chunks::<8>();
    let sum = words.iter().fold(bytes.len() as u64, |sum, bytes| mix(sum, u64::from_le_bytes(*bytes)));
    mix(sum, word(rest))
}
