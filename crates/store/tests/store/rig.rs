//! Shared by all tests: a folder, a store in it, a file with texts.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use watchbill_core::history::rows::{Role, Text};
use watchbill_core::ids::SessionId;
use watchbill_core::time::Timestamp;
use watchbill_store::removal::{Forget, Removed, Stage};
use watchbill_store::{Access, FileKey, OpenMode, SessionKey, Store, StoreError, WriteTransaction};

pub struct Rig {
    pub folder: TempDir,
}

impl Rig {
    pub fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    /// The store, opened for writing. A store that was dropped just now may be locked for a moment longer. Another
    /// test may be starting a child process, which has all files of this process until it runs its own program.
    pub fn open(&self) -> Store {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            let store = self.beside();
            if store.access() == Access::Writer {
                return store;
            }
            assert!(Instant::now() < end, "another process holds the store: {:?}", store.access());
            drop(store);
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The store, which another process may be writing.
    pub fn beside(&self) -> Store {
        Store::open(self.folder.path(), OpenMode::WriteOrRead).unwrap()
    }
}

/// Forgets sessions as the engine does.
pub fn forget(
    store: &mut Store,
    what: &Forget,
    now: Timestamp,
    tell: &mut dyn FnMut(Stage),
) -> Result<Removed, StoreError> {
    store.tidy_archive()?;
    let selection = store.select_forgotten(what)?;
    store.remove(&selection, now, tell)
}

/// A session with its transcript.
pub fn session(step: &mut WriteTransaction<'_>, id: &str) -> (SessionKey, FileKey) {
    let session = step.session_key(&SessionId::new(id)).unwrap();
    let path = format!("/home/dev/.claude/projects/-home-dev-app/{id}.jsonl");
    let file = step.file_key(&path, session, None).unwrap();
    (session, file)
}

/// A prompt at byte `offset`, `offset` milliseconds after the epoch.
pub fn prompt(offset: u64, text: &str) -> Text<'_> {
    let at = Some(Timestamp::from_millis(i64::try_from(offset).unwrap()));
    let role = Role::Prompt;
    Text { offset, part: 0, record: None, at, role, tool: None, agent: None, copied: false, text, cut: 0 }
}

/// The folder for a process that [`child`] started. In any other run there is none, and the child's test does
/// nothing.
pub fn child_folder() -> Option<PathBuf> {
    std::env::var_os("STORE_TEST_FOLDER").map(PathBuf::from)
}

/// A process that runs one test of this program.
pub fn child(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture"]);
    command
}
