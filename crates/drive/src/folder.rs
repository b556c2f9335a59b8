//! The folder of one own session: `<data>/own/<id>`, with the specification, the log, the lock and the socket.

use std::borrow::Cow;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use watchbill_platform::files::{open_private, private_dir, read_ordinary, rename};
use watchbill_protocol::own::spec::OwnSpec;

/// The folder of all own sessions, in the data folder.
const ALL: &str = "own";

/// The ending of a folder that is being removed. No id has a dot.
const GOING: &str = "going";

/// The folder of one own session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder(PathBuf);

/// Why the folder of a session cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The id could lead out of the folder.
    #[error("`{0}` is no id of an own session: an id has 1 to 64 letters, digits and hyphens")]
    Id(String),
    /// A file cannot be read or written.
    #[error("cannot {act} {path}: {error}")]
    Io {
        /// The failed operation.
        act: &'static str,
        /// With which file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The file does not hold what it should.
    #[error("{path} does not say what the session runs: {error}; remove the folder to give the session up")]
    Spec {
        /// The file.
        path: PathBuf,
        /// Where it is wrong.
        error: serde_json::Error,
    },
}

impl Folder {
    /// The folder of a session. It need not exist.
    ///
    /// # Errors
    /// When the text is not an id of a session.
    pub fn of(data_dir: &Path, session: &str) -> Result<Self, FolderError> {
        if !is_id(session) {
            return Err(FolderError::Id(session.to_owned()));
        }
        Ok(Self(Self::parent(data_dir).join(session)))
    }

    /// The folder at this path.
    pub fn at(path: &Path) -> Self {
        Self(path.to_owned())
    }

    /// The folder that holds the folders of all own sessions.
    pub fn parent(data_dir: &Path) -> PathBuf {
        data_dir.join(ALL)
    }

    /// All sessions of a data folder, in no order.
    pub fn all(data_dir: &Path) -> Vec<Self> {
        let is_session = |folder: &Self| is_id(&folder.name()) && folder.spec_file().is_file();
        Self::each(data_dir).filter(is_session).collect()
    }

    fn each(data_dir: &Path) -> impl Iterator<Item = Self> {
        let entries = fs::read_dir(Self::parent(data_dir)).into_iter().flatten().flatten();
        entries.map(|entry| Self(entry.path()))
    }

    fn name(&self) -> Cow<'_, str> {
        self.0.file_name().unwrap_or_default().to_string_lossy()
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The specification of the session's process, as JSON. It is written before the process starts.
    pub fn spec_file(&self) -> PathBuf {
        self.0.join("spec.json")
    }

    /// The log.
    pub fn log(&self) -> PathBuf {
        self.0.join("log")
    }

    /// The lock that the host holds as long as it runs.
    pub fn lock(&self) -> PathBuf {
        self.0.join("lock")
    }

    /// The socket of the host.
    pub fn socket(&self) -> PathBuf {
        self.0.join("host.sock")
    }

    /// What an ended session's log adds up to.
    pub fn summary(&self) -> PathBuf {
        self.0.join("summary")
    }

    /// Where a host writes what goes wrong with it.
    pub fn faults(&self) -> PathBuf {
        self.0.join("host.log")
    }

    /// Exists if an agent started the session, or went on with it.
    fn by_agent(&self) -> PathBuf {
        self.0.join("started-by-agent")
    }

    /// Exists if nothing of the session is to be kept: its host removes the folder at its end.
    fn unwanted(&self) -> PathBuf {
        self.0.join("unwanted")
    }

    /// Whether the host removes the folder at its end.
    pub fn is_unwanted(&self) -> bool {
        self.unwanted().exists()
    }

