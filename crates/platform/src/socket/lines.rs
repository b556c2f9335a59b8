//! Lines of JSON over a stream, in both directions.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use interprocess::local_socket::Stream;
use interprocess::local_socket::prelude::*;
use serde::Serialize;

/// The reading half of a connection.
pub struct Reader {
    stream: BufReader<SharedStream>,
    line: Vec<u8>,
}

/// The writing half. Its clones write one whole line at a time.
#[derive(Clone)]
pub struct Writer {
    stream: Arc<Stream>,
    /// Held while a line is written.
    turn: Arc<Mutex<()>>,
}

/// `&Stream` implements `Read`. This owns its share of the stream and reads too.
struct SharedStream(Arc<Stream>);

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
            Some(_) if self.line.len() as u64 == longest => {
                Err(io::Error::new(io::ErrorKind::InvalidData, "a line of the other end is too long"))
            }
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

impl Writer {
    /// Writes one line.
    ///
    /// # Errors
    /// When the other end is gone or does not read.
    pub fn send<T: Serialize>(&self, line: &T) -> io::Result<()> {
        let mut bytes = serde_json::to_vec(line)?;
        bytes.push(b'\n');
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        (&*self.stream).write_all(&bytes)
    }

    /// Whether both write to the same connection.
    pub fn is_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.stream, &other.stream)
    }

    /// Closes both directions, even while another thread reads or writes. On Windows, the connection ends when its last
    /// half is dropped.
    pub fn close(&self) {
        #[cfg(unix)]
        {
            use std::os::fd::AsFd;
            let Stream::UdSocket(socket) = &*self.stream;
            // Ignore the error of a connection that is closed already.
            let _ = rustix::net::shutdown(socket.as_fd(), rustix::net::Shutdown::Both);
        }
    }
}
