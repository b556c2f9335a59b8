//! The listening end: one thread accepts, each connection has one thread, and each subscription has one more.
//!
//! All of them sleep until a client sends a request or the engine has news.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use watchbill_core::requests::request::RequestId;
use watchbill_platform::socket::{
    Address, Listener, ListenerExt as _, Reader, SocketIdentity, Stream, Writer, halves, is_ours,
};
use watchbill_protocol::api::ApiRequest;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::roster::RosterMessage;
use watchbill_protocol::socket::{AskCall, Hello, MAX_CALL_BYTES, Reply, ReplyBody, SocketCall, VERSION};

use super::access::{AccessError, CommandId};
use super::address_of;
use super::ask::{Asking, note_refused, own, sink};
use super::mailbox::{self, Closed, Closer, mailbox};
use super::unreadable_call::{id_of, unknown_request};
use crate::handle::Handle;
use crate::model::publish::Subscription;
use crate::router::Router;
use crate::router::access::{Face, may};
use crate::world::counter::Counter;

/// Limit of open connections, more than one user's programs need.
const MAX_CONNECTIONS: usize = 256;

/// Limit of subscriptions per connection, more than one program needs. Each has a thread and a mailbox.
const MAX_SUBSCRIPTIONS: usize = 8;

/// Listens until it is dropped. Dropping it closes every connection.
pub struct Server {
    address: Address,
    mark: SocketIdentity,
    listener: Arc<Listener>,
    shared: Arc<Shared>,
    accepts: Option<std::thread::JoinHandle<()>>,
}

/// The state that all threads of the server share.
struct Shared {
    handle: Handle,
    is_closing: AtomicBool,
    connections: Counter,
    /// Clients that keep their own roster; they get an event after each stored command.
    followers: Mutex<Vec<mailbox::Sender<()>>>,
    asking: Asking,
    /// The open connections' writers. The server closes them when it ends.
    writers: Mutex<Vec<Writer>>,
}

impl Server {
    /// Listens at the data folder's socket, for an engine that holds the store there. `handle` must not keep that
    /// engine running.
    ///
    /// # Errors
    /// When the socket cannot be made, or the system gives no thread.
    pub fn start(data_dir: &Path, handle: Handle) -> io::Result<Self> {
        let address = address_of(data_dir);
        let (listener, mark) = address.listen()?;
        let listener = Arc::new(listener);
        let shared = Arc::new(Shared {
            handle,
            is_closing: AtomicBool::new(false),
            connections: Counter::default(),
            followers: Mutex::default(),
            asking: Asking::default(),
            writers: Mutex::default(),
        });
        let (accepting, listens) = (Arc::clone(&shared), Arc::clone(&listener));
        let accepts = std::thread::Builder::new()
            .name("watchbill-socket".into())
            .spawn(move || accept(&listens, &accepting))?;
        Ok(Self { address, mark, listener, shared, accepts: Some(accepts) })
    }

    /// Wakes the accepting thread. Says whether that worked.
    fn wake(&self) -> bool {
        #[cfg(target_os = "linux")]
        {
            use std::os::fd::AsFd;
            let Listener::UdSocket(listener) = &*self.listener;
            rustix::net::shutdown(listener.as_fd(), rustix::net::Shutdown::Both).is_ok()
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = &self.listener;
            self.address.connect().is_ok()
        }
    }

    /// Tells every follower that a user command was stored.
    pub fn command_stored(&self) {
        lock(&self.shared.followers).retain(|follower| follower.send(()));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.is_closing.store(true, Ordering::Release);
        let woken = self.wake();
        if let Err(error) = self.address.remove(&self.mark) {
            tracing::debug!(%error, "the socket stays behind");
        }
        if let Some(accepts) = self.accepts.take().filter(|_| woken) {
            // The thread's code does not panic. If it did, the thread is gone as well.
            let _ = accepts.join();
        }
        lock(&self.shared.followers).clear();
        lock(&self.shared.writers).drain(..).for_each(|writer| writer.close());
    }
}

fn lock<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // No code panics while it holds such a lock.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn accept(listener: &Listener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.is_closing.load(Ordering::Acquire) {
            return;
        }
        match stream {
            Ok(stream) if is_ours(&stream) => begin(stream, shared),
            Ok(_) => tracing::warn!("a program of another user was refused at the socket"),
            Err(error) => {
                tracing::debug!(%error, "a connection could not be accepted");
                // Without a free descriptor, the next attempt would fail at once too.
                std::thread::sleep(std::time::Duration::from_millis(50));
            }
        }
    }
}

