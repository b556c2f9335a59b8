//! The loop's wait for a message, the bell, or a time.
//!
//! One thread waits for two sources, without input or output, so it needs no runtime. A runtime that polls descriptors
//! and keeps timers would wake once more for each deadline that is earlier than the one before.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, mpsc};

use crate::run::message::Message;

/// The event that ended the wait.
pub(super) enum Woken {
    /// A message; `None` if no more can come.
    Message(Option<Message>),
    /// The bell: there may be hints, or other work that only the bell announces.
    Bell,
    /// The time has come.
    Time,
}

/// Ends the sleep of a thread.
struct Sleeper(Thread);

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

/// Holds the waker of the loop's thread.
pub(super) struct Waits {
    waker: Waker,
}

impl Waits {
    /// For the current thread.
    pub fn here() -> Self {
        Self { waker: Arc::new(Sleeper(thread::current())).into() }
    }

    /// Waits at most this long, or without limit. A message goes before the bell, and the bell before the time.
    pub fn wait(
        &self,
        inbox: &mut mpsc::UnboundedReceiver<Message>,
        bell: &Notify,
        at_most: Option<Duration>,
    ) -> Woken {
        let mut cx = Context::from_waker(&self.waker);
        let mut rung = pin!(bell.notified());
        let until = at_most.and_then(|span| Instant::now().checked_add(span));
        loop {
            if let Poll::Ready(message) = inbox.poll_recv(&mut cx) {
                return Woken::Message(message);
            }
            if rung.as_mut().poll(&mut cx).is_ready() {
                return Woken::Bell;
            }
            match until.map(|until| until.saturating_duration_since(Instant::now())) {
                Some(Duration::ZERO) => return Woken::Time,
                Some(left) => thread::park_timeout(left),
                None => thread::park(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT_ONCE: Option<Duration> = Some(Duration::ZERO);

    #[test]
    fn a_message_goes_before_the_bell_and_the_bell_before_the_time() {
        let (sender, mut inbox) = mpsc::unbounded_channel();
        let (bell, waits) = (Notify::new(), Waits::here());
        bell.notify_one();
        sender.send(Message::Stop).unwrap();
        assert!(matches!(waits.wait(&mut inbox, &bell, AT_ONCE), Woken::Message(Some(Message::Stop))));
        assert!(matches!(waits.wait(&mut inbox, &bell, AT_ONCE), Woken::Bell), "it is not lost meanwhile");
        assert!(matches!(waits.wait(&mut inbox, &bell, AT_ONCE), Woken::Time));
        drop(sender);
        assert!(matches!(waits.wait(&mut inbox, &bell, None), Woken::Message(None)));
    }

    #[test]
    fn an_endless_wait_is_woken_from_other_threads() {
        let (sender, mut inbox) = mpsc::unbounded_channel();
        let (bell, waits) = (Arc::new(Notify::new()), Waits::here());
        for _ in 0..200 {
            let rings = Arc::clone(&bell);
            let other = thread::spawn(move || rings.notify_one());
            assert!(matches!(waits.wait(&mut inbox, &bell, None), Woken::Bell));
            other.join().unwrap();
            let sender = sender.clone();
            let other = thread::spawn(move || sender.send(Message::ClockJumped).is_ok());
            assert!(matches!(
                waits.wait(&mut inbox, &bell, None),
                Woken::Message(Some(Message::ClockJumped))
            ));
            assert!(other.join().unwrap());
        }
    }
}
