//! The log of an own session: records that are only appended. Each record is written before it takes effect.
//!
//! A record is a line `number milliseconds direction length`, then as many bytes, then a line feed. A process that dies in the
//! middle leaves a torn end. The next host moves it to `log.torn`, and readers stop before it.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use watchbill_core::time::Timestamp;
use watchbill_platform::files::open_private;

/// The longest content of a record, in bytes. Longer lines of an agent are cut.
pub const MAX_CONTENT_BYTES: usize = 64 << 20;

/// Contents that are shorter are copied to be written at once.
const COPIED: usize = 64 << 10;

/// Where the content of a record comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum_macros::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Direction {
    /// A line of the agent's standard output.
    Out,
    /// A line that was written to the agent.
    In,
    /// A line of the agent's standard error.
    Err,
    /// A command of a reader: the JSON of a `HostCall`.
    Command,
    /// An event of the host itself: the JSON of an `OwnWhat`.
    Event,
}

impl Direction {
    const ALL: [Self; 5] = [Self::Out, Self::In, Self::Err, Self::Command, Self::Event];

    fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|direction| <&str>::from(direction) == word)
    }
}

/// One record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its number; the first one has 0.
    pub n: u64,
    /// When it was written.
    pub at: Timestamp,
    /// Where it comes from.
    pub direction: Direction,
    /// A line without its line feed, or JSON.
    pub bytes: Vec<u8>,
}

/// Appends to a log. Only the holder of the session's lock may have one.
#[derive(Debug)]
pub struct LogWriter {
    file: File,
    next: u64,
    length: u64,
}

impl LogWriter {
    /// Opens a log behind its last whole record. A torn end is moved to `log.torn`.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        let mut file = open_private(&mut options, path)?;
        let mut reader = LogReader::open(path)?;
        while reader.next(|_| false)?.is_some() {}
        let (next, length) = (reader.next, reader.position);
        if file.metadata()?.len() > length {
            let mut torn = Vec::new();
            file.seek(SeekFrom::Start(length))?;
            file.read_to_end(&mut torn)?;
            let mut kept = open_private(&mut options, &path.with_extension("torn"))?;
            kept.write_all(&torn)?;
            kept.sync_data()?;
            file.set_len(length)?;
        }
        Ok(Self { file, next, length })
    }

    /// The number of the next record.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// The length of the log in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Appends a record, and gives its number. The content is at most [`MAX_CONTENT_BYTES`] bytes.
    ///
    /// # Errors
    /// When it cannot be written. The log is then as it was.
    pub fn append(&mut self, at: Timestamp, direction: Direction, bytes: &[u8]) -> io::Result<u64> {
        let head = format!("{} {} {} {}\n", self.next, at.as_millis(), <&str>::from(direction), bytes.len());
        let mut write = |parts: &[&[u8]]| parts.iter().try_for_each(|part| self.file.write_all(part));
        // One call of the system for most records, and no copy of a large one.
        let written = match bytes.len() {
            0..COPIED => write(&[&[head.as_bytes(), bytes, b"\n"].concat()]),
            _ => write(&[head.as_bytes(), bytes, b"\n"]),
        };
        if let Err(error) = written {
            let _ = self.file.set_len(self.length);
            return Err(error);
        }
        self.length += (head.len() + bytes.len() + 1) as u64;
        self.next += 1;
        Ok(self.next - 1)
    }

    /// Waits until all records are on the disk.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

/// Reads a log from its beginning, also while a host appends to it.
#[derive(Debug)]
pub struct LogReader {
    file: BufReader<File>,
    next: u64,
    /// Where the next record begins.
    position: u64,
}