/// Serves a connection on its own thread.
fn begin(stream: Stream, shared: &Arc<Shared>) {
    let Some(counted) = shared.connections.count(MAX_CONNECTIONS) else {
        tracing::warn!("{MAX_CONNECTIONS} connections are open at the socket; one more is refused");
        return;
    };
    let serving = Arc::clone(shared);
    let spawned = std::thread::Builder::new().name("watchbill-connection".into()).spawn(move || {
        let _counted = counted;
        let mut connection = Connection::new(stream, &serving);
        if let Err(error) = connection.serve() {
            tracing::debug!(%error, "a connection has ended");
        }
    });
    if let Err(error) = spawned {
        tracing::warn!(%error, "no thread for a connection");
    }
}

/// One connection.
struct Connection<'s> {
    reader: Reader,
    writer: Writer,
    shared: &'s Arc<Shared>,
    /// Callbacks that end its subscriptions.
    closers: Vec<Box<dyn FnOnce() + Send>>,
    /// The request that the hook process at the other end has asked.
    asked: Option<RequestId>,
}

impl Drop for Connection<'_> {
    fn drop(&mut self) {
        self.closers.drain(..).for_each(|close| close());
        self.writer.close();
        let writer = &self.writer;
        lock(&self.shared.writers).retain(|other| !other.is_of(writer));
    }
}

impl<'s> Connection<'s> {
    fn new(stream: Stream, shared: &'s Arc<Shared>) -> Self {
        let (reader, writer) = halves(stream);
        lock(&shared.writers).push(writer.clone());
        Self { reader, writer, shared, closers: Vec::new(), asked: None }
    }

    /// Answers requests until the client closes the connection or the engine ends.
    fn serve(&mut self) -> io::Result<()> {
        let handle = &self.shared.handle;
        self.writer.send(&Hello {
            protocol: VERSION,
            watchbill: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            view: handle.settings().view(),
            window: handle.has_window(),
        })?;
        while !self.shared.is_closing.load(Ordering::Acquire) {
            let Some(line) = self.reader.line(MAX_CALL_BYTES)? else { return Ok(()) };
            match serde_json::from_slice::<SocketCall>(line) {
                Ok(call) => self.answer(call)?,
                Err(error) => {
                    let id = id_of(line);
                    self.error(&id, &unknown_request(&error))?;
                }
            }
        }
        Ok(())
    }

    fn answer(&mut self, SocketCall { id, request }: SocketCall) -> io::Result<()> {
        let Some(command_id) = CommandId::of_client(&id) else {
            return self
                .error("", &ApiError::new(ErrorCode::Invalid, "the id of a request has 1 to 64 bytes"));
        };
        let engine = self.shared.handle.clone();
        let face = Face::Socket { stream: self.reader.stream(), call: &command_id };
        if let Err(error) = may(&face, request.right()) {
            return self.error(&id, &error);
        }
        match request {
            ApiRequest::Subscribe { all } => self.subscribe(&id, all),
            ApiRequest::FollowCommands => self.follow_commands(&id),
            ApiRequest::Index => {
                let writer = &self.writer;
                let mut progress =
                    |progress| writer.send(&Reply { id: &id, body: ReplyBody::Event(&progress) }).is_ok();
                let report = engine.index(&mut progress);
                self.reply(&id, report)
            }
            ApiRequest::Ask(call) => self.ask(&id, call),
            ApiRequest::Printed { request_id } => {
                let told = own(self.asked.as_ref(), &request_id).map(|request| engine.printed(request));
                self.reply(&id, told.map_err(AccessError::from))
            }
            ApiRequest::Refused { session, what, why } => {
                let noted = note_refused(&engine, self.reader.stream(), &session, &what, &why);
                self.reply(&id, noted.map_err(AccessError::from))
            }
            request => {
                let wanted = Arc::new(self.writer.other_end());
                self.reply(&id, Router::new(engine, None).answer(&face, request, wanted))
            }
        }
    }

