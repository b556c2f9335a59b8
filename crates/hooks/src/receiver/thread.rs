//! The receiver's thread. It waits for senders, for a wake-up, or for the next round after activity.

#[cfg(not(unix))]
pub(super) use elsewhere::{Inlet, Waker};
#[cfg(unix)]
pub(super) use unix::{Inlet, Waker};

use std::time::Duration;

/// After activity, another round follows when it has been quiet for this long: a sender that could not wait may have
/// spooled meanwhile.
const ROUND_AFTER_ACTIVITY: Duration = Duration::from_secs(1);

#[cfg(unix)]
mod unix {
    use std::io::{self, Read, Write};
    use std::os::unix::net::UnixStream;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::super::Counts;
    use super::super::round::{Arrived, ReceiverState};
    use super::ROUND_AFTER_ACTIVITY;
    use crate::envelope::{Decoded, HEAD_LIMIT, PAYLOAD_LIMIT, decode};
    use crate::places::HookPaths;
    use crate::receiver_socket::{JOURNALED, NOT_JOURNALED, ReceiverSocket, is_ours};

    /// The most connections at a time. More senders wait in the system's queue, and then spool.
    const CONNECTIONS: usize = 64;

    /// A sender that is incomplete after this long has been stopped. If it goes on, it spools.
    const TIMEOUT: Duration = Duration::from_secs(10);

    /// Wakes and stops the thread.
    #[derive(Debug)]
    pub struct Waker {
        end: UnixStream,
        stopping: Arc<AtomicBool>,
    }

    impl Waker {
        /// Makes the thread run a round.
        pub fn wake(&self) {
            // If the queue is full, the thread has not woken yet, but it will.
            let _ = (&self.end).write(&[0]);
        }

        /// Makes the thread end after its current work.
        pub fn stop(&self) {
            self.stopping.store(true, Ordering::Release);
            self.wake();
        }
    }

    /// The thread's side: the socket, and the connections of senders.
    pub struct Inlet {
        socket: ReceiverSocket,
        woken: UnixStream,
        stopping: Arc<AtomicBool>,
        connections: Vec<Connection>,
    }

    struct Connection {
        stream: UnixStream,
        bytes: Vec<u8>,
        since: Instant,
    }

    enum Progress {
        Waits,
        Gone,
        Complete,
    }

    impl Inlet {
        /// Opens the socket. From now on senders find it.
        pub fn open(places: &HookPaths) -> io::Result<(Self, Waker)> {
            let socket = ReceiverSocket::open(places)?;
            let (end, woken) = UnixStream::pair()?;
            end.set_nonblocking(true)?;
            woken.set_nonblocking(true)?;
            let stopping = Arc::new(AtomicBool::new(false));
            let waker = Waker { end, stopping: Arc::clone(&stopping) };
            Ok((Self { socket, woken, stopping, connections: Vec::new() }, waker))
        }

        /// Runs rounds until it is stopped.
        pub fn run(mut self, mut state: ReceiverState) {
            state.begin();
            let mut restless = true;
            while !self.stopping.load(Ordering::Acquire) {
                let ready =
                    match self.wait(if restless { Some(ROUND_AFTER_ACTIVITY) } else { state.patience() }) {
                        Ok(ready) => ready,
                        Err(rustix::io::Errno::INTR) => continue,
                        Err(error) => {
                            tracing::error!(%error, "hook events are not received any more");
                            return;
                        }
                    };
                if ready.listener {
                    self.accept(&state.counts);
                }
                let arrived = self.read(&state.counts);
                if !arrived.is_empty() || ready.woken || ready.nothing {
                    restless = state.round(arrived);
                }
            }
        }

        fn wait(&self, limit: Option<Duration>) -> rustix::io::Result<Ready> {
            let mut descriptors = vec![PollFd::new(&self.woken, PollFlags::IN)];
            let open = self.connections.len() < CONNECTIONS;
            let interest = if open { PollFlags::IN } else { PollFlags::empty() };
            descriptors.push(PollFd::new(&self.socket.listener, interest));
            descriptors.extend(self.connections.iter().map(|c| PollFd::new(&c.stream, PollFlags::IN)));
            // An open connection may never end, so it needs a regular check.
            let limit = if self.connections.is_empty() { limit } else { Some(limit.unwrap_or(TIMEOUT)) };
            let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
            let count = poll(&mut descriptors, limit.as_ref())?;
            let mut ready = Ready {
                woken: descriptors[0].revents().contains(PollFlags::IN),
                listener: descriptors[1].revents().contains(PollFlags::IN),
                nothing: count == 0,
            };
            if ready.woken {
                let mut thrown_away = [0; 64];
                while (&self.woken).read(&mut thrown_away).is_ok_and(|n| n > 0) {}
            }
            ready.woken |= self.stopping.load(Ordering::Acquire);
            Ok(ready)
        }

