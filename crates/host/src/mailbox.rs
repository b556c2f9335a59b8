//! A bounded queue of one reader's messages. The host never waits for a reader: a slow one gets a new screen, or is
//! disconnected.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;

/// The most bytes of terminal output that wait. More are dropped: the reader gets the screen instead.
const MAX_OUTPUT: usize = 512 << 10;

/// The most bytes that wait. A reader that is further behind is disconnected. It attaches again and reads the log.
const MAX_WAITING_BYTES: usize = 2 << 20;

/// The queue of one reader.
#[derive(Default)]
pub struct Mailbox {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    messages: VecDeque<(Arc<RawValue>, bool)>,
    bytes: usize,
    is_closed: bool,
    /// Output was dropped.
    is_stale: bool,
    /// The new screen was asked for.
    is_asked: bool,
}

impl State {
    /// Disconnects the reader.
    fn cut_off(&mut self) {
        (self.is_closed, self.bytes) = (true, 0);
        self.messages.clear();
    }

    fn go_stale(&mut self) {
        self.is_stale = true;
        self.messages.retain(|(_, is_output)| !is_output);
        self.bytes = self.messages.iter().map(|(message, _)| message.get().len()).sum();
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
    fn lock(&self) -> MutexGuard<'_, State> {
        // No code panics while it holds this lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a message. `false`: the reader is gone, or too far behind.
    pub fn send(&self, message: &Arc<RawValue>) -> bool {
        let mut state = self.lock();
        if state.bytes + message.get().len() > MAX_WAITING_BYTES && !state.messages.is_empty() {
            state.cut_off();
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
        if state.bytes + message.get().len() > MAX_OUTPUT {
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

    /// Waits for what the reader does next.
    pub fn next(&self) -> Next {
        let mut state = self.lock();
        loop {
            if let Some((message, _)) = state.messages.pop_front() {
                state.bytes -= message.get().len();
                self.changed.notify_all();
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

    /// The bytes that wait.
    pub fn waiting(&self) -> usize {
        self.lock().bytes
    }

    /// No more messages come. Those that wait are still delivered.
    pub fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// The reader is gone: nothing is kept for it.
    pub fn abandon(&self) {
        self.lock().cut_off();
        self.changed.notify_all();
    }
}
