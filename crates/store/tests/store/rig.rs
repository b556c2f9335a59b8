//! What every test needs: a folder, a store in it, a file with texts.

use std::process::Command;

use tempfile::TempDir;
use watchbill_core::history::rows::{Role, Text};
use watchbill_core::ids::SessionId;
use watchbill_core::time::Timestamp;
use watchbill_store::{FileKey, Mode, SessionKey, Step, Store};

pub struct Rig {
    pub folder: TempDir,
}

impl Rig {
    pub fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    pub fn open(&self) -> Store {
        Store::open(self.folder.path(), Mode::WriteOrRead).unwrap()
    }
}

/// A session with its transcript.
pub fn session(step: &mut Step<'_>, id: &str) -> (SessionKey, FileKey) {
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

/// A process that runs one ignored test of this program.
pub fn child(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--ignored", "--nocapture"]);
    command
}
