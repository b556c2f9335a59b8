//! One transcript of a timeline: read to its end once, and then only its appended lines.

use std::ops::Range;
use std::path::{Path, PathBuf};

use watchbill_core::history::Exclude;
use watchbill_core::ids::SessionId;
use watchbill_core::transcript::line_splitter::{Line, LineSplitter, Split};
use watchbill_core::transcript::timeline::{Entry, TimelineBuilder};
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_watch::fs::Fs;
use watchbill_watch::tail::{TailError, read_end};

use crate::reader::{LineReceiver, Reader};

/// One transcript and its entries so far.
pub struct Part {
    /// The session; for a subagent's transcript, its parent.
    pub session: SessionId,
    /// Its path.
    pub path: PathBuf,
    /// How it is linked to the part before.
    pub reason: Option<&'static str>,
    reader: Reader,
    exclude: Exclude,
    builder: TimelineBuilder,
}

impl Part {
    /// A transcript that was not read yet. What these rules name is left out of it.
    pub fn new(session: &SessionId, path: PathBuf, exclude: &Exclude) -> Self {
        Self {
            session: session.clone(),
            path,
            reason: None,
            reader: Reader::default(),
            exclude: exclude.clone(),
            builder: TimelineBuilder::new(exclude.clone()),
        }
    }

    /// Whether the transcript is read as these rules want it.
    pub fn is_of(&self, path: &Path, exclude: &Exclude) -> bool {
        self.path == path && self.exclude == *exclude
    }

    /// All entries read so far, in file order.
    pub fn entries(&self) -> &[Entry] {
        self.builder.entries()
    }

    /// Reads only the last `room` bytes, from the first line that begins there, and returns their range. The part
    /// cannot be read further after this.
    ///
    /// # Errors
    /// When the file is missing or cannot be read.
    pub fn read_end(&mut self, fs: &dyn Fs, room: u64) -> Result<Range<u64>, TailError> {
        let (begin, bytes) = read_end(fs, &self.path, room)?;
        let torn = match begin {
            0 => 0,
            _ => bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |end| end + 1),
        };
        LineSplitter::new(begin + torn as u64).push(&bytes[torn..], &mut |split| {
            if let Split::Line(line) = split {
                self.builder.push_line(line.offset, line.bytes);
            }
        });
        Ok(begin..begin + bytes.len() as u64)
    }

    /// Reads the appended lines.
    ///
    /// # Errors
    /// When the file exists and cannot be read.
    pub fn read(&mut self, fs: &dyn Fs, scratch: &mut Vec<u8>) -> Result<(), ApiError> {
        let Self { path, reader, exclude, builder, .. } = self;
        let read = reader.read(fs, path, scratch, u64::MAX, &mut Entries { exclude, builder });
        match read {
            // Entries read before the file went away are still worth showing.
            Ok(_) | Err(TailError::Gone) => Ok(()),
            Err(error) => Err(ApiError::new(
                ErrorCode::Unreadable,
                format!("cannot read the transcript {}: {error}", path.display()),
            )),
        }
    }
}

/// Adds lines to a timeline.
struct Entries<'b> {
    exclude: &'b Exclude,
    builder: &'b mut TimelineBuilder,
}

impl LineReceiver for Entries<'_> {
    fn restarted(&mut self) {
        *self.builder = TimelineBuilder::new(self.exclude.clone());
    }

    fn line(&mut self, line: Line<'_>) {
        self.builder.push_line(line.offset, line.bytes);
    }
}
