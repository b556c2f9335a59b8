//! Sends an event to all receivers at once, within a time budget.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::places::HookPaths;
use crate::receiver_socket::{JOURNALED, connect, sockets};

/// The result of a delivery.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Delivery {
    /// The journal holds the event, so the sender need not keep it.
    pub kept: bool,
    /// The number of receivers that got the whole event in time.
    pub received: usize,
}

/// The connection to one receiver.
struct ReceiverConnection {
    stream: UnixStream,
    written: usize,
    over: bool,
}

/// Sends `frame` to every receiver and waits for their answers, at most for `budget`.
///
/// Without a receiver this takes as long as reading a folder. A receiver that hangs uses up the budget; the other receivers still
/// get the event.
pub fn deliver(places: &HookPaths, frame: &[u8], budget: Duration) -> Delivery {
    send(places, frame, budget, Delivery::default())
}

/// Sends `frame` to every receiver and waits for no answer: an event that need not be kept.
pub fn tell(places: &HookPaths, frame: &[u8], budget: Duration) {
    send(places, frame, budget, Delivery { kept: true, received: 0 });
}

fn send(places: &HookPaths, frame: &[u8], budget: Duration, mut delivery: Delivery) -> Delivery {
    let until = Instant::now() + budget;
    let mut talks: Vec<ReceiverConnection> = sockets(places)
        .iter()
        .filter_map(|socket| {
            Some(ReceiverConnection { stream: connect(socket).ok()?, written: 0, over: false })
        })
        .collect();
    loop {
        for talk in talks.iter_mut().filter(|talk| !talk.over) {
            talk.go_on(frame, &mut delivery);
        }
        // Once the event is kept, only the writing has to end: a receiver reads on after the sender has gone.
        let awaited =
            |talk: &ReceiverConnection| !talk.over && (!delivery.kept || talk.written < frame.len());
        let mut descriptors: Vec<PollFd<'_>> = talks
            .iter()
            .filter(|talk| awaited(talk))
            .map(|talk| {
                let writing = if talk.written < frame.len() { PollFlags::OUT } else { PollFlags::empty() };
                PollFd::new(&talk.stream, PollFlags::IN | writing)
            })
            .collect();
        let left = until.saturating_duration_since(Instant::now());
        if descriptors.is_empty() || left.is_zero() {
            break;
        }
        let Ok(limit) = Timespec::try_from(left) else { break };
        match poll(&mut descriptors, Some(&limit)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => break,
        }
    }
    delivery.received = talks.iter().filter(|talk| talk.written == frame.len()).count();
    delivery
}

impl ReceiverConnection {
    fn go_on(&mut self, frame: &[u8], delivery: &mut Delivery) {
        while self.written < frame.len() {
            match self.stream.write(&frame[self.written..]) {
                Ok(0) => self.over = true,
                Ok(written) => {
                    self.written += written;
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => self.over = true,
            }
            return;
        }
        let mut word = [0];
        match self.stream.read(&mut word) {
            Ok(read) => {
                delivery.kept |= read == 1 && word[0] == JOURNALED;
                self.over = true;
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => self.over = true,
        }
    }
}
