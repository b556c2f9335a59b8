//! The journal: all received events in one file. One program writes it and all programs read it.
//!
//! An event in the journal survives the program that received it, so senders rely on it. The journal is no archive: a
//! running writer removes events older than two days within an hour. Without one, the next writer removes them.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

use watchbill_core::time::{Millis, Timestamp};

use crate::envelope::{Decoded, Envelope, decode, next_begin};
use crate::places::HookPaths;
use watchbill_platform::clock;
use watchbill_platform::files::{check_size_limit, identity, open_ordinary, private_dir, rename};

/// A journal longer than this becomes the old journal, and a new one begins.
pub(crate) const LENGTH: u64 = 8 * 1024 * 1024;

/// The same holds for a journal whose first event is older than this. It holds the user's text, and no part needs
/// that for longer.
const AGE: Millis = Millis::from_secs(24 * 3600);

/// The size of the trial event that checks whether the journal can be written.
const TRIAL_BYTES: usize = 4096;

/// The right to write the journal, and the open file.
#[derive(Debug)]
pub struct Journal {
    places: HookPaths,
    file: File,
    length: u64,
    /// When the first event of the file was sent.
    began: Option<Timestamp>,
    _claim: File,
}

impl Journal {
    /// Takes the right to write; `None` when another program has it.
    ///
    /// A killed writer may have left an incomplete event at the end, which is cut off: its sender got no
    /// acknowledgement and spools the event. A journal with other bytes at its end, of a newer version for instance,
    /// becomes the old journal.
    ///
    /// # Errors
    /// When the files cannot be opened.
    pub fn claim(places: &HookPaths) -> io::Result<Option<Self>> {
        private_dir(places.root())?;
        let lock = places.journal_lock();
        let claim = open_ordinary(OpenOptions::new().write(true).create(true).truncate(false), &lock)?;
        match claim.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Ok(None),
            Err(fs::TryLockError::Error(error)) => return Err(error),
        }
        remove_old(&places.old_journal())?;
        remove_old(&places.journal())?;
        let mut file = open(places)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let mut began = None;
        let now = clock::wall();
        // If a sender's clock was ahead, the file must not last longer for it.
        let whole = each(&bytes, &mut |envelope, _| began = began.or(Some(envelope.at.min(now))));
        let length = bytes.len() as u64;
        let mut journal = Self { places: places.clone(), file, length, began, _claim: claim };
        if decode(&bytes[whole..]) == Decoded::Incomplete {
            journal.file.set_len(whole as u64)?;
            journal.length = whole as u64;
        } else if whole < bytes.len() {
            journal.rotate()?;
        }
        Ok(Some(journal))
    }

    fn rotate(&mut self) -> io::Result<()> {
        rename(&self.places.journal(), &self.places.old_journal())?;
        self.file = open(&self.places)?;
        self.length = 0;
        self.began = None;
        Ok(())
    }

    /// Appends events, all or none.
    ///
    /// # Errors
    /// When they cannot be written; then the journal is as it was.
    pub fn append(&mut self, frames: &[u8]) -> io::Result<()> {
        let now = clock::wall();
        self.write(frames, now)?;
        self.length += frames.len() as u64;
        self.began = self.began.or(Some(now));
        Ok(())
    }

    /// Appends an event that lacks its end, and removes it again. Readers wait for its end meanwhile. If a kill
    /// leaves the event there, the next claim removes it.
    ///
    /// # Errors
    /// When an event could not be written now.
    pub fn check_writable(&mut self) -> io::Result<()> {
        let now = clock::wall();
        let event = Envelope::new(0, now, 0);
        let frame = event.encode(&[b' '; TRIAL_BYTES]);
        self.write(&frame[..frame.len() - 1], now)?;
        self.file.set_len(self.length)
    }

    /// Removes events that are too old, also while none come. Returns whether any events are left that will get too
    /// old.
    ///
    /// A journal becomes the old journal after a day. The old journal is removed a day after its last write.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn tidy(&mut self) -> io::Result<bool> {
        if self.is_aged(clock::wall()) {
            self.rotate()?;
        }
        let old = self.places.old_journal();
        remove_old(&old)?;
        Ok(self.began.is_some() || old.exists())
    }

    fn is_aged(&self, now: Timestamp) -> bool {
        self.began.is_some_and(|began| now.since(began) > AGE)
    }

    /// Writes all bytes or none.
    fn write(&mut self, bytes: &[u8], now: Timestamp) -> io::Result<()> {
        let may_grow = || check_size_limit(self.length + bytes.len() as u64);
        if self.length > LENGTH || self.is_aged(now) || (self.length > 0 && may_grow().is_err()) {
            self.rotate()?;
        }
        check_size_limit(self.length + bytes.len() as u64)?;
        self.file.write_all(bytes).or_else(|error| {
            self.file.set_len(self.length)?;
            Err(error)
        })
    }
}

