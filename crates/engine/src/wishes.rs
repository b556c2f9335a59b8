//! How a word, or what is to be forgotten, reaches the one program that writes the store, from another one: a folder of small
//! files beside it.
//!
//! Whoever may not write leaves a wish, `<time>-<process>-<n>.wish`, which is there as a whole or not at all. Whoever writes
//! fulfils it, stores that with its name, writes what came of it beside it (`.answer`) and takes the wish away, in this
//! order: a wish that nobody has stored stays, over the end of any program, and none is fulfilled twice. Then, and after
//! each word of its own, it touches `heard`, and every program that watches the folder reads from the store what the
//! person has said.
//!
//! What is to be forgotten is another matter: it is gone for good, whoever wishes it waits for it, and nobody may do it
//! when they have given up. Whoever begins with it takes the wish away first, and so does whoever gives it up: of two one
//! succeeds. Should the program that has begun be killed, the other one still waits, and goes on itself.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use serde::{Deserialize, Serialize};
use watchbill_core::person::Word;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_hooks::places::read_ordinary;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::store::ForgetReport;

use crate::forget::{Outcome, Removal};

/// Name of the folder in the data folder.
const FOLDER: &str = "wishes";
const WISH: &str = "wish";
const ANSWER: &str = "answer";
/// A wish is some hundred bytes; what is longer is none.
const LONGEST: u64 = 64 << 10;
/// Who has not fetched an answer by then has given up, and so has whoever left what was not begun with by then.
pub const GIVEN_UP: Millis = Millis::from_secs(60);

/// The folder of wishes of one data folder.
#[derive(Debug, Clone)]
pub struct Wishes {
    folder: PathBuf,
}

/// A wish that waits.
#[derive(Debug)]
pub struct Wish {
    /// Its file.
    pub path: PathBuf,
    /// The name of the file, by which the store knows it once it is fulfilled.
    pub name: String,
    /// What is wished; an error where the file makes no sense, with the reason for the person.
    pub wished: Result<Wished, ApiError>,
}

/// What can be wished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wished {
    /// A word is to be said.
    Said(Word),
    /// Something is to be forgotten, or remembered again.
    Removed(Removal),
}

#[derive(Serialize, Deserialize)]
enum Answer {
    Done,
    Forgotten(ForgetReport),
    Refused(ApiError),
}

impl Wishes {
    /// Makes the folder, for the person alone.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn open(data_dir: &Path) -> io::Result<Self> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        let folder = data_dir.join(FOLDER);
        builder.create(&folder)?;
        // Hints name the folder by its real name.
        Ok(Self { folder: folder.canonicalize().unwrap_or(folder) })
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Leaves a wish. Gives its file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn leave(&self, word: &Word, now: Timestamp) -> io::Result<PathBuf> {
        self.leave_bytes(&serde_json::to_vec(word)?, now)
    }

