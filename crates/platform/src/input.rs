//! Standard input with a limit of time, without a buffer that reads ahead where the system allows that.

use std::io::{self, Read};
use std::time::Duration;

#[cfg(not(unix))]
pub use ThreadedInput as Input;

/// Standard input of this process.
#[cfg(unix)]
pub struct Input(std::fs::File);

#[cfg(unix)]
impl Input {
    /// Opens it.
    ///
    /// # Errors
    /// When there is no standard input.
    pub fn open() -> io::Result<Self> {
        use std::os::fd::AsFd;
        Ok(Self(std::fs::File::from(io::stdin().as_fd().try_clone_to_owned()?)))
    }

    /// Whether a read returns at once: something has come, or the input has ended.
    ///
    /// # Errors
    /// When the system refuses to tell.
    pub fn readable(&mut self, within: Duration) -> io::Result<bool> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let limit = Timespec::try_from(within).map_err(io::Error::other)?;
        match poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&limit)) {
            Ok(ready) => Ok(ready > 0),
            // A signal that does not end the process. The caller looks at the clock and calls again.
            Err(rustix::io::Errno::INTR) => self.readable(within / 2),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(unix)]
impl Read for Input {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into)
    }
}

/// Input that a thread reads, because this system has no call that waits for a pipe with a limit of time. The thread
/// takes up to 128 KiB ahead, also of what a second process should read: on such systems the rest of a slow payload may be lost.
#[cfg(any(not(unix), test))]
pub struct ThreadedInput {
    parts: std::sync::mpsc::Receiver<io::Result<Vec<u8>>>,
    /// The part that is not read to its end; empty at the end of the input.
    part: Option<io::Result<io::Cursor<Vec<u8>>>>,
}

#[cfg(any(not(unix), test))]
impl ThreadedInput {
    /// Opens it.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn open() -> io::Result<Self> {
        Self::of(io::stdin())
    }

    fn of(mut source: impl Read + Send + 'static) -> io::Result<Self> {
        let (send, parts) = std::sync::mpsc::sync_channel(1);
        std::thread::Builder::new().spawn(move || {
            loop {
                let mut part = vec![0; 64 * 1024];
                let read = source.read(&mut part).map(|length| {
                    part.truncate(length);
                    part
                });
                let is_last = !matches!(&read, Ok(part) if !part.is_empty());
                if send.send(read).is_err() || is_last {
                    return;
                }
            }
        })?;
        Ok(Self { parts, part: None })
    }

    /// Whether a read returns at once: something has come, or the input has ended.
    ///
    /// # Errors
    /// Never; other systems may refuse to tell.
    pub fn readable(&mut self, within: Duration) -> io::Result<bool> {
        use std::sync::mpsc::RecvTimeoutError::{Disconnected, Timeout};
        if self.part.is_none() {
            self.part = match self.parts.recv_timeout(within) {
                Ok(part) => Some(part.map(io::Cursor::new)),
                Err(Timeout) => None,
                Err(Disconnected) => Some(Ok(io::Cursor::default())),
            };
        }
        Ok(self.part.is_some())
    }
}

#[cfg(any(not(unix), test))]
impl Read for ThreadedInput {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while !self.readable(Duration::MAX)? {}
        let Some(part) = &mut self.part else { return Ok(0) };
        let read = match part {
            Ok(part) => part.read(into)?,
            Err(_) => return self.part.take().map_or(Ok(0), |failed| failed.map(|_| 0)),
        };
        if matches!(part, Ok(part) if part.position() == part.get_ref().len() as u64) {
            self.part = None;
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_pipe_that_stays_open_is_read_as_far_as_it_has_come() {
        let (source, mut sink) = io::pipe().expect("a pipe");
        let mut input = ThreadedInput::of(source).expect("a thread");
        assert!(!input.readable(Duration::from_millis(1)).expect("told"), "nothing has come");
        sink.write_all(b"{\"a\":1}").expect("written");
        let mut part = [0; 4];
        let mut all = Vec::new();
        while all.len() < 7 {
            assert!(input.readable(Duration::MAX).expect("told"));
            let read = input.read(&mut part).expect("read");
            all.extend_from_slice(&part[..read]);
        }
        assert_eq!(all, b"{\"a\":1}");
        assert!(!input.readable(Duration::from_millis(1)).expect("told"), "the pipe is open and empty");
        drop(sink);
        assert!(input.readable(Duration::MAX).expect("told"));
        for _ in 0..2 {
            assert_eq!(input.read(&mut part).expect("read"), 0, "the end stays the end");
        }
    }

    #[test]
    fn a_source_that_fails_tells_its_error() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("broken glass"))
            }
        }
        let mut input = ThreadedInput::of(Broken).expect("a thread");
        assert_eq!(input.read(&mut [0; 4]).expect_err("broken").to_string(), "broken glass");
        assert_eq!(input.read(&mut [0; 4]).expect("the end"), 0);
    }
}