    /// Notes whether the host removes the folder at its end. Without an effect on a session that has ended.
    ///
    /// # Errors
    /// When the file cannot be written or removed.
    pub fn set_unwanted(&self, unwanted: bool) -> io::Result<()> {
        match unwanted {
            true if self.is_unwanted() => Ok(()),
            true => write_private(&self.unwanted(), b""),
            false => match fs::remove_file(self.unwanted()) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            },
        }
    }

    /// The transcript, for an agent that writes none that Watchbill reads. The folder of all sessions has the layout of Claude
    /// Code's folder in this.
    pub fn transcript(&self) -> PathBuf {
        let name = self.0.file_name().unwrap_or_default();
        let all = self.0.parent().unwrap_or(Path::new("/"));
        all.join("projects").join(name).join(name).with_extension("jsonl")
    }

    /// A transcript of records that only the host has, for an agent that writes its own. `session` is the agent's id of the session:
    /// one that could lead to another file has none.
    pub fn supplement(&self, session: &str) -> Option<PathBuf> {
        is_id(session).then(|| self.transcript().with_file_name(session).with_extension("jsonl"))
    }

    /// The transcripts of both kinds that are there.
    pub fn transcripts(&self) -> Vec<PathBuf> {
        let own = self.transcript();
        let files = own.parent().and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten();
        files.map(|file| file.path()).filter(|path| path.extension() == own.extension()).collect()
    }

    /// Removes everything of the session. Its host has ended. The folder first gets a name that no session has. If this process is
    /// killed, [`Folder::finish_removals`] finds what is left by that name.
    ///
    /// # Errors
    /// When a file cannot be removed.
    pub fn remove(&self) -> io::Result<()> {
        let going = Self(self.0.with_extension(GOING));
        // An earlier removal of the same session.
        going.remove_rest()?;
        match fs::rename(&self.0, &going.0) {
            // Another program may remove it at the same time.
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => going.remove_rest(),
        }
    }

    /// Finishes removals whose programs were killed, and removes transcripts that came after the removal of their session.
    ///
    /// # Errors
    /// When a file cannot be removed.
    pub fn finish_removals(data_dir: &Path) -> io::Result<()> {
        let is_going = |folder: &Self| folder.0.extension().is_some_and(|extension| extension == GOING);
        Self::each(data_dir).filter(is_going).try_for_each(|folder| folder.remove_rest())?;
        let transcripts =
            fs::read_dir(Self::parent(data_dir).join("projects")).into_iter().flatten().flatten();
        let sessions = transcripts.filter_map(|entry| Self::of(data_dir, entry.file_name().to_str()?).ok());
        let mut gone = sessions.filter(|session| matches!(session.0.try_exists(), Ok(false)));
        gone.try_for_each(|session| Self(session.0.with_extension(GOING)).remove_rest())
    }

    /// Removes the transcript and then this folder, by whose name the rest of a removal is found.
    fn remove_rest(&self) -> io::Result<()> {
        let transcript = Self(self.0.with_extension("")).transcript();
        for folder in transcript.parent().into_iter().chain([self.path()]) {
            let mut tries = 1..4;
            loop {
                match fs::remove_dir_all(folder) {
                    // Another program has put its mark there meanwhile.
                    Err(error)
                        if error.kind() == io::ErrorKind::DirectoryNotEmpty && tries.next().is_some() => {}
                    // Another program may remove it at the same time.
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => break,
                }
            }
        }
        Ok(())
    }

    /// The last screen of a terminal that has ended, as bytes that draw it.
    pub fn screen(&self) -> PathBuf {
        self.0.join("screen")
    }

    /// Whether an agent started the session, or went on with it. Unknown counts as yes.
    pub fn is_by_agent(&self) -> bool {
        self.by_agent().try_exists().unwrap_or(true)
    }

    /// Notes, durably and for good, that an agent starts the session or goes on with it.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn note_agent(&self) -> Result<(), FolderError> {
        let path = self.by_agent();
        let failed = |error| FolderError::Io { act: "write", path: path.clone(), error };
        private_dir(&self.0).map_err(failed)?;
        write_private(&path, b"").map_err(failed)?;
        File::open(&self.0).and_then(|folder| folder.sync_all()).map_err(failed)
    }

    /// Writes what the session runs, durably. Gives `false`, and changes nothing, if the session exists.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn create(&self, spec: &OwnSpec) -> Result<bool, FolderError> {
        let failed = |act, path: &Path| {
            let path = path.to_owned();
            move |error| FolderError::Io { act, path, error }
        };
        let parent = self.0.parent().unwrap_or(Path::new("/"));
        private_dir(parent).map_err(failed("make", parent))?;
        private_dir(&self.0).map_err(failed("make", &self.0))?;
        let path = self.spec_file();
        let new = self.0.join(unique("spec"));
        let bytes = serde_json::to_vec_pretty(spec)
            .map_err(|error| FolderError::Spec { path: path.clone(), error })?;
        write_private(&new, &bytes).map_err(failed("write", &new))?;
        // A link fails if the name is taken: of two programs that create one session, one succeeds.
        let linked = fs::hard_link(&new, &path);
        let _ = fs::remove_file(&new);
        match linked {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
            other => other.map_err(failed("write", &path))?,
        }
        for folder in [self.path(), parent] {
            File::open(folder).and_then(|opened| opened.sync_all()).map_err(failed("write", folder))?;
        }
        Ok(true)
    }

    /// The specification of the session.
    ///
    /// # Errors
    /// When the file cannot be read, or is damaged.
    pub fn spec(&self) -> Result<OwnSpec, FolderError> {
        let path = self.spec_file();
        let bytes = read_ordinary(&path).map_err(|error| FolderError::Io {
            act: "read",
            path: path.clone(),
            error,
        })?;
        let spec: OwnSpec =
            serde_json::from_slice(&bytes).map_err(|error| FolderError::Spec { path, error })?;
        Ok(OwnSpec { started_by_agent: self.is_by_agent(), ..spec })
    }
}