impl LogReader {
    /// Opens a log.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { file: BufReader::new(File::open(path)?), next: 0, position: 0 })
    }

    /// The number of the record that [`LogReader::next`] gives next.
    pub fn number(&self) -> u64 {
        self.next
    }

    /// The next whole record; `None` at the end, or where the log is torn or damaged. A record in whose content `wants` has no
    /// interest comes without it.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn next(&mut self, wants: impl Fn(Direction) -> bool) -> io::Result<Option<Record>> {
        let mut head = Vec::new();
        self.file.by_ref().take(128).read_until(b'\n', &mut head)?;
        let Some((mut record, length)) = read_head(&head).filter(|(record, _)| record.n == self.next) else {
            return self.stay();
        };
        if wants(record.direction) {
            self.file.by_ref().take(length as u64).read_to_end(&mut record.bytes)?;
            if record.bytes.len() < length {
                return self.stay();
            }
        } else {
            self.file.seek_relative(length as i64)?;
        }
        let mut end = [0];
        if self.file.read(&mut end)? == 0 || end[0] != b'\n' {
            return self.stay();
        }
        self.next += 1;
        self.position += (head.len() + length + 1) as u64;
        Ok(Some(record))
    }

    /// Goes back to the beginning of the record that is not whole: the host may be writing it.
    fn stay(&mut self) -> io::Result<Option<Record>> {
        self.file.seek(SeekFrom::Start(self.position))?;
        Ok(None)
    }
}

fn read_head(head: &[u8]) -> Option<(Record, usize)> {
    let text = std::str::from_utf8(head).ok()?.strip_suffix('\n')?;
    let mut words = text.split(' ');
    let n = words.next()?.parse().ok()?;
    let at = Timestamp::from_millis(words.next()?.parse().ok()?);
    let direction = Direction::of(words.next()?)?;
    let length = words.next()?.parse().ok().filter(|length| *length <= MAX_CONTENT_BYTES)?;
    words.next().is_none().then_some((Record { n, at, direction, bytes: Vec::new() }, length))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(path: &Path, contents: &[Vec<u8>]) -> Vec<Record> {
        let mut log = LogWriter::open(path).unwrap();
        let mut records = Vec::new();
        for (number, bytes) in contents.iter().enumerate() {
            let direction = Direction::ALL[number % 5];
            let at = Timestamp::from_millis(1_764_000_000_000 + number as i64);
            let n = log.append(at, direction, bytes).unwrap();
            records.push(Record { n, at, direction, bytes: bytes.clone() });
        }
        records
    }

    fn all(path: &Path) -> Vec<Record> {
        let mut log = LogReader::open(path).unwrap();
        std::iter::from_fn(|| log.next(|_| true).unwrap()).collect()
    }

    #[test]
    fn a_reader_goes_on_where_the_writer_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut writer = LogWriter::open(&path).unwrap();
        let mut reader = LogReader::open(&path).unwrap();
        for number in 0..3_u64 {
            assert_eq!(reader.next(|_| true).unwrap(), None);
            writer.append(Timestamp::from_millis(7), Direction::Out, b"a\nb").unwrap();
            let record = reader.next(|_| true).unwrap().unwrap();
            assert_eq!((record.n, record.bytes.as_slice()), (number, b"a\nb".as_slice()));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn whole_records_stay_and_the_rest_is_kept_after_a_cut_anywhere(
            contents in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..8),
            cut in 0_usize..400,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("log");
            let records = written(&path, &contents);
            prop_assert_eq!(&all(&path), &records);
            let bytes = std::fs::read(&path).unwrap();
            let cut = cut.min(bytes.len());
            std::fs::write(&path, &bytes[..cut]).unwrap();
            let whole = all(&path);
            prop_assert_eq!(&whole[..], &records[..whole.len()]);
            let mut log = LogWriter::open(&path).unwrap();
            prop_assert_eq!(log.next(), whole.len() as u64);
            let kept = std::fs::read(path.with_extension("torn")).unwrap_or_default();
            prop_assert_eq!(std::fs::read(&path).unwrap().len() + kept.len(), cut);
            log.append(Timestamp::from_millis(7), Direction::In, b"after").unwrap();
            let after = all(&path);
            prop_assert_eq!(after.len(), whole.len() + 1);
            prop_assert_eq!(after.last().unwrap().bytes.as_slice(), b"after");
        }
    }
}
