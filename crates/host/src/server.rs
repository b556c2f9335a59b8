//! The socket of a host: one thread accepts, each reader has one, and one more while it is attached.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use watchbill_agents::caller::{RunningAgent, check};
use watchbill_drive::folder::Folder;
use watchbill_drive::log::{Direction, LogReader, Record};
use watchbill_drive::replay::{Replay, numbered};
use watchbill_drive::socket::caller;
use watchbill_drive::socket::engine::{has_engine, is_engine, is_engine_or_window, tell_refused};
use watchbill_platform::socket::{
    Listener, ListenerExt as _, Reader, Stream, StreamExt as _, Writer, halves, is_ours,
};
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::own::command::OwnCommand;
use watchbill_protocol::own::event::OwnEvent;
use watchbill_protocol::own::host::{
    HOST_VERSION, HostCall, HostHello, HostMessage, HostRequest, MAX_CALL_ID_BYTES, MAX_HOST_LINE_BYTES,
};
use watchbill_protocol::own::spec::OwnSpec;
use watchbill_protocol::socket::{Reply, ReplyBody};

use crate::input::{Call, Input};
use crate::limits;
use crate::mailbox::{Mailbox, Next};

/// How long a reader may take to send a line, and how long it may stop reading.
const SLOWEST: Duration = Duration::from_secs(30);

/// The state that all connections share.
pub struct Shared {
    /// The folder of the session.
    pub folder: Folder,
    /// Its specification.
    pub spec: OwnSpec,
    /// The loop.
    pub inputs: SyncSender<Input>,
    /// The number of the next record.
    pub next: Arc<AtomicU64>,
    /// Held while a long line of a reader is read and carried out.
    pub long_line: Mutex<()>,
    /// Held while a part of the log is replayed for a reader: one replay at a time.
    pub past: Mutex<()>,
    /// Readers that are attached, and commands without an answer. The host ends when they have everything.
    pub owed: AtomicUsize,
}

impl Shared {
    /// The data folder, which holds the folders of sessions two levels down.
    fn data_dir(&self) -> &Path {
        self.folder.path().ancestors().nth(2).unwrap_or(Path::new("/"))
    }
}

/// Accepts readers on a thread, as long as the process runs.
///
/// # Errors
/// When the system gives no thread.
pub fn serve(listener: Listener, shared: Arc<Shared>) -> io::Result<()> {
    let accept = move || {
        let connections = Arc::new(AtomicUsize::new(0));
        for stream in listener.incoming() {
            let Ok(stream) = stream else {
                // Out of descriptors, most likely. They come back when a reader ends.
                std::thread::sleep(std::time::Duration::from_millis(100));
                continue;
            };
            if !is_ours(&stream) || connections.load(Ordering::Acquire) >= limits::CONNECTIONS {
                continue;
            }
            connections.fetch_add(1, Ordering::AcqRel);
            let (shared, count) = (Arc::clone(&shared), Arc::clone(&connections));
            let run = move || {
                if let Err(error) = Connection::new(stream, shared).serve() {
                    tracing::debug!(%error, "a reader is gone");
                }
                count.fetch_sub(1, Ordering::AcqRel);
            };
            if let Err(error) = thread("reader", run) {
                connections.fetch_sub(1, Ordering::AcqRel);
                tracing::warn!(%error, "the system cannot start a thread for a reader");
            }
        }
    };
    thread("socket", accept)
}

fn thread(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    std::thread::Builder::new().name(name.to_owned()).stack_size(512 << 10).spawn(run).map(drop)
}

/// Something that a reader is still to get.
struct Owed(Arc<Shared>);

impl Owed {
    fn new(shared: &Arc<Shared>) -> Self {
        shared.owed.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(shared))
    }
}

impl Drop for Owed {
    fn drop(&mut self) {
        self.0.owed.fetch_sub(1, Ordering::AcqRel);
    }
}

struct Connection {
    reader: Reader,
    writer: Writer,
    shared: Arc<Shared>,
    mailbox: Option<Arc<Mailbox>>,
    /// Whether this caller may steer, once it was looked at.
    may_steer: Option<Result<(), ApiError>>,
    /// It may do what can answer a dialog. A refusal does not stay: the next key may be a person's.
    may_type: bool,
    /// The refusal that the engine was told last.
    told: Option<String>,
}

