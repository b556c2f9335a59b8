//! One transcript of a timeline: read to its end once, and then only its appended lines.

use std::collections::HashSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use watchbill_agents::files::parser_of;
use watchbill_agents::traits::Parser;
use watchbill_core::history::Exclude;
use watchbill_core::ids::{RecordId, SessionId};
use watchbill_core::transcript::line_splitter::{Line, LineSplitter, Split};
use watchbill_core::transcript::timeline::{Entry, TimelineBuilder, What};
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
    /// The questions that the user asked beside the work, each with its answer.
    sides: Vec<Side>,
}

/// The end of a transcript of `/btw`, where the question and its answer are. A copy of the session stands before them.
struct Side {
    path: PathBuf,
    length: u64,
    /// No copy stands before it.
    is_whole: bool,
    entries: Vec<Entry>,
}

/// Bytes that are read of such a transcript.
const SIDE_ROOM: u64 = 512 << 10;

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
            sides: Vec::new(),
        }
    }

    /// Reads a transcript of `/btw`, unless it is as long as before. One that cannot be read has no entries. `is_whole`: it is a file
    /// of records that the transcript lacks, and has no copy of any.
    pub fn read_side(&mut self, fs: &dyn Fs, path: &Path, is_whole: bool) {
        let length = fs.stat(path).map_or(0, |stat| stat.len);
        if self.sides.iter().any(|side| side.path == path && side.length == length) {
            return;
        }
        self.sides.retain(|side| side.path != path);
        let mut end = Self::new(&self.session, path.to_path_buf(), &self.exclude);
        let read = end.read_end(fs, if is_whole { u64::MAX } else { SIDE_ROOM }).is_ok();
        let entries = if read { end.builder.into_entries() } else { Vec::new() };
        self.sides.push(Side { path: path.to_path_buf(), length, is_whole, entries });
    }

    /// The entries of each transcript of `/btw` that this one lacks. If the copies have other ids than the originals,
    /// they are the entries from the last prompt on. Those of a whole file are all
    /// there, each with its own place in time.
    pub fn sides(&self) -> impl Iterator<Item = Vec<&Entry>> {
        let own: HashSet<RecordId> = match self.sides.is_empty() {
            true => HashSet::new(),
            false => self.entries().iter().filter_map(|entry| entry.uuid).collect(),
        };
        self.sides.iter().flat_map(move |side| {
            let is_copy = |entry: &&Entry| entry.uuid.is_some_and(|id| own.contains(&id));
            let last = || side.entries.iter().rposition(|entry| matches!(entry.what, What::Prompt { .. }));
            let has_all = side.is_whole || side.entries.iter().any(|entry| is_copy(&entry));
            let begin = if has_all { 0 } else { last().unwrap_or(0) };
            let entries: Vec<_> = side.entries[begin..].iter().filter(|entry| !is_copy(entry)).collect();
            let at_once = if side.is_whole { 1 } else { entries.len().max(1) };
            entries.chunks(at_once).map(<[_]>::to_vec).collect::<Vec<_>>()
        })
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
        let parse = parser_of(&self.path);
        LineSplitter::new(begin + torn as u64).push(&bytes[torn..], &mut |split| {
            if let Split::Line(line) = split {
                add(parse, &mut self.builder, &line);
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
        let read = reader.read(
            fs,
            path,
            scratch,
            u64::MAX,
            &mut Entries { exclude, builder, parse: parser_of(path) },
        );
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

/// Adds the records of a line.
fn add(parse: Parser, timeline: &mut TimelineBuilder, line: &Line<'_>) {
    parse(line.bytes, &mut |record, full| timeline.push(line.offset, &record, full));
}

/// Adds lines to a timeline.
struct Entries<'b> {
    exclude: &'b Exclude,
    builder: &'b mut TimelineBuilder,
    parse: Parser,
}

impl LineReceiver for Entries<'_> {
    fn restarted(&mut self) {
        *self.builder = TimelineBuilder::new(self.exclude.clone());
    }

    fn line(&mut self, line: Line<'_>) {
        add(self.parse, self.builder, &line);
    }
}