        fn accept(&mut self, counts: &Counts) {
            while self.connections.len() < CONNECTIONS {
                let Ok((stream, _)) = self.socket.listener.accept() else { return };
                if !is_ours(&stream) {
                    Counts::add(&counts.refused);
                } else if stream.set_nonblocking(true).is_ok() {
                    self.connections.push(Connection { stream, bytes: Vec::new(), since: Instant::now() });
                }
            }
        }

        /// Reads all connections, and takes out the complete events, in the order of connecting.
        fn read(&mut self, counts: &Counts) -> Vec<Arrived> {
            let mut arrived = Vec::new();
            let mut waiting = Vec::with_capacity(self.connections.len());
            for mut connection in self.connections.drain(..) {
                match connection.read() {
                    Progress::Waits => waiting.push(connection),
                    Progress::Gone => {}
                    Progress::Complete => match connection.into_event() {
                        Some(event) => arrived.push(event),
                        None => Counts::add(&counts.damaged),
                    },
                }
            }
            self.connections = waiting;
            arrived
        }
    }

    struct Ready {
        woken: bool,
        listener: bool,
        nothing: bool,
    }

    impl Connection {
        fn read(&mut self) -> Progress {
            let mut part = [0; 64 * 1024];
            loop {
                match self.stream.read(&mut part) {
                    // The sender gave up, and spools its event.
                    Ok(0) => return Progress::Gone,
                    Ok(read) => self.bytes.extend_from_slice(&part[..read]),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(_) => return Progress::Gone,
                }
                if self.is_complete() {
                    return Progress::Complete;
                }
            }
            if self.since.elapsed() > TIMEOUT { Progress::Gone } else { Progress::Waits }
        }

        /// Whether the connection needs no more bytes: it has a whole event, or can never be one.
        fn is_complete(&self) -> bool {
            self.bytes.len() > HEAD_LIMIT + PAYLOAD_LIMIT || decode(&self.bytes) != Decoded::Incomplete
        }

        fn into_event(self) -> Option<Arrived> {
            let Self { stream, mut bytes, .. } = self;
            let Decoded::Whole { envelope, payload, used } = decode(&bytes) else { return None };
            bytes.truncate(used);
            let mut arrived = Arrived::new(&envelope, bytes[payload].into(), bytes);
            arrived.acknowledge = Some(Box::new(move |kept: bool| {
                // A sender that gave up waiting has spooled.
                let _ = (&stream).write(&[if kept { JOURNALED } else { NOT_JOURNALED }]);
            }));
            Some(arrived)
        }
    }
}

#[cfg(not(unix))]
mod elsewhere {
    use std::io;
    use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};

    use super::super::round::ReceiverState;
    use super::ROUND_AFTER_ACTIVITY;
    use crate::places::HookPaths;
    use watchbill_platform::files::private_dir;

    /// Wakes and stops the thread.
    #[derive(Debug)]
    pub struct Waker(SyncSender<bool>);

    impl Waker {
        /// Makes the thread run a round.
        pub fn wake(&self) {
            let _ = self.0.try_send(false);
        }

        /// Makes the thread end after its current work.
        pub fn stop(&self) {
            let _ = self.0.send(true);
        }
    }

    /// Without local sockets, all events come through the spool, which is read every second.
    pub struct Inlet(Receiver<bool>);

    impl Inlet {
        /// Makes the spool, so that senders find it.
        pub fn open(places: &HookPaths) -> io::Result<(Self, Waker)> {
            private_dir(places.root())?;
            private_dir(&places.spool())?;
            let (sender, receiver) = sync_channel(1);
            Ok((Self(receiver), Waker(sender)))
        }

        /// Runs rounds until it is stopped.
        pub fn run(self, mut state: ReceiverState) {
            state.begin();
            let next = || self.0.recv_timeout(ROUND_AFTER_ACTIVITY);
            while matches!(next(), Ok(false) | Err(RecvTimeoutError::Timeout)) {
                state.round(Vec::new());
            }
        }
    }
}
