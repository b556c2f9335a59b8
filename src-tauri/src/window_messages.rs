//! The shell's messages to the window, apart from the roster. They wait until a window listens.

use std::sync::{Mutex, MutexGuard};

use tauri::ipc::Channel;
use watchbill_protocol::shell::ShellMessage;

/// Enough for the user to read. Beyond it the oldest are dropped.
const MAX_WAITING: usize = 8;

/// The channel to the window. Tauri's managed state.
#[derive(Default)]
pub struct WindowMessages {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    channel: Option<Channel<ShellMessage>>,
    waiting: Vec<ShellMessage>,
}

impl WindowMessages {
    /// Sends through this channel from now on: `first`, then the messages that waited.
    pub fn connect(&self, channel: Channel<ShellMessage>, first: impl IntoIterator<Item = ShellMessage>) {
        let mut state = self.lock();
        state.channel = Some(channel);
        let waiting = std::mem::take(&mut state.waiting);
        for message in first.into_iter().chain(waiting) {
            state.send(message);
        }
    }

    /// The window is gone.
    pub fn disconnect(&self) {
        self.lock().channel = None;
    }

    /// Sends to the window, now or when it opens.
    pub fn tell(&self, message: ShellMessage) {
        self.lock().send(message);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code in here panics half-way through a change, so a poisoned state is still whole.
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl State {
    fn send(&mut self, message: ShellMessage) {
        if let Some(channel) = &self.channel {
            match channel.send(message.clone()) {
                Ok(()) => return,
                Err(error) => tracing::debug!(%error, "the window's channel is dead"),
            }
            self.channel = None;
        }
        // A new window gets these anyway, see `connect`.
        if matches!(message, ShellMessage::Compact { .. } | ShellMessage::Demo { .. })
            || self.waiting.contains(&message)
        {
            return;
        }
        if self.waiting.len() == MAX_WAITING {
            self.waiting.remove(0);
        }
        self.waiting.push(message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use tauri::ipc::InvokeResponseBody;

    fn channel() -> (Channel<ShellMessage>, Arc<Mutex<Vec<String>>>) {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        let channel = Channel::new(move |body| {
            let InvokeResponseBody::Json(text) = body else { panic!("a message is JSON") };
            log.lock().expect("not poisoned").push(text);
            Ok(())
        });
        (channel, seen)
    }

    fn says(text: &str) -> ShellMessage {
        ShellMessage::Says { text: text.to_owned() }
    }

    #[test]
    fn messages_wait_for_a_window() {
        let notes = WindowMessages::default();
        for text in ["a", "b", "a"] {
            notes.tell(says(text));
        }
        notes.tell(ShellMessage::Compact { on: true });
        let (channel, seen) = channel();
        notes.connect(channel, [ShellMessage::Compact { on: false }]);
        notes.tell(says("c"));
        let says = |text: &str| format!(r#"{{"type":"says","text":"{text}"}}"#);
        let first = r#"{"type":"compact","on":false}"#.to_owned();
        assert_eq!(*seen.lock().expect("not poisoned"), [first, says("a"), says("b"), says("c")]);
    }

    #[test]
    fn the_oldest_waiting_messages_are_dropped() {
        let notes = WindowMessages::default();
        for n in 0..1000 {
            notes.tell(says(&n.to_string()));
        }
        assert_eq!(notes.lock().waiting.len(), MAX_WAITING);
        assert_eq!(notes.lock().waiting.last(), Some(&says("999")));
    }
}
