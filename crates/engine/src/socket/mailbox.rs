//! A bounded queue of one subscription's messages to a socket client. The engine never waits for a client.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Most messages that wait for a client. A message is usually a row or two.
const MAX_MESSAGES: usize = 64;

/// The writing end. Dropping it closes the mailbox.
pub struct Sender<T>(Arc<Mailbox<T>>);

/// The reading end. Dropping it closes the mailbox.
pub struct Receiver<T>(Arc<Mailbox<T>>);

/// Closes the mailbox from another thread.
pub struct Closer<T>(Arc<Mailbox<T>>);

struct Mailbox<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    messages: VecDeque<T>,
    is_open: bool,
    overflowed: bool,
}

/// Why a mailbox gives no more messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closed {
    /// One end is gone.
    Gone,
    /// The client did not read. Its messages were dropped, and it needs a new snapshot.
    Overflowed,
}

/// An empty mailbox.
pub fn mailbox<T>() -> (Sender<T>, Receiver<T>) {
    let state = State { messages: VecDeque::new(), is_open: true, overflowed: false };
    let mailbox = Arc::new(Mailbox { state: Mutex::new(state), changed: Condvar::new() });
    (Sender(Arc::clone(&mailbox)), Receiver(mailbox))
}

impl<T> Mailbox<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        // No code panics while it holds this lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self) {
        self.lock().is_open = false;
        self.changed.notify_all();
    }
}

impl<T> Sender<T> {
    /// Whether the mailbox is open.
    pub fn is_open(&self) -> bool {
        self.0.lock().is_open
    }

    /// Adds a message without waiting. `false` if the mailbox is closed.
    pub fn send(&self, message: T) -> bool {
        let mut state = self.0.lock();
        if !state.is_open {
            return false;
        }
        if state.messages.len() >= MAX_MESSAGES {
            state.messages.clear();
            (state.is_open, state.overflowed) = (false, true);
        } else {
            state.messages.push_back(message);
        }
        self.0.changed.notify_all();
        state.is_open
    }
}

impl<T> Receiver<T> {
    /// Waits for the next message. Messages from before the sender was dropped still come.
    ///
    /// # Errors
    /// When there will be no more.
    pub fn receive(&self) -> Result<T, Closed> {
        let mut state = self.0.lock();
        loop {
            if let Some(message) = state.messages.pop_front() {
                return Ok(message);
            }
            if !state.is_open {
                return Err(if state.overflowed { Closed::Overflowed } else { Closed::Gone });
            }
            state = self.0.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Gives a closer of this mailbox.
    pub fn closer(&self) -> Closer<T> {
        Closer(Arc::clone(&self.0))
    }
}

impl<T> Closer<T> {
    /// Closes the mailbox: the receiver gets no more messages, and the sender's next call returns `false`.
    pub fn close(&self) {
        self.0.lock().messages.clear();
        self.0.close();
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.0.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_in_order_and_the_rest_after_the_sender_has_gone() {
        let (sender, receiver) = mailbox();
        assert!(sender.send(1) && sender.send(2));
        drop(sender);
        assert_eq!((receiver.receive(), receiver.receive()), (Ok(1), Ok(2)));
        assert_eq!(receiver.receive(), Err(Closed::Gone));
    }

    #[test]
    fn a_client_that_does_not_read_costs_a_bounded_number_of_messages() {
        let (sender, receiver) = mailbox();
        let taken = (0..10_000).take_while(|n| sender.send(*n)).count();
        assert_eq!(taken, MAX_MESSAGES);
        assert_eq!(receiver.receive(), Err(Closed::Overflowed));
        assert!(!sender.send(0));
    }

    #[test]
    fn closing_ends_both_ends() {
        let (sender, receiver) = mailbox();
        let closer = receiver.closer();
        assert!(sender.send(1));
        let waits = std::thread::spawn(move || {
            let first = receiver.receive();
            (first, receiver.receive())
        });
        while !sender.0.lock().messages.is_empty() {
            std::thread::yield_now();
        }
        closer.close();
        assert_eq!(waits.join().ok(), Some((Ok(1), Err(Closed::Gone))));
        assert!(!sender.send(2));
    }
}
