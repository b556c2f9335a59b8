//! How a word reaches the one program that writes the store, from another one: a folder of small files beside it.
//!
//! Whoever may not write leaves a wish, `<time>-<process>-<n>.wish`, which is there as a whole or not at all. Whoever writes
//! fulfils it, stores that with its name, writes what came of it beside it (`.answer`) and takes the wish away, in this
//! order: a wish that nobody has stored stays, over the end of any program, and none is fulfilled twice. Then, and after
//! each word of its own, it touches `heard`, and every program that watches the folder reads from the store what the
//! person has said.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use serde::{Deserialize, Serialize};
use watchbill_core::person::Word;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_protocol::error::{ApiError, ErrorCode};

/// Name of the folder in the data folder.
const FOLDER: &str = "wishes";
const WISH: &str = "wish";
const ANSWER: &str = "answer";
/// A wish is some hundred bytes; what is longer is none.
const LONGEST: u64 = 64 << 10;
/// Who has not fetched an answer by then has given up.
const FORGOTTEN: Millis = Millis::from_secs(60);

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
    pub word: Result<Word, ApiError>,
}

#[derive(Serialize, Deserialize)]
enum Answer {
    Done,
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
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("{:016}-{}-{number}", now.as_millis().max(0), std::process::id());
        let path = self.folder.join(name).with_extension(WISH);
        self.put(&path, &serde_json::to_vec(word)?)?;
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
            .filter_map(|path| Some(Wish { word: read(&path)?, name: named(&path), path }))
            .collect()
    }

    /// Notes what came of a wish, and takes it away. Nobody may have waited for the answer, and where there is no room
    /// for it whoever waits gives up: what was wished is stored all the same.
    pub fn answer(&self, wish: &Path, answer: Result<(), ApiError>) {
        let answer = answer.map_or_else(Answer::Refused, |()| Answer::Done);
        let written = serde_json::to_vec(&answer).map_err(io::Error::from);
        let written = written.and_then(|bytes| self.put(&wish.with_extension(ANSWER), &bytes));
        if let Err(error) = written {
            tracing::warn!(wish = %wish.display(), %error, "what came of a wish cannot be told");
        }
        if let Err(error) = fs::remove_file(wish) {
            tracing::warn!(wish = %wish.display(), %error, "a wish was fulfilled, but cannot be taken away");
        }
    }

    /// What came of a wish, once; `None` while it waits.
    pub fn answered(&self, wish: &Path) -> Option<Result<(), ApiError>> {
        let path = wish.with_extension(ANSWER);
        let bytes = fs::read(&path).ok()?;
        // Left behind it is swept away later.
        let _ = fs::remove_file(&path);
        Some(match serde_json::from_slice(&bytes) {
            Ok(Answer::Done) => Ok(()),
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
            let name = path.file_name().and_then(|name| name.to_str());
            let at = name.and_then(|name| name.split('-').next()?.parse().ok()).map(Timestamp::from_millis);
            if left && at.is_some_and(|at| now.since(at) > FORGOTTEN) {
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

/// Reads one wish; `None` when it is gone, or is no file: to open a pipe would mean to wait for its other end.
fn read(path: &Path) -> Option<Result<Word, ApiError>> {
    let invalid = |why: String| {
        let message = format!("the wish {} makes no sense: {why}", path.display());
        ApiError::new(ErrorCode::Invalid, message)
    };
    let is = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
    if is.len() > LONGEST {
        return Some(Err(invalid(format!("it has {} bytes", is.len()))));
    }
    match fs::read(path) {
        Ok(bytes) => Some(serde_json::from_slice(&bytes).map_err(|error| invalid(error.to_string()))),
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
        assert_eq!(waiting[0].word.as_ref().unwrap(), &word());
        assert!(wishes.answered(&first).is_none());
        wishes.answer(&first, Ok(()));
        wishes.answer(&second, Err(ApiError::new(ErrorCode::Invalid, "no")));
        assert!(wishes.waiting().is_empty());
        assert_eq!(wishes.answered(&first), Some(Ok(())));
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
        assert_eq!(waiting.iter().filter(|wish| wish.word.is_err()).count(), 2);
        assert!(waiting.iter().any(|wish| wish.path == good && wish.word.is_ok()));
    }

    #[test]
    fn answers_that_nobody_fetches_are_swept_away() {
        let folder = tempfile::tempdir().unwrap();
        let wishes = Wishes::open(folder.path()).unwrap();
        let at = Timestamp::from_millis(1_000);
        let wish = wishes.leave(&word(), at).unwrap();
        wishes.answer(&wish, Ok(()));
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