/// Removes a journal file whose last write is older than [`AGE`].
fn remove_old(path: &Path) -> io::Result<()> {
    let written = match fs::metadata(path).and_then(|found| found.modified()) {
        Ok(written) => written,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let age = SystemTime::now().duration_since(written).unwrap_or_default();
    if age > Duration::from_millis(AGE.0.unsigned_abs()) { fs::remove_file(path) } else { Ok(()) }
}

fn open(places: &HookPaths) -> io::Result<File> {
    open_ordinary(OpenOptions::new().read(true).append(true).create(true), &places.journal())
}

/// Reads the journal in steps, each from the end of the last one.
#[derive(Debug, Default)]
pub struct JournalReader {
    file: Option<File>,
    /// The end of the events that were read from this file.
    offset: u64,
}

impl JournalReader {
    /// Calls `event` for each new event. The first call begins with the old journal's events.
    ///
    /// # Errors
    /// When a file is there and cannot be read.
    pub fn read(
        &mut self,
        places: &HookPaths,
        event: &mut dyn FnMut(Box<Envelope>, &[u8]),
    ) -> io::Result<()> {
        match &self.file {
            None => {
                if let Some(old) = open_existing(&places.old_journal())? {
                    read_on(&old, 0, event)?;
                }
                self.file = open_existing(&places.journal())?;
                self.offset = 0;
            }
            Some(file) => self.offset = read_on(file, self.offset, event)?,
        }
        // The writer may have begun a new journal during the reading. This reads the end of the old one first.
        while let Some(now) = open_existing(&places.journal())? {
            if self.file.as_ref().is_some_and(|file| same_file(file, &now)) {
                break;
            }
            if let Some(file) = &self.file {
                read_on(file, self.offset, event)?;
            }
            self.offset = 0;
            self.file = Some(now);
        }
        if let Some(file) = &self.file {
            self.offset = read_on(file, self.offset, event)?;
        }
        Ok(())
    }
}

/// Calls `event` for each event in the last `most` bytes of the journal, for a single look. It skips an event that
/// begins before those bytes.
///
/// # Errors
/// When the file is there and cannot be read.
pub fn latest(places: &HookPaths, most: u64, event: &mut dyn FnMut(Box<Envelope>, &[u8])) -> io::Result<()> {
    let Some(file) = open_existing(&places.journal())? else { return Ok(()) };
    let length = file.metadata()?.len();
    if length < most
        && let Some(old) = open_existing(&places.old_journal())?
    {
        read_on(&old, old.metadata()?.len().saturating_sub(most - length), event)?;
    }
    read_on(&file, length.saturating_sub(most), event).map(drop)
}

fn open_existing(path: &Path) -> io::Result<Option<File>> {
    match open_ordinary(OpenOptions::new().read(true), path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn read_on(mut file: &File, offset: u64, event: &mut dyn FnMut(Box<Envelope>, &[u8])) -> io::Result<u64> {
    let length = file.metadata()?.len();
    if length <= offset {
        return Ok(offset);
    }
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.take(length - offset).read_to_end(&mut bytes)?;
    Ok(offset + each(&bytes, event) as u64)
}

/// Calls `event` for each whole event and returns the number of bytes it has handled. It skips damaged bytes between
/// events.
fn each(bytes: &[u8], event: &mut dyn FnMut(Box<Envelope>, &[u8])) -> usize {
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        match decode(rest) {
            Decoded::Whole { envelope, payload, used } => {
                event(envelope, &rest[payload]);
                at += used;
            }
            Decoded::Incomplete => break,
            Decoded::Malformed => match next_begin(rest) {
                Some(next) => at += next,
                // Forgotten events leave blanks.
                None if rest.iter().all(u8::is_ascii_whitespace) => at = bytes.len(),
                None => break,
            },
        }
    }
    at
}

fn same_file(a: &File, b: &File) -> bool {
    match (identity(a), identity(b)) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(id: u128, at: Timestamp) -> Vec<u8> {
        Envelope::new(id, at, 1).encode(b"{}")
    }

    fn ids(places: &HookPaths) -> Vec<u128> {
        let mut ids = Vec::new();
        let mut reader = JournalReader::default();
        reader.read(places, &mut |envelope, _| ids.push(envelope.id)).expect("it can be read");
        ids
    }

    #[test]
    fn appending_removes_events_older_than_two_days() {
        let dir = tempfile::tempdir().expect("a folder");
        let places = HookPaths::without_spares(dir.path());
        private_dir(places.root()).expect("a folder");
        let ago = |hours: i64| clock::wall() - Millis::from_secs(hours * 3600);
        fs::write(places.old_journal(), event(1, ago(47))).expect("written");
        fs::write(places.journal(), event(2, ago(25))).expect("written");
        let mut journal = Journal::claim(&places).expect("it opens").expect("it is ours");
        assert_eq!(ids(&places), [1, 2], "nothing is due yet, and both were written just now");
        journal.append(&event(3, ago(0))).expect("written");
        journal.append(&event(4, ago(0))).expect("written");
        assert_eq!(ids(&places), [2, 3, 4]);
    }

    #[test]
    fn tidying_removes_old_events_when_no_new_ones_come() {
        let dir = tempfile::tempdir().expect("a folder");
        let places = HookPaths::without_spares(dir.path());
        private_dir(places.root()).expect("a folder");
        let ago = |hours: i64| clock::wall() - Millis::from_secs(hours * 3600);
        let written = |path: &Path, hours: u64| {
            let file = OpenOptions::new().append(true).open(path).expect("it opens");
            file.set_modified(SystemTime::now() - Duration::from_secs(hours * 3600))
                .expect("its time can be set");
        };
        fs::write(places.journal(), event(1, ago(23))).expect("written");
        let mut journal = Journal::claim(&places).expect("it opens").expect("it is ours");
        assert!(journal.tidy().expect("tidied"));
        assert_eq!(ids(&places), [1]);
        // Two hours pass.
        journal.began = Some(ago(25));
        assert!(journal.tidy().expect("tidied"), "it is kept a day longer");
        assert_eq!((ids(&places), places.old_journal().exists()), (vec![1], true));
        written(&places.old_journal(), 23);
        assert!(journal.tidy().expect("tidied"));
        written(&places.old_journal(), 25);
        assert!(!journal.tidy().expect("tidied"), "nothing is left to become old");
        assert_eq!((ids(&places), places.old_journal().exists()), (vec![], false));
        // The machine has slept for three days.
        journal.append(&event(2, ago(72))).expect("written");
        journal.began = Some(ago(72));
        written(&places.journal(), 71);
        assert!(!journal.tidy().expect("tidied"));
        assert_eq!((ids(&places), places.old_journal().exists()), (vec![], false));
        // A clock that was ahead does not make the file last longer.
        drop(journal);
        fs::write(places.journal(), event(3, ago(-9999))).expect("written");
        let journal = Journal::claim(&places).expect("it opens").expect("it is ours");
        assert!(journal.began.is_some_and(|began| began <= clock::wall()));
    }

    #[test]
    fn a_trial_fails_like_a_write_would_and_leaves_no_bytes() {
        let dir = tempfile::tempdir().expect("a folder");
        let places = HookPaths::without_spares(dir.path());
        let mut journal = Journal::claim(&places).expect("it opens").expect("it is ours");
        journal.append(&event(1, clock::wall())).expect("written");
        let before = fs::read(places.journal()).expect("it can be read");
        journal.check_writable().expect("it can be written");
        assert_eq!(fs::read(places.journal()).expect("it can be read"), before);
        let writable = std::mem::replace(&mut journal.file, File::open(places.journal()).expect("it opens"));
        journal.check_writable().expect_err("this file alone cannot be written");
        journal.file = writable;
        journal.append(&event(2, clock::wall())).expect("written");
        assert_eq!(ids(&places), [1, 2]);
    }

    #[test]
    fn an_unfinished_trial_is_not_read_and_the_next_claim_removes_it() {
        let dir = tempfile::tempdir().expect("a folder");
        let places = HookPaths::without_spares(dir.path());
        let mut journal = Journal::claim(&places).expect("it opens").expect("it is ours");
        journal.append(&event(1, clock::wall())).expect("written");
        let whole = event(2, clock::wall());
        journal.file.write_all(&whole[..whole.len() - 1]).expect("written");
        assert_eq!(ids(&places), [1]);
        drop(journal);
        let mut journal = Journal::claim(&places).expect("it opens").expect("it is ours");
        journal.append(&event(3, clock::wall())).expect("written");
        assert_eq!(ids(&places), [1, 3]);
    }

    #[test]
    fn claiming_removes_journals_without_a_write_for_a_day() {
        let dir = tempfile::tempdir().expect("a folder");
        let places = HookPaths::without_spares(dir.path());
        private_dir(places.root()).expect("a folder");
        let day_before = SystemTime::now() - Duration::from_secs(25 * 3600);
        for (id, path) in [(1, places.old_journal()), (2, places.journal())] {
            fs::write(&path, event(id, clock::wall())).expect("written");
            let file = OpenOptions::new().write(true).open(&path).expect("it opens");
            file.set_modified(day_before).expect("its time can be set");
        }
        let mut reader = JournalReader::default();
        let mut events = 0;
        reader.read(&places, &mut |_, _| events += 1).expect("it can be read");
        let mut journal = Journal::claim(&places).expect("it opens").expect("it is ours");
        assert_eq!(ids(&places), [0u128; 0]);
        journal.append(&event(3, clock::wall())).expect("written");
        reader.read(&places, &mut |_, _| events += 1).expect("it can be read");
        assert_eq!(events, 3, "a reader of the old one goes on in the new one");
    }
}