/// Whether a session may have this id.
fn is_id(session: &str) -> bool {
    (1..=64).contains(&session.len())
        && session.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Writes a file that only its owner can read, whole or not at all. After a power cut it may be empty.
pub(crate) fn replace_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = path.with_file_name(unique("part"));
    let write = || {
        open_private(OpenOptions::new().write(true).create_new(true), &new)?.write_all(bytes)?;
        rename(&new, path)
    };
    write().inspect_err(|_| drop(fs::remove_file(&new)))
}

/// A name that no other thread or process uses.
pub(crate) fn unique(stem: &str) -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    format!("{stem}.{}.{}.new", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed))
}

/// Writes a file that only its owner can read, to the disk.
fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = open_private(OpenOptions::new().write(true).create(true).truncate(true), path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a folder that cannot be made is a failure")]

    use super::*;

    #[test]
    fn a_mark_that_comes_while_the_folder_is_removed_goes_too() {
        let data = tempfile::tempdir().unwrap();
        let folder = Folder::at(&data.path().join("own/a"));
        for round in 0..2_000 {
            fs::create_dir_all(folder.path()).unwrap();
            (0..4).for_each(|n| fs::write(folder.path().join(n.to_string()), "").unwrap());
            std::thread::scope(|threads| {
                threads.spawn(|| {
                    // The mark comes at another moment of the removal in each round.
                    (0..round % 200 * 10).for_each(|_| std::hint::spin_loop());
                    folder.set_unwanted(true)
                });
                folder.remove().unwrap();
            });
            assert!(!folder.path().exists());
        }
    }

    #[test]
    fn a_removal_that_was_killed_anywhere_is_finished_by_the_next_look() {
        let files = ["spec.json", "log", "unwanted", "summary"];
        let made = |data: &Path| {
            let folder = Folder::of(data, "a").unwrap();
            let transcript = folder.transcript();
            fs::create_dir_all(folder.path()).unwrap();
            fs::create_dir_all(transcript.parent().unwrap()).unwrap();
            files.iter().for_each(|file| fs::write(folder.path().join(file), "secret").unwrap());
            fs::write(transcript, "secret").unwrap();
            folder
        };
        // Each folder is named as going before a file leaves it. Then the transcript goes, and the files in any order.
        for (transcript, left) in (0..1 << files.len()).map(|set| (set == 0, set)).chain([(true, 15)]) {
            let data = tempfile::tempdir().unwrap();
            let folder = made(data.path());
            let going = data.path().join("own/a.going");
            fs::rename(folder.path(), &going).unwrap();
            if transcript {
                fs::remove_dir_all(folder.transcript().parent().unwrap()).unwrap();
            }
            for (n, file) in files.iter().enumerate().filter(|(n, _)| left & (1 << n) == 0) {
                fs::remove_file(going.join(file)).unwrap_or_else(|error| panic!("{n}: {error}"));
            }
            assert_eq!(Folder::all(data.path()), [], "it is no session any more");
            Folder::finish_removals(data.path()).unwrap();
            assert!(!going.exists() && !folder.transcript().parent().unwrap().exists(), "{left:b}");
            // A transcript that comes after the removal goes, too. That of a session stays.
            let (late, other) = (folder.transcript(), Folder::of(data.path(), "b").unwrap());
            for transcript in [&late, &other.transcript()] {
                fs::create_dir_all(transcript.parent().unwrap()).unwrap();
                fs::write(transcript, "secret").unwrap();
            }
            fs::create_dir_all(other.path()).unwrap();
            Folder::finish_removals(data.path()).unwrap();
            assert!(!late.parent().unwrap().exists() && other.transcript().exists());
            other.remove().unwrap();
            // The same session begins again, and goes again, over the rest of the first removal.
            fs::create_dir_all(&going).unwrap();
            fs::write(going.join("log"), "secret").unwrap();
            made(data.path()).remove().unwrap();
            assert_eq!(
                fs::read_dir(data.path().join("own")).unwrap().count(),
                1,
                "the folder of transcripts"
            );
        }
    }
}
