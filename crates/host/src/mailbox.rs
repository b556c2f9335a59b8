//! A bounded queue of one reader's messages. The host never waits for a reader: a slow one gets a new screen, or is
//! disconnected.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde_json::value::RawValue;
use watchbill_platform::socket::Writer;

use crate::limits;

/// The queue of one reader.
pub struct Mailbox {
    state: Mutex<State>,
    changed: Condvar,
    /// Closed when the reader is disconnected: what is being written to it is not kept either.
    writer: Writer,
}

struct State {
    messages: VecDeque<(Arc<RawValue>, bool)>,
    /// The bytes of the messages, and of the one that is being written.
    bytes: usize,
    in_writing: usize,
    /// Since when it is being written.
    since: Instant,
    is_closed: bool,
    /// Output was dropped.
    is_stale: bool,
    /// The new screen was asked for.
    is_asked: bool,
}

impl State {
    fn go_stale(&mut self) {
        self.is_stale = true;
        self.messages.retain(|(_, is_output)| !is_output);
        let waiting: usize = self.messages.iter().map(|(message, _)| message.get().len()).sum();
        self.bytes = self.in_writing + waiting;
    }
}

/// The next step of a reader.
pub enum Next {
    /// Gets this message.
    Message(Arc<RawValue>),
    /// Asks for a new screen.
    Redraw,
    /// Ends.
    Closed,
}

impl Mailbox {
    /// An empty one, for a reader that is written to by `writer`.
    pub fn new(writer: Writer) -> Self {
        let state = State {
            messages: VecDeque::new(),
            bytes: 0,
            in_writing: 0,
            since: Instant::now(),
            is_closed: false,
            is_stale: false,
            is_asked: false,
        };
        Self { state: Mutex::new(state), changed: Condvar::new(), writer }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code panics while it holds this lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a message. `false`: the reader is gone, or too far behind.
    pub fn send(&self, message: &Arc<RawValue>) -> bool {
        let mut state = self.lock();
        if state.bytes + message.get().len() > limits::MAILBOXES && state.bytes > 0 {
            drop(state);
            self.abandon();
            return false;
        }
        if !state.is_closed {
            state.bytes += message.get().len();
            state.messages.push_back((Arc::clone(message), false));
        }
        self.changed.notify_all();
        !state.is_closed
    }

    /// Adds output of the terminal, unless the reader is behind.
    pub fn send_output(&self, message: &Arc<RawValue>) {
        let mut state = self.lock();
        if state.is_stale || state.is_closed {
            return;
        }
        if state.bytes + message.get().len() > limits::WAITING_FOR_READER {
            state.go_stale();
        } else {
            state.bytes += message.get().len();
            state.messages.push_back((Arc::clone(message), true));
        }
        self.changed.notify_all();
    }

    /// Drops output: the reader gets the screen instead.
    pub fn drop_output(&self) {
        self.lock().go_stale();
        self.changed.notify_all();
    }

    /// Adds the screen. Output after it fits to it.
    pub fn send_screen(&self, message: &Arc<RawValue>) -> bool {
        {
            let mut state = self.lock();
            (state.is_stale, state.is_asked) = (false, false);
        }
        self.send(message)
    }

    /// Waits for what the reader does next. The message before is written.
    pub fn next(&self) -> Next {
        let mut state = self.lock();
        state.bytes -= std::mem::take(&mut state.in_writing);
        loop {
            if let Some((message, _)) = state.messages.pop_front() {
                (state.in_writing, state.since) = (message.get().len(), Instant::now());
                return Next::Message(message);
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

    /// The bytes that wait, and since when.
    pub fn waiting(&self) -> (usize, Instant) {
        let state = self.lock();
        (state.bytes, state.since)
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