impl Connection {
    fn new(stream: Stream, shared: Arc<Shared>) -> Self {
        let (reader, writer) = halves(stream);
        Self { reader, writer, shared, mailbox: None, may_steer: None, may_type: false, told: None }
    }

    /// Answers calls until the reader closes the connection.
    fn serve(&mut self) -> io::Result<()> {
        self.reader.stream().set_send_timeout(Some(SLOWEST))?;
        self.writer.send(&HostHello {
            host_protocol: HOST_VERSION,
            watchbill: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            spec: self.shared.spec.clone(),
            next: self.shared.next.load(Ordering::Acquire),
            picture_files: true,
        })?;
        let served = self.calls();
        if let Some(mailbox) = &self.mailbox {
            mailbox.abandon();
        }
        served
    }

    fn calls(&mut self) -> io::Result<()> {
        let shared = Arc::clone(&self.shared);
        while let Some((line, _alone)) =
            self.reader.gated_line(MAX_HOST_LINE_BYTES, &shared.long_line, SLOWEST)?
        {
            match serde_json::from_slice::<HostCall>(&line) {
                Ok(HostCall { id, .. }) if id.len() > MAX_CALL_ID_BYTES => {
                    self.error("", &ApiError::new(ErrorCode::Invalid, "the id of the request is too long"))?;
                }
                Ok(HostCall { id, request: HostRequest::Attach { from } }) => self.attach(id, from)?,
                Ok(HostCall { id, request: HostRequest::Command { command } }) => {
                    // The command may end the session: the host stays until the answer is written.
                    let _owed = Owed::new(&self.shared);
                    let answer = self.allowed(&command).and_then(|()| {
                        let (reply, answered) = sync_channel(1);
                        let call = Call { id: id.clone(), command, line, reply };
                        let over = || ApiError::new(ErrorCode::NotReady, "the session has ended");
                        self.shared.inputs.send(Input::Call(call)).map_err(|_| over())?;
                        answered.recv().map_err(|_| over())?
                    });
                    match answer {
                        Ok(()) => self.writer.send(&Reply { id: &id, body: ReplyBody::Reply(&()) })?,
                        Err(error) => self.error(&id, &error)?,
                    }
                }
                Err(error) => {
                    let text = format!("this host does not know the request: {error}");
                    self.error("", &ApiError::new(ErrorCode::Invalid, text))?;
                }
            }
        }
        Ok(())
    }

    fn error(&self, id: &str, error: &ApiError) -> io::Result<()> {
        self.writer.send(&Reply::<()> { id, body: ReplyBody::Error(error) })
    }

    /// A program that an agent started cannot steer its own session or another one. While an engine runs, answers come from it
    /// alone: it shows the requests. Without one, an answer needs a person at a terminal. What can also answer, such as a key,
    /// needs a person too: the window, or a terminal.
    fn allowed(&mut self, command: &OwnCommand) -> Result<(), ApiError> {
        let (stream, data) = (self.reader.stream(), self.shared.data_dir());
        let refused = |why: String| ApiError::new(ErrorCode::Refused, why);
        let look = |agents: &[RunningAgent], scripts| {
            check(&caller::look(stream), agents, scripts).map_err(|not| refused(not.to_string()))
        };
        let may_steer = self.may_steer.get_or_insert_with(|| look(&[], true)).clone();
        let allowed = may_steer.and_then(|()| match command {
            OwnCommand::Answer { .. } if is_engine(stream, data) => Ok(()),
            OwnCommand::Answer { .. } if has_engine(data) => Err(refused(
                "Watchbill is running, so answer there: in its window, or with `watchbill answer`".to_owned(),
            )),
            OwnCommand::Answer { .. } => look(&caller::all_agents(), false),
            OwnCommand::SetMode { .. } | OwnCommand::Type { .. } | OwnCommand::Paste { .. } => {
                if !self.may_type && !is_engine_or_window(stream, data) {
                    look(&caller::all_agents(), false)?;
                }
                self.may_type = true;
                Ok(())
            }
            _ => Ok(()),
        });
        if let Err(refusal) = &allowed
            && self.told.as_ref() != Some(&refusal.message)
        {
            self.told = Some(refusal.message.clone());
            let what = if matches!(command, OwnCommand::Answer { .. }) { "answer" } else { "prompt" };
            if let Err(error) = tell_refused(data, &self.shared.spec.session, what, &refusal.message) {
                tracing::debug!(%error, "no engine lists the refusal");
            }
        }
        allowed
    }

