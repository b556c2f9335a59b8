//! WebSocket messages over a local socket (RFC 6455).
//!
//! `tungstenite` frames them. Its own opening is left out, because that could connect to any address.

use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;

use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Error, Message, Utf8Bytes, WebSocket};
use watchbill_platform::socket::{Address, SharedStream};

/// The other end must accept the connection within this time.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest answer to the opening, in bytes.
const MAX_OPENING: usize = 4 << 10;
/// The longest message, in bytes: the longest that the known server sends in one frame.
const MAX_MESSAGE: usize = 16 << 20;

/// The RFC's own example of a key and of the answer to it. Between two programs of one user it need not be random.
const OPENING: &str = "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
     Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
const ACCEPTED: &str = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

/// A connection that carries messages.
pub struct Messages {
    socket: WebSocket<SharedStream>,
}

impl Messages {
    /// Connects to the program of this user that listens at a path.
    ///
    /// # Errors
    /// When no such program listens, or it does not speak WebSocket.
    pub fn connect(path: &Path) -> io::Result<Self> {
        let mut stream = SharedStream::new(Address::at(path).connect()?);
        stream.wait_at_most(Some(PATIENCE))?;
        stream.write_all(OPENING.as_bytes())?;
        let answer = head(&mut stream)?;
        if !answer.starts_with("HTTP/1.1 101") || !answer.contains(ACCEPTED) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the other end speaks no WebSocket"));
        }
        stream.wait_at_most(None)?;
        let config = WebSocketConfig::default()
            .read_buffer_size(8 << 10)
            .max_message_size(Some(MAX_MESSAGE))
            .max_frame_size(Some(MAX_MESSAGE));
        Ok(Self { socket: WebSocket::from_raw_socket(stream, Role::Client, Some(config)) })
    }

    /// Sends a message.
    ///
    /// # Errors
    /// When the other end is gone or does not read.
    pub fn send(&mut self, text: impl Into<Utf8Bytes>) -> io::Result<()> {
        self.socket.send(Message::text(text)).map_err(into_io)
    }

    /// Waits for the next message.
    ///
    /// # Errors
    /// When the connection has ended, or a message is too long.
    pub fn receive(&mut self) -> io::Result<Vec<u8>> {
        loop {
            match self.socket.read().map_err(into_io)? {
                message @ (Message::Text(_) | Message::Binary(_)) => return Ok(message.into_data().into()),
                Message::Ping(_) | Message::Pong(_) | Message::Close(_) | Message::Frame(_) => {}
            }
        }
    }

    /// The stream, to end the connection from another thread.
    pub fn stream(&self) -> SharedStream {
        self.socket.get_ref().clone()
    }
}

/// Reads the head of the answer, byte by byte: a message may follow at once.
fn head(stream: &mut SharedStream) -> io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() == MAX_OPENING {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the answer is too long"));
        }
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

fn into_io(error: Error) -> io::Error {
    match error {
        Error::Io(error) => error,
        error => io::Error::other(error),
    }
}
