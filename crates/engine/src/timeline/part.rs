//! One transcript of a timeline: read to its end, and from then on only what was appended.

use std::ops::Range;
use std::path::PathBuf;

use watchbill_core::ids::SessionId;
use watchbill_core::transcript::line_splitter::{LineSplitter, Split};
use watchbill_core::transcript::timeline::{Entry, TimelineBuilder};
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_watch::fs::Fs;
use watchbill_watch::tail::{Tail, TailError, read_end};

/// One transcript and what has been read of it.
pub struct Part {
    /// The session; for a subagent's transcript, its parent.
    pub session: SessionId,
    /// Where it lies.
    pub path: PathBuf,
    /// How it is linked to the part before.
    pub reason: Option<&'static str>,
    tail: Tail,
    splitter: LineSplitter,
    builder: TimelineBuilder,
}

impl Part {
    /// A transcript of which nothing has been read.
    pub fn new(session: &SessionId, path: PathBuf) -> Self {
        Self {
            session: session.clone(),
            path,
            reason: None,
            tail: Tail::default(),
            splitter: LineSplitter::default(),
            builder: TimelineBuilder::new(),
        }
    }

    /// Everything that was read, in file order.
    pub fn entries(&self) -> &[Entry] {
        self.builder.entries()
    }

    /// Reads the last `room` bytes alone, from the first line that begins there, and says which bytes those were. Nothing can be
    /// read on from here.
    ///
    /// # Errors
    /// When the file is not there or cannot be read.
    pub fn read_end(&mut self, fs: &dyn Fs, room: u64) -> Result<Range<u64>, TailError> {
        let (begin, bytes) = read_end(fs, &self.path, room)?;
        let torn = match begin {
            0 => 0,
            _ => bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |end| end + 1),
        };
        let Self { splitter, builder, .. } = self;
        splitter.reset(begin + torn as u64);
        splitter.push(&bytes[torn..], &mut |split| {
            if let Split::Line(line) = split {
                builder.push_line(line.offset, line.bytes);
            }
        });
        Ok(begin..begin + bytes.len() as u64)
    }

    /// Reads what is new.
    ///
    /// # Errors
    /// When the file is there and cannot be read.
    pub fn read(&mut self, fs: &dyn Fs, scratch: &mut Vec<u8>) -> Result<(), ApiError> {
        let Self { path, tail, splitter, builder, .. } = self;
        let restarted = std::cell::Cell::new(false);
        let read = tail.read(fs, path, scratch, u64::MAX, &mut || restarted.set(true), &mut |_, bytes| {
            if restarted.replace(false) {
                splitter.reset(0);
                *builder = TimelineBuilder::new();
            }
            splitter.push(bytes, &mut |split| {
                if let Split::Line(line) = split {
                    builder.push_line(line.offset, line.bytes);
                }
            });
        });
        if restarted.get() {
            // The file was emptied: nothing of what it held counts, although nothing new was read.
            splitter.reset(0);
            *builder = TimelineBuilder::new();
        }
        match read {
            // What was read before the file went away is still worth showing.
            Ok(_) | Err(TailError::Gone) => Ok(()),
            Err(error) => Err(ApiError::new(
                ErrorCode::Unreadable,
                format!("cannot read the transcript {}: {error}", path.display()),
            )),
        }
    }
}
