//! The client of a host's socket, for the window, the engine and the command line.

use std::io;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use watchbill_platform::socket::{Address, Reader, Writer, halves};
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::own::command::OwnCommand;
use watchbill_protocol::own::host::{
    HOST_VERSION, HostCall, HostHello, HostMessage, HostRequest, MAX_HOST_LINE_BYTES, MAX_PICTURE_BYTES,
};
use watchbill_protocol::socket::RawReply;

use crate::folder::Folder;
use crate::{pictures, replay};

/// A host sends its hello at once.
const GREETING: Duration = Duration::from_secs(5);

/// Limit for the answer to a command. The host waits for the disk.
const ANSWER: Duration = Duration::from_secs(40);

/// Why a host cannot be reached, or refuses.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// No host keeps the session.
    #[error("no host keeps the session: it has ended, or was not started")]
    NotRunning,
    /// It is of another version.
    #[error(
        "the host of the session (process {pid}) is of Watchbill {watchbill} and speaks protocol {theirs}; this program speaks \
         {HOST_VERSION}. End the session with that version"
    )]
    OtherVersion {
        /// The host's process.
        pid: u32,
        /// The version of its program.
        watchbill: String,
        /// The version of its talk.
        theirs: u32,
    },
    /// The host refuses. Nothing has changed.
    #[error(transparent)]
    Refused(#[from] ApiError),
    /// The connection broke. A command may or may not have been carried out.
    #[error(
        "the host of the session does not answer, so it is unknown whether it took the command: look at the session before you \
         repeat it ({0})"
    )]
    Broken(#[from] io::Error),
}

/// A connection to a host.
pub struct HostClient {
    folder: Folder,
    hello: HostHello,
    reader: Reader,
    writer: Writer,
}

/// Ends a connection from another thread.
#[derive(Clone)]
pub struct Closer(Writer);

impl Closer {
    /// Ends it. [`HostClient::attach`] returns.
    pub fn close(&self) {
        self.0.close();
    }
}

impl HostClient {
    /// Connects to the host of a session.
    ///
    /// # Errors
    /// When none runs, or it is of another version.
    pub fn connect(folder: &Folder) -> Result<Self, HostError> {
        let stream = match Address::at(&folder.socket()).connect() {
            Err(error)
                if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) =>
            {
                return Err(HostError::NotRunning);
            }
            other => other?,
        };
        let (mut reader, writer) = halves(stream);
        reader.wait_at_most(Some(GREETING))?;
        let line = match reader.line(u64::MAX) {
            // A host that ends this moment closes what it has accepted, and what waited to be.
            Ok(None) => return Err(HostError::NotRunning),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                return Err(HostError::NotRunning);
            }
            other => other?.unwrap_or_default(),
        };
        let hello = read_hello(line)?;
        Ok(Self { folder: folder.clone(), hello, reader, writer })
    }

    /// The host's greeting.
    pub fn hello(&self) -> &HostHello {
        &self.hello
    }

    /// Ends this connection from another thread.
    pub fn closer(&self) -> Closer {
        Closer(self.writer.clone())
    }

    /// Carries a command out. `id` is new for each command; the same command again has the same id, and is carried out once.
    ///
    /// # Errors
    /// When the host refuses, or the connection breaks.
    pub fn command(&mut self, id: &str, command: &OwnCommand) -> Result<(), HostError> {
        let refused = |words| Err(ApiError::new(ErrorCode::Invalid, words).into());
        if let OwnCommand::Prompt { images, .. } = command
            && images.iter().map(|image| image.data.len()).sum::<usize>() > MAX_PICTURE_BYTES
        {
            return refused(format!("the pictures of a prompt have at most {} MiB", MAX_PICTURE_BYTES >> 20));
        }
        let (command, longest) = if self.hello.picture_files {
            let command = pictures::in_files(&self.folder, command).map_err(|error| {
                let path = self.folder.path().display();
                ApiError::new(
                    ErrorCode::Unreadable,
                    format!("a picture cannot be written to {path}: {error}"),
                )
            })?;
            (command, MAX_HOST_LINE_BYTES)
        } else {
            (command.clone(), MAX_PICTURE_BYTES as u64)
        };
        let call = HostCall { id: id.to_owned(), request: HostRequest::Command { command } };
        if serde_json::to_vec(&call).map_err(io::Error::from)?.len() as u64 >= longest {
            return refused(format!("a prompt or a paste has at most {} KiB", longest >> 10));
        }
        self.writer.send(&call)?;
        self.reader.wait_at_most(Some(ANSWER))?;
        loop {
            let line = self.reader.line(u64::MAX)?.ok_or_else(ended)?;
            let answer: RawReply<'_> = serde_json::from_slice(line).map_err(io::Error::from)?;
            // An answer without an id is to a call that the host could not read. This connection has one call at a time.
            if answer.id == id || answer.id.is_empty() {
                return answer.error.map_or(Ok(()), |error| Err(error.into()));
            }
        }
    }

    /// Whether the host keeps the session. One whose session has ended closes the connection, and says nothing.
    pub fn keeps(self) -> bool {
        let mut has_said = false;
        let told = self.attach(u64::MAX, &mut |_| {
            has_said = true;
            false
        });
        told.is_ok() && has_said
    }

    /// Passes what the host tells from the record `from` on to `sink`, until `sink` gives `false` or the connection ends.
    ///
    /// # Errors
    /// When the connection breaks, or the host refuses.
    pub fn attach(mut self, from: u64, sink: &mut dyn FnMut(HostMessage) -> bool) -> Result<(), HostError> {
        let id = "attach";
        self.writer.send(&HostCall { id: id.to_owned(), request: HostRequest::Attach { from } })?;
        self.reader.wait_at_most(None)?;
        while let Some(line) = self.reader.line(u64::MAX)? {
            let answer: RawReply<'_> = serde_json::from_slice(line).map_err(io::Error::from)?;
            if let Some(error) = answer.error {
                return Err(error.into());
            }
            // A message of a newer host that cannot be read is skipped.
            if let Some(message) = answer.event.and_then(read::<HostMessage>)
                && !sink(message)
            {
                return Ok(());
            }
        }
        Ok(())
    }
}

