//! Follows one transcript: delivers every complete line once, and restarts when the file's earlier content was
//! rewritten.
//!
//! The live engine, the history and the timelines each hold their own [`Reader`] of a file, with its own cursor.

use std::cell::Cell;
use std::path::Path;

use watchbill_agents::files::working_folder_of;
use watchbill_core::transcript::line_splitter::{Line, LineSplitter, Split};
use watchbill_core::transcript::record::{Body, Record};
use watchbill_watch::fs::{FileStat, Fs};
use watchbill_watch::tail::{Cursor, ReadOutcome, ReadPlan, Tail, TailError, plan_read};

/// The read position in one transcript.
#[derive(Debug, Default)]
pub struct Reader {
    tail: Tail,
    splitter: LineSplitter,
    /// The receiver holds results of another reading. The next read first tells it that they are void.
    restart_first: bool,
}

/// The receiver of one read. Generic and not a trait object: it is called for each line of gigabytes.
pub trait LineReceiver {
    /// Everything received before is void. The file is delivered from its beginning.
    fn restarted(&mut self);

    /// The next complete line.
    fn line(&mut self, line: Line<'_>);

    /// The end of a line that is too long to be held.
    fn huge_line(&mut self) {}

    /// The end of a piece of the file. This many bytes of an unfinished line are held.
    fn carried(&mut self, _bytes: u64) {}
}

impl Reader {
    /// Goes on at a stored cursor. The unfinished line that begins at `line_start` is delivered from its beginning.
    pub fn resume(cursor: Cursor, line_start: u64) -> Self {
        let again_from = (line_start < cursor.offset).then_some(line_start);
        let tail = Tail { cursor: Some(cursor), redeliver_from: again_from };
        Self { tail, splitter: LineSplitter::new(line_start), restart_first: false }
    }

    /// Begins at the first byte, for a receiver that holds results of another reading.
    pub fn from_first_byte() -> Self {
        Self { restart_first: true, ..Self::default() }
    }

    /// Delivers the new lines of the file at `path`, from `budget` bytes at most. `scratch` is shared by all files.
    ///
    /// # Errors
    /// When the file cannot be opened or read. Lines that were delivered before stay delivered.
    pub fn read(
        &mut self,
        fs: &dyn Fs,
        path: &Path,
        scratch: &mut Vec<u8>,
        budget: u64,
        lines: &mut impl LineReceiver,
    ) -> Result<ReadOutcome, TailError> {
        let Self { tail, splitter, restart_first: void } = self;
        let restart = Cell::new(std::mem::take(void));
        let outcome = tail.read(fs, path, scratch, budget, &mut || restart.set(true), &mut |_, bytes| {
            if restart.replace(false) {
                splitter.reset(0);
                lines.restarted();
            }
            splitter.push(bytes, &mut |split| match split {
                Split::Line(line) => lines.line(line),
                Split::Huge { .. } => lines.huge_line(),
            });
            lines.carried(splitter.carried());
        });
        if restart.get() {
            // The file was emptied, or the read failed at once: there are no new bytes, but the old results are void.
            splitter.reset(0);
            lines.restarted();
        }
        if outcome.as_ref().is_ok_and(|outcome| !outcome.more) {
            splitter.trim();
        }
        outcome
    }

    /// Where reading stopped; `None` before the first read.
    pub fn cursor(&self) -> Option<&Cursor> {
        self.tail.cursor.as_ref()
    }

    /// Where the unfinished line begins.
    pub fn line_start(&self) -> u64 {
        self.splitter.line_start()
    }

