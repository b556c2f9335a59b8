//! The loop of a host: everything that happens to a session passes here, in one order, and is in the log before it has effects.

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use watchbill_core::time::Timestamp;
use watchbill_drive::folder::Folder;
use watchbill_drive::log::{Direction, LogWriter};
use watchbill_drive::replay::{Replay, numbered};
use watchbill_drive::summary::OwnSummary;
use watchbill_drive::transcript::TranscriptWriter;
use watchbill_protocol::own::event::OwnWhat;
use watchbill_protocol::own::host::HostMessage;
use watchbill_protocol::own::spec::OwnSpec;

use crate::agent::Agent;
use crate::answered::Answered;
use crate::input::{Call, Input};
use crate::mailbox::Mailbox;
use crate::prompt_queue::{Act, PromptQueue};
use crate::readers::{Readers, message};
use crate::screen::Screen;
use crate::shutdown_plan::ShutdownPlan;
use crate::work::Work;

/// How long a log that cannot be written (a full disk) holds everything up before the session is ended.
const LOG_TIMEOUT: Duration = Duration::from_secs(30);

/// How often an end looks at the processes.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// A session that this process keeps.
pub struct Session {
    pub(super) folder: Folder,
    pub(super) spec: OwnSpec,
    pub(super) log: LogWriter,
    pub(super) transcript: Option<TranscriptWriter>,
    pub(super) replay: Replay,
    pub(super) summary: OwnSummary,
    pub(super) queue: PromptQueue,
    pub(super) agent: Option<Agent>,
    /// The screen of a terminal.
    pub(super) screen: Option<Screen>,
    readers: Readers,
    pub(super) work: Work,
    /// For the threads of the agent.
    pub(super) inputs: SyncSender<Input>,
    began: Instant,
    pub(super) state: State,
    /// The number of the next record, for hellos.
    next: Arc<AtomicU64>,
    pub(super) answered: Answered,
}

/// Where the session is.
#[derive(Default)]
pub(super) struct State {
    /// A turn runs.
    pub turn: bool,
    /// The agent has said that it is ready.
    pub ready: bool,
    /// When the turn that runs was interrupted, in the time of the loop.
    pub interrupted: Option<Duration>,
    /// When a queue goes on that is held until a time, since the start of the machine.
    pub go_on_at: Option<Duration>,
    /// Outputs of the agent that are still open.
    pub outputs: u32,
    /// How the agent ended.
    pub exit: Option<Exit>,
    /// The end is under way.
    pub ending: Option<ShutdownPlan>,
    /// A reader, or the system, asked for the end.
    pub asked: bool,
    /// The last lines of standard error.
    pub words: VecDeque<String>,
    /// How often the agent was started again, because it would not take the conversation as it was started with it.
    pub started_over: u8,
    /// The last event was sent.
    pub is_over: bool,
    /// What the user was told to be cut.
    pub told_cuts: Vec<&'static str>,
}

/// How the agent ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Exit {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    /// When, in the time of the loop.
    pub at: Duration,
}

impl Session {
    /// Takes up the session of a folder, also one that an earlier host left.
    ///
    /// # Errors
    /// When its files cannot be read or written.
    pub fn open(folder: Folder, spec: OwnSpec, inputs: SyncSender<Input>) -> io::Result<Self> {
        let log = LogWriter::open(&folder.log())?;
        let next = Arc::new(AtomicU64::new(log.next()));
        let (replay, summary) = (Replay::new(&spec), OwnSummary::new(&spec));
        // What an earlier host kept is about to be old.
        let _ = std::fs::remove_file(folder.summary());
        let transcript = TranscriptWriter::open(&folder, &spec).unwrap_or_else(|error| {
            tracing::warn!(%error, "no transcript is written");
            None
        });
        let work = Work::new(folder.clone(), &spec.session);
        let mut session = Self {
            folder,
            spec,
            log,
            transcript,
            replay,
            summary,
            queue: PromptQueue::default(),
            agent: None,
            screen: None,
            readers: Readers::default(),
            work,
            inputs,
            began: Instant::now(),
            state: State::default(),
            next,
            answered: Answered::default(),
        };
        session.recall()?;
        Ok(session)
    }