    /// Leaves a wish that something be forgotten. Gives its file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn leave_removal(&self, removal: &Removal, now: Timestamp) -> io::Result<PathBuf> {
        self.leave_bytes(&serde_json::to_vec(removal)?, now)
    }

    fn leave_bytes(&self, bytes: &[u8], now: Timestamp) -> io::Result<PathBuf> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("{:016}-{}-{number}", now.as_millis().max(0), std::process::id());
        let path = self.folder.join(name).with_extension(WISH);
        self.put(&path, bytes)?;
        Ok(path)
    }

    /// The wishes that wait, oldest first.
    pub fn waiting(&self) -> Vec<Wish> {
        let Ok(entries) = fs::read_dir(&self.folder) else { return Vec::new() };
        let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == WISH));
        paths.sort();
        // Another one may have fulfilled it between two looks.
        let named = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        paths
            .into_iter()
            .filter_map(|path| Some(Wish { wished: read(&path)?, name: named(&path), path }))
            .collect()
    }

    /// Takes a wish away before anything came of it; whether it was still there. Of several that do this one succeeds.
    pub fn take_away(&self, wish: &Path) -> bool {
        fs::remove_file(wish).is_ok()
    }

    /// Whether whoever left the wish is waiting no more.
    pub fn is_given_up(&self, wish: &Path, now: Timestamp) -> bool {
        left_at(wish).is_none_or(|at| now.since(at) > GIVEN_UP)
    }

    /// Notes what came of a wish, and takes it away. Nobody may have waited for the answer, and where there is no room
    /// for it whoever waits gives up: what was wished is stored all the same.
    pub fn answer(&self, wish: &Path, answer: Outcome) {
        let answer = match answer {
            Ok(None) => Answer::Done,
            Ok(Some(report)) => Answer::Forgotten(report),
            Err(error) => Answer::Refused(error),
        };
        let written = serde_json::to_vec(&answer).map_err(io::Error::from);
        let written = written.and_then(|bytes| self.put(&wish.with_extension(ANSWER), &bytes));
        if let Err(error) = written {
            tracing::warn!(wish = %wish.display(), %error, "what came of a wish cannot be told");
        }
        if let Err(error) = fs::remove_file(wish)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(wish = %wish.display(), %error, "a wish was fulfilled, but cannot be taken away");
        }
    }

    /// What came of a wish, once; `None` while it waits.
    pub fn answered(&self, wish: &Path) -> Option<Outcome> {
        let path = wish.with_extension(ANSWER);
        let bytes = read_ordinary(&path).ok()?;
        // Left behind it is swept away later.
        let _ = fs::remove_file(&path);
        Some(match serde_json::from_slice(&bytes) {
            Ok(Answer::Done) => Ok(None),
            Ok(Answer::Forgotten(report)) => Ok(Some(report)),
            Ok(Answer::Refused(error)) => Err(error),
            Err(error) => Err(ApiError::new(
                ErrorCode::Internal,
                format!("the answer of another Watchbill makes no sense: {error}"),
            )),
        })
    }

    /// Tells every program that watches that something was said.
    pub fn tell(&self, now: Timestamp) {
        if let Err(error) = self.put(&self.folder.join("heard"), now.to_string().as_bytes()) {
            tracing::debug!(%error, "other programs will not know at once what was said");
        }
        self.sweep(now);
    }

    /// Takes away answers that nobody came for.
    fn sweep(&self, now: Timestamp) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            let left = path.extension().is_some_and(|extension| extension == ANSWER || extension == "part");
            if left && left_at(&path).is_some_and(|at| now.since(at) > GIVEN_UP) {
                // The next sweep tries again.
                let _ = fs::remove_file(path);
            }
        }
    }

    /// Writes a file that is there as a whole or not at all.
    fn put(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        // The beginning stays, so that what a kill leaves behind is swept away by its time.
        let part = path.with_extension("part");
        fs::write(&part, bytes)?;
        fs::rename(&part, path)
    }
}

/// When a wish was left, by the name of its file or of what came of it.
fn left_at(path: &Path) -> Option<Timestamp> {
    let at = path.file_name()?.to_str()?.split('-').next()?.parse().ok()?;
    Some(Timestamp::from_millis(at))
}

