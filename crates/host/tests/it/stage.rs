//! A data folder with sessions, and a reader that keeps what it was told.

use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use watchbill_drive::client::{self, HostError};
use watchbill_drive::folder::Folder;
use watchbill_drive::{replay, start};
use watchbill_protocol::own::command::OwnCommand;
use watchbill_protocol::own::event::{OwnEvent, OwnWhat};
use watchbill_protocol::own::host::HostMessage;
use watchbill_protocol::own::spec::{OwnAgent, OwnKind, OwnSize, OwnSpec};

/// Longer than anything takes on a busy machine. Nothing waits so long that works.
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// A data folder. Its sessions end with it.
pub struct Stage {
    data: tempfile::TempDir,
    lock: Option<std::fs::File>,
}

/// A new id, as the window makes one.
pub fn new_id() -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    format!(
        "00000000-0000-4000-8000-{:08x}{:04x}",
        std::process::id(),
        NUMBER.fetch_add(1, Ordering::Relaxed)
    )
}

/// Waits until something is the case.
pub fn wait_until(what: &str, mut is: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is() {
        assert!(begun.elapsed() < TIMEOUT, "it did not come: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Whether a process lives. One that has ended and was not taken note of does not.
pub fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().and_then(|rest| rest.trim().chars().next()).is_some_and(|state| state != 'Z')
}

impl Stage {
    /// This process holds the lock and listens at the socket as an engine does, so hosts take its answers and keys.
    pub fn new() -> Self {
        let mut stage = Self::without_engine();
        let lock = std::fs::File::create(stage.data().join("writer.lock")).unwrap();
        lock.try_lock().unwrap();
        stage.lock = Some(lock);
        let run = stage.data().join("run");
        std::fs::DirBuilder::new().mode(0o700).create(&run).unwrap();
        let engine = UnixListener::bind(run.join("engine.sock")).unwrap();
        std::thread::spawn(move || engine.incoming().for_each(drop));
        stage
    }

    pub fn without_engine() -> Self {
        Self { data: tempfile::tempdir().unwrap(), lock: None }
    }

    pub fn data(&self) -> &Path {
        self.data.path()
    }

    pub fn program() -> PathBuf {
        env!("CARGO_BIN_EXE_watchbill-host").into()
    }

    /// What a session runs.
    pub fn spec(&self, agent: OwnAgent, kind: OwnKind, command: &[&str]) -> OwnSpec {
        OwnSpec {
            session: new_id(),
            agent,
            kind,
            cwd: self.data().display().to_string(),
            model: None,
            mode: None,
            resume: None,
            command: command.iter().map(|word| (*word).to_owned()).collect(),
            size: Some(OwnSize { rows: 24, cols: 80 }),
            created_at: "2026-11-25T04:00:00.000Z".to_owned(),
            root: None,
            switched: None,
            started_by_agent: false,
        }
    }

    /// A shell command in a terminal.
    pub fn shell(&self, script: &str) -> Session {
        let spec = self.spec(OwnAgent::Shell, OwnKind::Pty, &["/bin/bash", "--norc", "-c", script]);
        self.start(&spec)
    }

    pub fn start(&self, spec: &OwnSpec) -> Session {
        Session { folder: start::start(self.data(), &Self::program(), spec).unwrap() }
    }

    pub fn resume(&self, session: &str) -> Session {
        Session { folder: start::resume(self.data(), &Self::program(), session).unwrap() }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        for folder in Folder::all(self.data()) {
            let _ = client::send(&folder, &new_id(), &OwnCommand::Stop);
            let begun = Instant::now();
            while client::HostClient::connect(&folder).is_ok() && begun.elapsed() < TIMEOUT {
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    }
}

/// A session whose host was started.
pub struct Session {
    pub folder: Folder,
}

impl Session {
    pub fn send(&self, command: &OwnCommand) -> Result<(), HostError> {
        client::send(&self.folder, &new_id(), command)
    }

    pub fn paste(&self, text: &str) {
        self.send(&OwnCommand::Paste { text: text.to_owned(), enter: true }).unwrap();
    }

    pub fn type_bytes(&self, bytes: &[u8]) {
        self.send(&OwnCommand::Type { bytes: STANDARD.encode(bytes) }).unwrap();
    }

    pub fn attach(&self) -> Attached {
        self.attach_from(0)
    }

    pub fn attach_from(&self, from: u64) -> Attached {
        let (sender, messages) = channel();
        let folder = self.folder.clone();
        std::thread::spawn(move || {
            client::follow(&folder, from, &mut |message| sender.send(message).is_ok())
        });
        Attached {
            messages,
            events: Vec::new(),
            view: vt100::Parser::default(),
            caught_up: false,
            screens: 0,
        }
    }

    /// The events that the log gives.
    pub fn log(&self) -> Vec<OwnEvent> {
        let mut all = Vec::new();
        replay::read(&self.folder, &self.folder.spec().unwrap(), 0, &mut |events| {
            all.extend(events);
            true
        })
        .unwrap();
        all
    }

    /// Waits until the host has ended.
    pub fn wait_for_end(&self) {
        let lock = std::fs::File::open(self.folder.lock()).unwrap();
        wait_until("the end of the host", || lock.try_lock().is_ok());
    }

    /// The process id of the host.
    pub fn host(&self) -> u32 {
        client::HostClient::connect(&self.folder).unwrap().hello().pid
    }
}

/// What a reader was told.
pub struct Attached {
    messages: Receiver<HostMessage>,
    pub events: Vec<OwnEvent>,
    /// What a view shows. It answers nothing.
    pub view: vt100::Parser,
    pub caught_up: bool,
    pub screens: u32,
}

impl Attached {
    /// Takes the next message; `false` at the end.
    pub fn next(&mut self) -> bool {
        let Ok(message) = self.messages.recv_timeout(TIMEOUT) else { return false };
        match message {
            HostMessage::Events { events } => self.events.extend(events),
            HostMessage::Screen { bytes, size } => {
                self.screens += 1;
                let cells = |count| std::num::NonZeroU16::new(count).unwrap();
                self.view = vt100::Parser::new(cells(size.rows), cells(size.cols), 20_000);
                self.view.process(&STANDARD.decode(bytes).unwrap());
            }
            HostMessage::Output { bytes } => self.view.process(&STANDARD.decode(bytes).unwrap()),
            HostMessage::CaughtUp => self.caught_up = true,
        }
        true
    }

    /// Takes messages until something is the case.
    pub fn until(&mut self, what: &str, mut is: impl FnMut(&Self) -> bool) -> &mut Self {
        while !is(self) {
            assert!(
                self.next(),
                "it did not come: {what}; there is {:?}, and on screen:\n{}",
                self.events,
                self.shown()
            );
        }
        self
    }

    pub fn until_event(&mut self, what: &str, is: impl Fn(&OwnWhat) -> bool) -> OwnWhat {
        self.until(what, |told| told.events.iter().any(|event| is(&event.what)));
        self.events.iter().find(|event| is(&event.what)).unwrap().what.clone()
    }

    pub fn until_shown(&mut self, text: &str) -> &mut Self {
        self.until(text, |told| told.shown().contains(text))
    }

    pub fn until_end(&mut self) -> OwnWhat {
        self.until_event("the end", |what| matches!(what, OwnWhat::SessionEnded { .. }))
    }

    /// How often it was told that the session has ended.
    pub fn ends(&self) -> usize {
        self.events.iter().filter(|event| matches!(event.what, OwnWhat::SessionEnded { .. })).count()
    }

    pub fn shown(&self) -> String {
        self.view.screen().contents()
    }
}