    /// Whether the file is unchanged since it was read, as far as `stat` shows. A restart of the system changes
    /// device numbers, so the new one is taken over and not compared.
    pub fn matches_stat(&mut self, stat: &FileStat) -> bool {
        let Some(cursor) = &mut self.tail.cursor else { return false };
        if cursor.id.ino == stat.id.ino {
            cursor.id = stat.id;
        }
        plan_read(Some(cursor), Some(stat)) == ReadPlan::Nothing
    }
}

/// The longest file with a working folder, in bytes.
const FOLDER: u64 = 16 << 10;

/// The working folder of the transcript at a path, from the file beside it, for an agent whose records name none.
pub fn folder_beside(fs: &dyn Fs, path: &Path) -> Option<String> {
    let text = String::from_utf8(fs.read_small(&working_folder_of(path)?, FOLDER).ok()?).ok()?;
    Some(text.trim_end_matches(['\r', '\n']).to_owned()).filter(|folder| Path::new(folder).is_absolute())
}

/// Gives the head of a transcript that folder.
pub fn add_folder(record: &mut Record<'_>, folder: Option<&str>) {
    if let (Body::Session(_), None) = (&record.body, &record.envelope.cwd) {
        record.envelope.cwd = folder.map(|folder| folder.to_owned().into());
    }
}

#[cfg(test)]
mod tests {
    use watchbill_watch::MemFs;

    use super::*;

    const PATH: &str = "/home/dev/.claude/projects/p/a.jsonl";

    #[derive(Default)]
    struct ReceivedLines {
        restarts: u32,
        lines: Vec<(u64, String)>,
        carried: u64,
    }

    impl LineReceiver for ReceivedLines {
        fn restarted(&mut self) {
            self.restarts += 1;
            self.lines.clear();
        }

        fn line(&mut self, line: Line<'_>) {
            self.lines.push((line.offset, String::from_utf8_lossy(line.bytes).into_owned()));
        }

        fn carried(&mut self, bytes: u64) {
            self.carried = bytes;
        }
    }

    impl ReceivedLines {
        fn read(&mut self, reader: &mut Reader, fs: &MemFs, budget: u64) -> ReadOutcome {
            reader.read(fs, Path::new(PATH), &mut Vec::new(), budget, self).expect("the file is there")
        }

        fn is(&self, restarts: u32, lines: &[(u64, &str)]) {
            let held: Vec<_> = self.lines.iter().map(|(offset, line)| (*offset, &**line)).collect();
            assert_eq!((self.restarts, &*held), (restarts, lines));
        }
    }

    #[test]
    fn each_line_is_delivered_once_and_a_rewritten_file_from_its_beginning() {
        let (fs, mut reader, mut received) = (MemFs::new(), Reader::default(), ReceivedLines::default());
        fs.write(PATH, b"one\ntwo\nthr");
        assert!(received.read(&mut reader, &fs, 6).more);
        received.is(0, &[(0, "one")]);
        assert!(!received.read(&mut reader, &fs, u64::MAX).more);
        received.is(0, &[(0, "one"), (4, "two")]);
        assert_eq!((received.carried, reader.line_start()), (3, 8));
        fs.append(PATH, b"ee\n");
        received.read(&mut reader, &fs, u64::MAX);
        received.is(0, &[(0, "one"), (4, "two"), (8, "three")]);
        fs.write(PATH, b"new\n");
        received.read(&mut reader, &fs, u64::MAX);
        received.is(1, &[(0, "new")]);
        fs.write(PATH, b"");
        received.read(&mut reader, &fs, u64::MAX);
        received.is(2, &[]);
        assert_eq!(reader.line_start(), 0);
    }

    #[test]
    fn a_resumed_reader_delivers_the_unfinished_line_whole() {
        let (fs, mut reader, mut received) = (MemFs::new(), Reader::default(), ReceivedLines::default());
        fs.write(PATH, b"one\ntw");
        received.read(&mut reader, &fs, u64::MAX);
        let cursor = *reader.cursor().expect("it was read");
        let mut resumed = Reader::resume(cursor, reader.line_start());
        assert!(resumed.matches_stat(&fs.stat(Path::new(PATH)).expect("the file is there")));
        fs.append(PATH, b"o\n");
        received.read(&mut resumed, &fs, u64::MAX);
        received.is(0, &[(0, "one"), (4, "two")]);
    }

    #[test]
    fn results_of_another_reading_are_void_before_the_first_line() {
        let (fs, mut reader, mut received) =
            (MemFs::new(), Reader::from_first_byte(), ReceivedLines::default());
        fs.write(PATH, b"one\n");
        received.read(&mut reader, &fs, u64::MAX);
        received.is(1, &[(0, "one")]);
        received.read(&mut reader, &fs, u64::MAX);
        received.is(1, &[(0, "one")]);
    }
}
