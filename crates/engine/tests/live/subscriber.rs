//! A client's folder, an engine that watches it, and a subscriber.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use watchbill_core::time::{Millis, Timestamp};
use watchbill_engine::clock::{Clock, SystemClock};
use watchbill_engine::handle::{Handle, start};
use watchbill_engine::model::publish::Subscription;
use watchbill_protocol::roster::{RosterMessage, RosterSnapshot, TrackedSession};
use watchbill_settings::Settings;

use crate::records::SessionWriter;

/// Longer than any step takes on a busy machine; a passing test never waits that long.
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// The client's folder in a temporary one.
pub struct Folder {
    _dir: tempfile::TempDir,
    pub root: PathBuf,
}

impl Folder {
    /// With `projects/` and `sessions/`, as the client makes them.
    pub fn new() -> Self {
        let folder = Self::missing();
        std::fs::create_dir_all(folder.root.join("projects/p")).unwrap();
        std::fs::create_dir_all(folder.root.join("sessions")).unwrap();
        folder
    }

    /// A root that does not exist yet.
    pub fn missing() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join("home/.claude");
        Self { _dir: dir, root }
    }

    pub fn settings(&self) -> Settings {
        Settings::for_roots(vec![self.root.clone()])
    }

    pub fn transcript(&self, project: &str, session: &str) -> PathBuf {
        self.root.join(format!("projects/{project}/{session}.jsonl"))
    }

    /// Appends to a transcript of project `p`.
    pub fn append(&self, author: &SessionWriter, text: &str) {
        append(&self.transcript("p", &author.session), text);
    }

    pub fn author(&self, n: usize) -> SessionWriter {
        // A working folder that exists, since its `.claude` is watched.
        SessionWriter::new(
            &crate::records::session(n),
            self.root.parent().unwrap().parent().unwrap().to_str().unwrap(),
        )
    }
}

pub fn append(path: &Path, text: &str) {
    use std::io::Write;
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

pub fn now() -> Timestamp {
    SystemClock.now()
}

/// An engine and a copy of its roster, kept by deltas.
pub struct Subscriber {
    pub handle: Handle,
    messages: Receiver<RosterMessage>,
    pub copy: RosterSnapshot,
}

impl Subscriber {
    pub fn on(settings: Settings) -> Self {
        Self::of(start(settings).unwrap())
    }

    /// Another subscriber of a running engine; waits for the end of the first scan.
    pub fn of(handle: Handle) -> Self {
        let mut subscriber = Self::from_the_first(handle);
        subscriber.until("the first scan to end", |copy| !copy.reading);
        subscriber
    }

    /// The same, without the wait for the first scan.
    pub fn from_the_first(handle: Handle) -> Self {
        let (sender, messages) = channel();
        let wants = Subscription { all: true, pause: Millis(0), wait_for_recent: true, first: None };
        handle.subscribe(wants, Box::new(move |message| sender.send(message).is_ok()));
        let Ok(RosterMessage::Snapshot(copy)) = messages.recv_timeout(TIMEOUT) else {
            panic!("the first message is the snapshot")
        };
        Self { handle, messages, copy }
    }

    /// Applies messages until the copy is as wanted.
    pub fn until(&mut self, what: &str, wanted: impl Fn(&RosterSnapshot) -> bool) {
        let end = Instant::now() + TIMEOUT;
        while !wanted(&self.copy) {
            match self.messages.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(RosterMessage::Delta(delta)) => self.apply(delta),
                Ok(RosterMessage::Snapshot(snapshot)) => self.copy = snapshot,
                Ok(RosterMessage::Select { .. } | RosterMessage::Stopped) => {}
                Err(_) => panic!("waited in vain for {what}; there is {:#?}", self.copy),
            }
        }
    }

    /// Applies the next message, if one comes within this time.
    pub fn add_hook_event(&mut self, at_most: Duration) {
        match self.messages.recv_timeout(at_most) {
            Ok(RosterMessage::Delta(delta)) => self.apply(delta),
            Ok(RosterMessage::Snapshot(snapshot)) => self.copy = snapshot,
            Ok(RosterMessage::Select { .. } | RosterMessage::Stopped) | Err(_) => {}
        }
    }

    fn apply(&mut self, delta: watchbill_protocol::roster::RosterDelta) {
        assert_eq!(delta.base, self.copy.revision, "no delta is missing");
        let upserts = &delta.upserts;
        let touched =
            |id: &String| delta.removals.contains(id) || upserts.iter().any(|u| u.session.session_id == *id);
        self.copy.sessions.retain(|row| !touched(&row.session_id));
        for upsert in delta.upserts {
            self.copy.sessions.insert(upsert.index as usize, upsert.session);
        }
        self.copy.problems = delta.problems.unwrap_or(std::mem::take(&mut self.copy.problems));
        (self.copy.revision, self.copy.reading) = (delta.revision, delta.reading);
    }

    /// Waits until a session is in a state.
    pub fn until_state(&mut self, author: &SessionWriter, state: &str) {
        let what = format!("{} to be {state}", author.session);
        self.until(&what, |copy| row(copy, author).is_some_and(|row| row.state == state));
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        self.handle.stop();
    }
}

pub fn row<'a>(copy: &'a RosterSnapshot, author: &SessionWriter) -> Option<&'a TrackedSession> {
    copy.sessions.iter().find(|row| row.session_id == author.session)
}