    /// The number of the next record, as it grows.
    pub fn next(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.next)
    }

    /// Runs until the session has ended.
    pub fn run(&mut self, inputs: &Receiver<Input>) {
        self.begin();
        while !self.state.is_over {
            self.settle();
            if self.state.is_over {
                break;
            }
            let input = match self.wait() {
                Some(wait) => inputs.recv_timeout(wait),
                None => inputs.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match input {
                Ok(input) => self.take(input),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.readers.close();
    }

    /// How long the loop may sleep. An end, the moment after the agent's exit, work, an interrupt, and a queue that goes on at a time
    /// limit it.
    fn wait(&self) -> Option<Duration> {
        let timed = self.state.ending.is_some() || (self.state.exit.is_some() && !self.output_is_whole());
        if timed {
            return Some(CHECK_INTERVAL);
        }
        [self.work.next_look(self.now()), self.reaction_due(), self.queue_due()].into_iter().flatten().min()
    }

    /// The time of the loop.
    pub(super) fn now(&self) -> Duration {
        self.began.elapsed()
    }

    fn take(&mut self, input: Input) {
        match input {
            Input::Line { direction, bytes, is_cut, share: _share } => {
                if direction == Direction::Err {
                    self.keep_words(&bytes);
                }
                self.append(direction, &bytes);
                if is_cut {
                    self.tell_cut(match direction {
                        Direction::Err => {
                            "a line of more than 64 KiB on the agent's standard error was cut: its end is missing"
                        }
                        _ => "a line of the agent of more than 256 KiB was cut: the ends of long texts in it are missing",
                    });
                }
            }
            Input::Output(bytes, _share) => {
                self.work.goes_on();
                if let Some(screen) = &mut self.screen {
                    let cut = screen.take(&bytes, self.agent.as_ref(), &self.readers);
                    cut.into_iter().for_each(|what| self.tell_cut(what));
                }
            }
            Input::Closed => self.state.outputs = self.state.outputs.saturating_sub(1),
            Input::Call(Call { id, command, line, reply }) => {
                let answer = self.command(&id, &command, &line);
                // The reader may be gone.
                let _ = reply.send(answer);
            }
            Input::Attach { mailbox, reply } => {
                let _ = reply.send(self.log.next());
                self.greet(&mailbox);
                self.readers.add(mailbox);
            }
            Input::Redraw(mailbox) => {
                self.send_screen(&mailbox);
                self.readers.stay_small();
            }
            Input::Children => self.reap(),
            Input::Terminate => self.end(Some("the system ended the host of the session")),
            Input::FolderGone => {
                let why = format!(
                    "the folder {} was removed, so no command reaches it",
                    self.folder.path().display()
                );
                self.event(&OwnWhat::Error { text: why.clone(), cause: "command".to_owned(), record: None });
                self.end(Some(&why));
            }
        }
    }

    /// Says, once for each kind, that something was left out so that the host stays small.
    pub(super) fn tell_cut(&mut self, what: &'static str) {
        if !self.state.told_cuts.contains(&what) {
            self.state.told_cuts.push(what);
            self.event(&OwnWhat::Error { text: what.to_owned(), cause: "protocol".to_owned(), record: None });
        }
    }

    /// The screen for a new reader, sent after the log and before new output.
    fn greet(&mut self, mailbox: &Mailbox) {
        self.send_screen(mailbox);
        if let Some(message) = message(HostMessage::CaughtUp) {
            mailbox.send(&message);
        }
    }

    fn send_screen(&mut self, mailbox: &Mailbox) {
        let cut = self.screen.as_mut().and_then(|screen| screen.send_to(mailbox));
        cut.into_iter().for_each(|what| self.tell_cut(what));
    }

    fn keep_words(&mut self, bytes: &[u8]) {
        let line: String = String::from_utf8_lossy(bytes).chars().take(400).collect();
        if self.state.words.len() == 5 {
            self.state.words.pop_front();
        }
        self.state.words.push_back(line);
    }

    /// Writes a record, folds it, and tells its events.
    pub(super) fn append(&mut self, direction: Direction, bytes: &[u8]) {
        let at = wall_clock();
        let Some(n) = self.write(at, direction, bytes) else { return };
        let events = self.replay.fold(at, direction, bytes);
        self.transcribe(n, at, &events);
        if events.is_empty() {
            return;
        }
        let mut acts = Vec::new();
        for event in &events {
            self.note(at, event);
            acts.extend(self.queue.note(event));
        }
        self.readers.tell(numbered(n, at, events));
        self.act(acts);
    }

    pub(super) fn transcribe(&mut self, n: u64, at: Timestamp, events: &[OwnWhat]) {
        if let Some(transcript) = &mut self.transcript {
            transcript.take(n, at, events);
        }
    }

    /// Writes a record. While the disk is full, everything waits: nothing that was received is lost. `None`: it cannot be
    /// written, and the session is over.
    fn write(&mut self, at: Timestamp, direction: Direction, bytes: &[u8]) -> Option<u64> {
        let begun = Instant::now();
        loop {
            let error = match self.log.append(at, direction, bytes) {
                Ok(n) => {
                    self.next.store(n + 1, Ordering::Release);
                    return Some(n);
                }
                Err(error) => error,
            };
            if begun.elapsed() > LOG_TIMEOUT {
                tracing::error!(%error, file = %self.folder.log().display(), "the log cannot be written");
                self.give_up();
                return None;
            }
            std::thread::sleep(Duration::from_millis(500));
        }
    }

    /// Waits until the log is on the disk: for what the user did.
    pub(super) fn sync(&self) {
        if let Err(error) = self.log.sync() {
            tracing::warn!(%error, "the disk does not take the log");
        }
    }

    /// Writes and tells an event of the host itself.
    pub(super) fn event(&mut self, what: &OwnWhat) {
        match serde_json::to_vec(what) {
            Ok(bytes) => self.append(Direction::Event, &bytes),
            Err(error) => tracing::error!(%error, "an event has no form"),
        }
    }

    pub(super) fn note(&mut self, at: Timestamp, event: &OwnWhat) {
        self.summary.take(at, event);
        match event {
            OwnWhat::TurnStart => {
                self.state.turn = true;
                self.work.goes_on();
            }
            OwnWhat::TurnEnd { .. } => (self.state.turn, self.state.interrupted) = (false, None),
            OwnWhat::Init { .. } => self.state.ready = true,
            OwnWhat::Error { text, cause, .. } if matches!(&**cause, "start" | "login") => {
                self.not_started(text)
            }
            _ => {}
        }
    }

    /// Carries out what the queue wants.
    pub(super) fn act(&mut self, acts: Vec<Act>) {
        for act in acts {
            match act {
                Act::Tell(what) => self.event(&what),
                Act::Interrupt => self.interrupt(),
                Act::Hand(command) => self.hand(command),
            }
        }
    }

    /// The working folder.
    pub(super) fn cwd(&self) -> &Path {
        Path::new(&self.spec.cwd)
    }
}

/// The time for records.
pub(super) fn wall_clock() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
