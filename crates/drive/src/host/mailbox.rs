//! A bounded queue of one reader's messages. The host never waits for a reader: a slow one gets a new screen, or is
//! disconnected.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;
use watchbill_platform::socket::Writer;

use super::limits;

/// What a message takes beside its text.
const PER_MESSAGE: usize = 64;

/// The queue of one reader.
pub struct Mailbox {
    state: Mutex<State>,
    changed: Condvar,
    /// Closed when the reader is disconnected: what is being written to it is not kept either.
    writer: Writer,
}

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Output of the terminal. It may be dropped.
    Output,
    /// The screen. One reader at a time gets one, so it is not counted.
    Screen,
    /// All past events were sent.
    CaughtUp,
    /// Events.
    Events,
}

#[derive(Default)]
struct State {
    messages: VecDeque<(Arc<RawValue>, Kind)>,
    /// The bytes of messages, with the one that is being written.
    bytes: usize,
    /// Those of the one that is being written.
    in_writing: usize,
    is_closed: bool,
    /// Output was dropped.
    is_stale: bool,
    /// The new screen was asked for.
    is_asked: bool,
}

fn size((message, kind): &(Arc<RawValue>, Kind)) -> usize {
    if *kind == Kind::Screen { 0 } else { message.get().len() + PER_MESSAGE }
}

impl State {
    fn go_stale(&mut self) {
        self.is_stale = true;
        self.messages.retain(|(_, kind)| *kind != Kind::Output);
        self.bytes = self.in_writing + self.messages.iter().map(size).sum::<usize>();
    }

    fn add(&mut self, message: (Arc<RawValue>, Kind)) {
        self.bytes += size(&message);
        self.messages.push_back(message);
    }
}

/// The next step of a reader.
pub enum Next {
    /// Gets this message.
    Message(Arc<RawValue>, Kind),
    /// Asks for a new screen.
    Redraw,
    /// Ends.
    Closed,
}

impl Mailbox {
    /// An empty one, for a reader that is written to by `writer`.
    pub fn new(writer: Writer) -> Self {
        Self { state: Mutex::default(), changed: Condvar::new(), writer }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code panics while it holds this lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a message. `false`: the reader is gone, or too far behind.
    pub fn send(&self, message: &Arc<RawValue>, kind: Kind) -> bool {
        let message = (Arc::clone(message), kind);
        let mut state = self.lock();
        if kind == Kind::Screen {
            (state.is_stale, state.is_asked) = (false, false);
        }
        if state.bytes + size(&message) > limits::MAILBOX && !state.messages.is_empty() {
            drop(state);
            self.abandon();
            return false;
        }
        if !state.is_closed {
            state.add(message);
        }
        self.changed.notify_all();
        !state.is_closed
    }

    /// Adds output of the terminal, unless the reader is behind.
    pub fn send_output(&self, message: &Arc<RawValue>) {
        let message = (Arc::clone(message), Kind::Output);
        let mut state = self.lock();
        if state.is_stale || state.is_closed {
            return;
        }
        if state.bytes + size(&message) > limits::WAITING_FOR_READER {
            state.go_stale();
        } else {
            state.add(message);
        }
        self.changed.notify_all();
    }

    /// Drops output: the reader gets the screen instead.
    pub fn drop_output(&self) {
        self.lock().go_stale();
        self.changed.notify_all();
    }

    /// Waits for what the reader does next. What it did before is done.
    pub fn next(&self) -> Next {
        let mut state = self.lock();
        state.bytes -= std::mem::take(&mut state.in_writing);
        loop {
            if let Some(message) = state.messages.pop_front() {
                state.in_writing = size(&message);
                return Next::Message(message.0, message.1);
            }
            if state.is_closed {
                return Next::Closed;
            }
            if state.is_stale && !state.is_asked {
                state.is_asked = true;
                return Next::Redraw;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The bytes that wait.
    pub fn waiting(&self) -> usize {
        self.lock().bytes
    }

    /// No more messages come. Those that wait are still delivered.
    pub fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// The reader is gone, or is disconnected: nothing is kept for it.
    pub fn abandon(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        state.messages.clear();
        state.bytes = state.in_writing;
        drop(state);
        self.writer.close();
        self.changed.notify_all();
    }
}
