//! Lines of JSON over a stream, in both directions.

use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use interprocess::local_socket::Stream;
use interprocess::local_socket::prelude::*;
use serde::Serialize;

/// A line up to this length, in bytes, is read beside others.
const SHORT: u64 = 4 << 10;

/// The reading half of a connection.
pub struct Reader {
    stream: BufReader<SharedStream>,
    line: Vec<u8>,
}

/// A line, and for a long one the guard of its gate.
pub type GatedLine<'a> = (Vec<u8>, Option<MutexGuard<'a, ()>>);

/// The writing half. Its clones write one whole line at a time.
#[derive(Clone)]
pub struct Writer {
    stream: Arc<Stream>,
    /// Held while a line is written.
    turn: Arc<Mutex<()>>,
}

/// `&Stream` implements `Read` and `Write`. This owns its share of the stream.
#[derive(Clone)]
pub struct SharedStream(Arc<Stream>);

impl SharedStream {
    /// Shares a stream.
    pub fn new(stream: Stream) -> Self {
        Self(Arc::new(stream))
    }

    /// Sets the longest wait for the other end to write and to read.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn wait_at_most(&self, at_most: Option<Duration>) -> io::Result<()> {
        self.0.set_recv_timeout(at_most)?;
        self.0.set_send_timeout(at_most)
    }

    /// Closes both directions, even while another thread reads or writes. On Windows, the connection ends when its last
    /// share is dropped.
    pub fn close(&self) {
        #[cfg(unix)]
        {
            use std::os::fd::AsFd;
            let Stream::UdSocket(socket) = &*self.0;
            // Ignore the error of a connection that is closed already.
            let _ = rustix::net::shutdown(socket.as_fd(), rustix::net::Shutdown::Both);
        }
    }
}

impl Write for SharedStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self.0).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        (&*self.0).flush()
    }
}

impl Read for SharedStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self.0).read(buffer)
    }
}

/// Both halves of a stream.
pub fn halves(stream: Stream) -> (Reader, Writer) {
    let stream = Arc::new(stream);
    let reader = Reader { stream: BufReader::new(SharedStream(Arc::clone(&stream))), line: Vec::new() };
    (reader, Writer { stream, turn: Arc::default() })
}

impl Reader {
    /// Waits for the next line; `None` at the end of the connection.
    ///
    /// # Errors
    /// When the connection breaks, no line comes in time, or one is longer than `longest` bytes.
    pub fn line(&mut self, longest: u64) -> io::Result<Option<&[u8]>> {
        self.line.clear();
        // Free the memory of a large line before.
        self.line.shrink_to(64 << 10);
        self.stream.by_ref().take(longest).read_until(b'\n', &mut self.line)?;
        match self.line.last() {
            None => Ok(None),
            Some(b'\n') => Ok(Some(&self.line[..self.line.len() - 1])),
            Some(_) if self.line.len() as u64 == longest => Err(too_long()),
            Some(_) => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// Waits for the next line. A long one is read while no other connection with the same `gate` reads one, and until the guard is
    /// dropped, so that all of them together stay small. It has to come within `at_most`.
    ///
    /// # Errors
    /// As [`Reader::line`].
    pub fn gated_line<'a>(
        &mut self,
        longest: u64,
        gate: &'a Mutex<()>,
        at_most: Duration,
    ) -> io::Result<Option<GatedLine<'a>>> {
        self.line = Vec::new();
        self.stream.by_ref().take(SHORT).read_until(b'\n', &mut self.line)?;
        let mut alone = None;
        if self.line.len() as u64 == SHORT && self.line.last() != Some(&b'\n') {
            alone = Some(gate.lock().unwrap_or_else(PoisonError::into_inner));
            let until = Instant::now() + at_most;
            while self.line.last() != Some(&b'\n') && (self.line.len() as u64) < longest {
                let left = until.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                self.wait_at_most(Some(left))?;
                let room = (longest - self.line.len() as u64).min(SHORT);
                if self.stream.by_ref().take(room).read_until(b'\n', &mut self.line)? == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            self.wait_at_most(None)?;
        }
        match self.line.last() {
            None => Ok(None),
            Some(b'\n') => {
                self.line.pop();
                Ok(Some((std::mem::take(&mut self.line), alone)))
            }
            Some(_) if alone.is_some() => Err(too_long()),
            Some(_) => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// The connection.
    pub fn stream(&self) -> &Stream {
        &self.stream.get_ref().0
    }

    /// Sets the longest wait for a line.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn wait_at_most(&self, at_most: Option<Duration>) -> io::Result<()> {
        self.stream.get_ref().0.set_recv_timeout(at_most)
    }
}

fn too_long() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a line of the other end is too long")
}

impl Writer {
    /// Writes one line.
    ///
    /// # Errors
    /// When the other end is gone or does not read.
    pub fn send<T: Serialize>(&self, line: &T) -> io::Result<()> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        // A long text in the line is not copied.
        let mut stream = BufWriter::new(&*self.stream);
        serde_json::to_writer(&mut stream, line)?;
        stream.write_all(b"\n")?;
        stream.flush()
    }

    /// Sets the longest wait for the other end to read.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn wait_at_most(&self, at_most: Option<Duration>) -> io::Result<()> {
        self.stream.set_send_timeout(at_most)
    }

    /// Says whether the other end is still there, without waiting. Only Unix tells.
    pub fn other_end(&self) -> impl Fn() -> bool + Send + Sync + 'static {
        let stream = Arc::clone(&self.stream);
        move || is_open(&stream)
    }

    /// Whether both write to the same connection.
    pub fn is_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.stream, &other.stream)
    }

    /// Closes both directions, even while another thread reads or writes. On Windows, the connection ends when its last
    /// half is dropped.
    pub fn close(&self) {
        SharedStream(Arc::clone(&self.stream)).close();
    }
}

#[cfg(unix)]
fn is_open(stream: &Stream) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let Stream::UdSocket(stream) = stream;
    // The system reports a hang-up without being asked for it.
    let mut looked = [PollFd::new(stream, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut looked, Some(&now)).is_err() || !looked[0].revents().contains(PollFlags::HUP)
}

#[cfg(not(unix))]
fn is_open(_: &Stream) -> bool {
    true
}