    fn reply<T: Serialize>(&self, id: &str, answer: Result<T, AccessError>) -> io::Result<()> {
        match answer {
            Ok(reply) => self.writer.send(&Reply { id, body: ReplyBody::Reply(&reply) }),
            // The client learns this by the end of the connection.
            Err(AccessError::Refused(error)) if self.shared.handle.stopped()() => {
                Err(io::Error::other(error))
            }
            Err(AccessError::Refused(error)) => self.error(id, &error),
            Err(AccessError::Broken(what)) => Err(io::Error::other(what)),
        }
    }

    fn error(&self, id: &str, error: &ApiError) -> io::Result<()> {
        self.writer.send(&Reply::<()> { id, body: ReplyBody::Error(error) })
    }

    /// Passes on what a hook process asks. The reply comes when the user has answered, or the request has ended.
    fn ask(&mut self, id: &str, call: AskCall) -> io::Result<()> {
        let shared = Arc::clone(self.shared);
        let (stream, before) = (self.reader.stream(), self.asked.as_ref());
        let (request, message) = match shared.asking.admit(&shared.handle, stream, before, call) {
            Ok(Some(asked)) => asked,
            not => return self.reply(id, not.map(|_| None::<String>).map_err(AccessError::from)),
        };
        let name = self.asked.insert(request.id.clone()).clone();
        shared.handle.ask(request, message, sink(self.writer.clone(), id));
        self.closers.push(Box::new(move || {
            shared.handle.hook_gone(name.clone());
            shared.asking.forget(&name);
        }));
        Ok(())
    }

    /// Sends the roster and its changes, on its own thread.
    fn subscribe(&mut self, id: &str, all: bool) -> io::Result<()> {
        if self.closers.len() >= MAX_SUBSCRIPTIONS {
            return self.error(id, &too_many());
        }
        let (mut receiver, closer) = roster(&self.shared.handle, all);
        let (writer, handle, id) = (self.writer.clone(), self.shared.handle.clone(), id.to_owned());
        let current = Arc::new(Mutex::new(closer));
        let closing = Arc::clone(&current);
        self.closers.push(Box::new(move || lock(&closing).close()));
        self.tell(move || {
            loop {
                match receiver.receive() {
                    Ok(message) => {
                        if writer.send(&Reply { id: &id, body: ReplyBody::Event(&message) }).is_err() {
                            return;
                        }
                    }
                    // The client reads again: it gets a new snapshot.
                    Err(Closed::Overflowed) => {
                        let closer;
                        (receiver, closer) = roster(&handle, all);
                        *lock(&current) = closer;
                    }
                    // The engine or the client has ended. Either ends the connection.
                    Err(Closed::Gone) => return writer.close(),
                }
            }
        })
    }

    /// Sends an event now and after each stored command, on its own thread. A command may have been stored since the client read
    /// the store, and before it is in the list.
    fn follow_commands(&mut self, id: &str) -> io::Result<()> {
        if self.closers.len() >= MAX_SUBSCRIPTIONS {
            return self.error(id, &too_many());
        }
        let (sender, receiver) = mailbox();
        let closer = receiver.closer();
        {
            let mut followers = lock(&self.shared.followers);
            followers.retain(mailbox::Sender::is_open);
            sender.send(());
            followers.push(sender);
        }
        self.closers.push(Box::new(move || closer.close()));
        let (writer, id) = (self.writer.clone(), id.to_owned());
        self.tell(move || {
            // A client that missed some events reads everything at the next one. If its mailbox is full, the client
            // hangs.
            while receiver.receive().is_ok() {
                if writer.send(&Reply { id: &id, body: ReplyBody::Event(&true) }).is_err() {
                    return;
                }
            }
            writer.close();
        })
    }

    fn tell(&self, tell: impl FnOnce() + Send + 'static) -> io::Result<()> {
        std::thread::Builder::new().name("watchbill-subscription".into()).spawn(tell).map(drop)
    }
}

/// A mailbox into which the engine puts the roster and its changes.
fn roster(handle: &Handle, all: bool) -> (mailbox::Receiver<RosterMessage>, Closer<RosterMessage>) {
    let (sender, receiver) = mailbox();
    let closer = receiver.closer();
    let wants = Subscription { all, wait_for_recent: true, ..Subscription::default() };
    handle.subscribe(wants, Box::new(move |message| sender.send(message)));
    (receiver, closer)
}

fn too_many() -> ApiError {
    let message = format!("a connection has at most {MAX_SUBSCRIPTIONS} subscriptions; open another one");
    ApiError::new(ErrorCode::Invalid, message)
}