/// Reads one wish; `None` when it is gone, or is no file: to open a pipe would mean to wait for its other end.
fn read(path: &Path) -> Option<Result<Wished, ApiError>> {
    let invalid = |why: String| {
        let message = format!("the wish {} makes no sense: {why}", path.display());
        ApiError::new(ErrorCode::Invalid, message)
    };
    let is = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
    if is.len() > LONGEST {
        return Some(Err(invalid(format!("it has {} bytes", is.len()))));
    }
    match fs::read(path) {
        Ok(bytes) => {
            let removed = serde_json::from_slice(&bytes).map(Wished::Removed);
            let wished = removed.or_else(|_| serde_json::from_slice(&bytes).map(Wished::Said));
            Some(wished.map_err(|error| invalid(error.to_string())))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => Some(Err(invalid(error.to_string()))),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a file that cannot be written is a failure")]

    use watchbill_core::ids::SessionId;

    use super::*;

    fn word() -> Word {
        Word::Name { session: SessionId::new("s"), name: Some("Ünïcode \"quoted\"".into()) }
    }

    #[test]
    fn a_wish_waits_until_it_is_answered_and_the_answer_is_given_once() {
        let folder = tempfile::tempdir().unwrap();
        let wishes = Wishes::open(folder.path()).unwrap();
        let first = wishes.leave(&word(), Timestamp::from_millis(5)).unwrap();
        let second = wishes.leave(&word(), Timestamp::from_millis(5)).unwrap();
        let waiting = wishes.waiting();
        assert_eq!(waiting.iter().map(|wish| &wish.path).collect::<Vec<_>>(), [&first, &second]);
        assert_eq!(waiting[0].wished.as_ref().unwrap(), &Wished::Said(word()));
        assert!(wishes.answered(&first).is_none());
        wishes.answer(&first, Ok(None));
        wishes.answer(&second, Err(ApiError::new(ErrorCode::Invalid, "no")));
        assert!(wishes.waiting().is_empty());
        assert_eq!(wishes.answered(&first), Some(Ok(None)));
        assert_eq!(wishes.answered(&first), None);
        assert_eq!(wishes.answered(&second).unwrap().unwrap_err().message, "no");
    }

    #[test]
    fn what_is_no_wish_is_answered_too_and_stops_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let wishes = Wishes::open(folder.path()).unwrap();
        fs::write(wishes.folder().join("1-1-1.wish"), b"{\"Name\":").unwrap();
        fs::write(wishes.folder().join("1-1-2.wish"), vec![b' '; 70_000]).unwrap();
        fs::write(wishes.folder().join("1-1-3.part"), b"half").unwrap();
        let good = wishes.leave(&word(), Timestamp::from_millis(5)).unwrap();
        let waiting = wishes.waiting();
        assert_eq!(waiting.iter().filter(|wish| wish.wished.is_err()).count(), 2);
        assert!(waiting.iter().any(|wish| wish.path == good && wish.wished.is_ok()));
    }

    #[test]
    fn of_two_that_take_a_removal_away_one_succeeds_and_nobody_does_what_was_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let wishes = Wishes::open(folder.path()).unwrap();
        let at = Timestamp::from_millis(5);
        let removal = Removal::Forget(SessionId::new("s"));
        let wish = wishes.leave_removal(&removal, at).unwrap();
        let waiting = wishes.waiting();
        assert_eq!(waiting[0].wished.as_ref().unwrap(), &Wished::Removed(removal));
        assert!(!wishes.is_given_up(&wish, at + GIVEN_UP));
        assert!(wishes.is_given_up(&wish, at + GIVEN_UP + Millis(1)));
        assert_eq!([wishes.take_away(&wish), wishes.take_away(&wish)], [true, false]);
        let report = ForgetReport { texts: 3, ..ForgetReport::default() };
        wishes.answer(&wish, Ok(Some(report.clone())));
        assert_eq!(wishes.answered(&wish), Some(Ok(Some(report))));
    }

    #[test]
    fn answers_that_nobody_fetches_are_swept_away() {
        let folder = tempfile::tempdir().unwrap();
        let wishes = Wishes::open(folder.path()).unwrap();
        let at = Timestamp::from_millis(1_000);
        let wish = wishes.leave(&word(), at).unwrap();
        wishes.answer(&wish, Ok(None));
        wishes.leave(&word(), at).unwrap();
        wishes.tell(at + Millis::from_secs(30));
        assert_eq!(fs::read_dir(wishes.folder()).unwrap().count(), 3);
        wishes.tell(at + Millis::from_secs(61));
        let left = fs::read_dir(wishes.folder()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut left: Vec<_> = left.collect();
        left.sort();
        assert_eq!(left.len(), 2, "{left:?}");
        assert_eq!(left[1], "heard", "a wish is never swept away");
    }
}
