//! Follows the servers of agents that tell the states of their sessions: a thread for each, while it answers.
//!
//! Without such an agent's folder, there is no thread and no watch. Nothing polls: a change in the folder of the socket or of the
//! locks is the reason to connect.

use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedSender, WeakUnboundedSender};
use watchbill_agents::Root;
use watchbill_agents::traits::{ServerSaid, StatusServer};
use watchbill_platform::socket::SharedStream;
use watchbill_watch::fs::{FileKind, Fs};
use watchbill_watch::hints::Hint;
use watchbill_watch::messages::Messages;

use crate::run::message::Message;
use crate::step::input::{ServerNews, ServerWord};
use crate::world::source::{HintSource, take_out};

/// The pauses before the tries that follow a reason to connect. A socket is there a moment before its server answers.
const PAUSES: [Duration; 4] =
    [Duration::ZERO, Duration::from_millis(200), Duration::from_secs(1), Duration::from_secs(5)];

/// All servers.
pub(crate) struct StatusServers {
    servers: Vec<Server>,
    fs: Arc<dyn Fs>,
    inbox: WeakUnboundedSender<Message>,
}

struct Server {
    root: Root,
    /// The folder of the socket.
    folder: PathBuf,
    socket: PathBuf,
    shared: Arc<Shared>,
}

struct Shared {
    link: Mutex<Link>,
    tell: Box<dyn Fn(ServerWord) -> bool + Send + Sync>,
}

#[derive(Default)]
struct Link {
    /// A thread connects or is connected.
    busy: bool,
    /// There was another reason to connect meanwhile.
    again: bool,
    connection: Option<SharedStream>,
    over: bool,
}

impl StatusServers {
    /// None yet. What servers say goes to `inbox`. A thread lives on for a moment after the loop, which must end with its last handle.
    pub fn new(fs: Arc<dyn Fs>, inbox: &UnboundedSender<Message>) -> Self {
        Self { servers: Vec::new(), fs, inbox: inbox.downgrade() }
    }

    /// Watches for the sockets of these roots too, and connects to those that are there. The roots are canonical, as hints of locks are.
    pub fn follow(&mut self, roots: &[Root], source: &mut dyn HintSource) {
        for root in roots {
            let Some(server) = root.server() else { continue };
            if self.servers.iter().any(|known| known.root == *root) {
                continue;
            }
            let folder = root.join(server.folder);
            source.watch_beside(&folder);
            let (of, inbox) = (root.clone(), self.inbox.clone());
            let tell = move |word| {
                let news = Message::Server(ServerNews { root: of.clone(), word });
                inbox.upgrade().is_some_and(|inbox| inbox.send(news).is_ok())
            };
            let shared = Arc::new(Shared { link: Mutex::default(), tell: Box::new(tell) });
            let socket = folder.join(server.socket);
            let server = Server { root: root.clone(), socket, folder, shared };
            server.connect(&*self.fs);
            self.servers.push(server);
        }
    }

    /// Takes the hints in the folders of sockets, and connects if there is a reason.
    pub fn take_hints(&self, hints: &mut BTreeSet<Hint>) {
        for server in &self.servers {
            // A thread that begins is a reason too: its server is there.
            let locks = server.root.registry();
            let of_lock = |hint: &Hint| match hint {
                Hint::File(path) => path.parent() == locks.as_deref(),
                Hint::Tree(_) | Hint::Everything => false,
            };
            if take_out(hints, &server.folder) || hints.iter().any(of_lock) {
                server.connect(&*self.fs);
            }
        }
    }
}

impl Server {
    /// Connects if the socket is there, on a thread of its own.
    fn connect(&self, fs: &dyn Fs) {
        let Some(server) = self.root.server() else { return };
        if !fs.stat(&self.socket).is_ok_and(|stat| stat.kind == FileKind::Other) {
            return;
        }
        let mut link = self.shared.lock();
        link.again = link.busy;
        if link.busy {
            return;
        }
        let (shared, socket) = (Arc::clone(&self.shared), self.socket.clone());
        let thread = std::thread::Builder::new()
            .name("watchbill-server".into())
            .spawn(move || shared.follow(&socket, server));
        match thread {
            Ok(_) => link.busy = true,
            Err(error) => {
                tracing::error!(%error, "the system gives no thread; an agent's server is not asked")
            }
        }
    }
}

impl Drop for StatusServers {
    fn drop(&mut self) {
        for server in &self.servers {
            let mut link = server.shared.lock();
            link.over = true;
            link.connection.iter().for_each(SharedStream::close);
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Link> {
        self.link.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tries to follow the server, until no try is left.
    fn follow(&self, socket: &Path, server: &StatusServer) {
        loop {
            for pause in PAUSES {
                std::thread::sleep(pause);
                if let Err(error) = self.talk(socket, server) {
                    tracing::debug!(%error, "an agent's server does not answer");
                }
                let connected = self.lock().connection.take().is_some();
                if connected && !(self.tell)(ServerWord::Gone) || self.lock().over {
                    return;
                }
            }
            let mut link = self.lock();
            if !std::mem::take(&mut link.again) {
                link.busy = false;
                return;
            }
        }
    }

    /// Asks the server, and passes its messages on until the connection ends.
    fn talk(&self, socket: &Path, server: &StatusServer) -> io::Result<()> {
        let mut messages = Messages::connect(socket)?;
        let mut link = self.lock();
        if link.over {
            return Ok(());
        }
        link.connection = Some(messages.stream());
        drop(link);
        for question in server.questions {
            messages.send(*question)?;
        }
        let mut questions = VecDeque::new();
        loop {
            let word = match (server.read)(&messages.receive()?) {
                Some(ServerSaid::News(statuses)) => ServerWord::Statuses(statuses),
                Some(ServerSaid::Answer { statuses, questions: more }) => {
                    questions.extend(more);
                    if let Some(next) = questions.pop_front() {
                        messages.send(next)?;
                    }
                    ServerWord::Statuses(statuses)
                }
                // The next try asks all of it again.
                Some(ServerSaid::Busy) => return Err(io::Error::other("it is busy")),
                None => ServerWord::NotUnderstood,
            };
            if !matches!(&word, ServerWord::Statuses(none) if none.is_empty()) && !(self.tell)(word) {
                return Ok(());
            }
        }
    }
}