fn ended() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the connection has ended")
}

fn read<T: DeserializeOwned>(text: &RawValue) -> Option<T> {
    serde_json::from_str(text.get()).ok()
}

/// The version is read first: another version may have other fields.
fn read_hello(line: &[u8]) -> Result<HostHello, HostError> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Version {
        host_protocol: u32,
        watchbill: String,
        pid: u32,
    }
    let Version { host_protocol: theirs, watchbill, pid } =
        serde_json::from_slice(line).map_err(io::Error::from)?;
    if theirs != HOST_VERSION {
        return Err(HostError::OtherVersion { pid, watchbill, theirs });
    }
    Ok(serde_json::from_slice(line).map_err(io::Error::from)?)
}

/// Carries one command out, over a connection of its own. If the connection breaks, the command is sent once more with its id: the
/// host carries it out once.
///
/// # Errors
/// As [`HostClient::command`].
pub fn send(folder: &Folder, id: &str, command: &OwnCommand) -> Result<(), HostError> {
    let broken = match HostClient::connect(folder)?.command(id, command) {
        Err(HostError::Broken(error)) => error,
        other => return other,
    };
    let again = HostClient::connect(folder).and_then(|mut again| again.command(id, command));
    // The host may have ended after it took the command. The next one does not know the id, and refuses what is done already.
    again.map_err(|_| broken.into())
}

/// Follows a session from the record `from` on until `sink` gives `false` or its host has ended. Without a host, this is what its
/// log holds. A reader that was too slow is attached again, behind the last events that it has. Gives the number of the record
/// after them.
///
/// # Errors
/// When the host is of another version, or the log cannot be read.
pub fn follow(
    folder: &Folder,
    from: u64,
    sink: &mut dyn FnMut(HostMessage) -> bool,
) -> Result<u64, HostError> {
    let (first, mut next, mut has_more) = (from, from, true);
    while has_more {
        let from = next;
        let mut seen = |message: HostMessage| {
            if let HostMessage::Events { events } = &message {
                next = events.last().map_or(next, |last| last.n + 1);
            }
            has_more = sink(message);
            has_more
        };
        match HostClient::connect(folder).and_then(|client| client.attach(from, &mut seen)) {
            Ok(()) | Err(HostError::Broken(_)) => {}
            // The host has removed everything of the session at its end.
            Err(HostError::NotRunning) if from > first && !folder.path().exists() => break,
            Err(HostError::NotRunning) => {
                let spec = folder.spec().map_err(io::Error::other)?;
                replay::read(folder, &spec, from, &mut |events| seen(HostMessage::Events { events }))?;
                break;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(next)
}