    /// Sends all events from a record on, on a thread of its own.
    fn attach(&mut self, id: String, from: u64) -> io::Result<()> {
        if self.mailbox.is_some() {
            return self
                .error(&id, &ApiError::new(ErrorCode::Invalid, "this connection is attached already"));
        }
        let mailbox = Arc::new(Mailbox::new(self.writer.clone()));
        self.mailbox = Some(Arc::clone(&mailbox));
        let following =
            Following { id, writer: self.writer.clone(), mailbox, shared: Arc::clone(&self.shared) };
        let owed = Owed::new(&self.shared);
        thread("attached", move || {
            if let Err(error) = following.run(from) {
                tracing::debug!(%error, "an attached reader is gone");
            }
            following.mailbox.abandon();
            following.writer.close();
            drop(owed);
        })
    }
}

/// An attached reader.
struct Following {
    id: String,
    writer: Writer,
    mailbox: Arc<Mailbox>,
    shared: Arc<Shared>,
}

impl Following {
    fn run(&self, from: u64) -> io::Result<()> {
        if !self.is_caught_up(from)? {
            return Ok(());
        }
        loop {
            match self.mailbox.next() {
                Next::Message(message) => {
                    self.writer.send(&Reply { id: &self.id, body: ReplyBody::Event(&message) })?;
                }
                Next::Redraw => {
                    if self.shared.inputs.send(Input::Redraw(Arc::clone(&self.mailbox))).is_err() {
                        return Ok(());
                    }
                }
                Next::Closed => return Ok(()),
            }
        }
    }

    /// Sends what is past. `false`: nothing comes any more.
    fn is_caught_up(&self, from: u64) -> io::Result<bool> {
        let mut log = LogReader::open(&self.shared.folder.log())?;
        let mut replay = Replay::new(&self.shared.spec);
        // Most of it before the loop knows of this reader, so that little has to wait in its mailbox.
        self.past(&mut log, &mut replay, from, u64::MAX)?;
        let (reply, next) = sync_channel(1);
        let attach = Input::Attach { mailbox: Arc::clone(&self.mailbox), reply };
        let sent = self.shared.inputs.send(attach).is_ok();
        let Some(upto) = next.recv().ok().filter(|_| sent) else {
            // The loop has ended: all that will ever be is in the log.
            self.past(&mut log, &mut replay, from, u64::MAX)?;
            return Ok(false);
        };
        self.past(&mut log, &mut replay, from, upto)?;
        Ok(true)
    }

    /// Sends the events of the log's records up to, and without, the record `upto`.
    fn past(&self, log: &mut LogReader, replay: &mut Replay, from: u64, upto: u64) -> io::Result<()> {
        // A reader that only asks whether the session runs begins behind the last record.
        while from < self.shared.next.load(Ordering::Acquire) {
            let events = self.batch(log, replay, from, upto)?;
            if events.is_empty() {
                break;
            }
            self.send(events)?;
        }
        Ok(())
    }

    /// The next events of what is past; empty at its end. One reader at a time folds, so that all of them together stay small. It sends
    /// without the lock: a slow reader delays no other one.
    fn batch(
        &self,
        log: &mut LogReader,
        replay: &mut Replay,
        from: u64,
        upto: u64,
    ) -> io::Result<Vec<OwnEvent>> {
        let _alone = self.shared.past.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut events, mut size) = (Vec::new(), 0);
        while log.number() < upto && events.len() < limits::BATCH && size < limits::BATCH_BYTES {
            let Some(Record { n, at, direction, bytes }) = log.next(|kind| kind != Direction::Command)?
            else {
                break;
            };
            let what = replay.fold(at, direction, &bytes);
            if n >= from && !what.is_empty() {
                size += bytes.len();
                events.extend(numbered(n, at, what));
            }
        }
        Ok(events)
    }

    fn send(&self, events: Vec<OwnEvent>) -> io::Result<()> {
        let message = HostMessage::Events { events };
        self.writer.send(&Reply { id: &self.id, body: ReplyBody::Event(&message) })
    }
}
