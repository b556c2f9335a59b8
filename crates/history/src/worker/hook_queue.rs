//! Hook events on their way to the history's thread. Only so many wait: the thread may be busy for long, or the store may refuse.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use watchbill_core::hook::HookMessage;

use crate::history_progress::HistoryProgress;

/// The most events that wait.
pub(super) const MOST_EVENTS: usize = 8192;
/// The most bytes of their payloads.
const MOST_BYTES: usize = 8 << 20;
/// The queue is half full from here on: what can wait elsewhere waits.
const HALF: (usize, usize) = (MOST_EVENTS / 2, MOST_BYTES / 2);
/// Events of one step of the store. Others wait for the store meanwhile.
const STEP: usize = 512;

/// The events that wait. Events without room are left out: the journal of the hooks has them.
pub struct HookQueue {
    waiting: Mutex<Waiting>,
    reach: Arc<HistoryProgress>,
}

#[derive(Default)]
struct Waiting {
    events: VecDeque<HookMessage>,
    bytes: usize,
    /// Events were left out since the journal was read last.
    left_out: bool,
}

impl Waiting {
    fn publish(&self, reach: &HistoryProgress) {
        let is_half_full = self.events.len() >= HALF.0 || self.bytes >= HALF.1 || self.left_out;
        reach.set_hook_events_waiting(self.events.len(), is_half_full);
    }
}

impl HookQueue {
    pub fn new(reach: Arc<HistoryProgress>) -> Self {
        Self { waiting: Mutex::default(), reach }
    }

    /// Adds events, as far as there is room. Returns whether the thread must be woken: nothing waited before.
    pub fn add(&self, messages: Vec<HookMessage>) -> bool {
        let mut waiting = self.lock();
        let was_empty = waiting.events.is_empty();
        for message in messages {
            let bytes = message.payload.len();
            if waiting.events.len() >= MOST_EVENTS || waiting.bytes + bytes > MOST_BYTES {
                if !std::mem::replace(&mut waiting.left_out, true) {
                    tracing::warn!(
                        "too many hook events wait for the history; it reads them from their journal later"
                    );
                }
                break;
            }
            waiting.bytes += bytes;
            waiting.events.push_back(message);
        }
        waiting.publish(&self.reach);
        was_empty
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // A panic cannot leave the queue half changed.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for HookQueue {
    fn drop(&mut self) {
        Waiting::default().publish(&self.reach);
    }
}

/// The receiving end of [`HookQueue`].
pub(super) struct HookQueueReceiver {
    from: Arc<HookQueue>,
    /// The events of the present step. They stay until the store has them.
    step: Vec<HookMessage>,
    /// Events from the journal, some of which are stored.
    again: VecDeque<HookMessage>,
}

impl HookQueueReceiver {
    pub fn new(from: Arc<HookQueue>) -> Self {
        Self { from, step: Vec::new(), again: VecDeque::new() }
    }

    /// Whether nothing is to be done.
    pub fn is_empty(&self) -> bool {
        if !(self.step.is_empty() && self.again.is_empty()) {
            return false;
        }
        let waiting = self.from.lock();
        waiting.events.is_empty() && !waiting.left_out
    }

    /// The events of the next step. `journal` gives those that have no room here.
    pub fn step(&mut self, journal: impl FnOnce() -> Vec<HookMessage>) -> &[HookMessage] {
        if self.step.is_empty() {
            let mut waiting = self.from.lock();
            if waiting.events.is_empty() && std::mem::take(&mut waiting.left_out) {
                drop(waiting);
                self.again.extend(journal());
                waiting = self.from.lock();
            }
            let from = if waiting.events.is_empty() { &mut self.again } else { &mut waiting.events };
            self.step.extend(from.drain(..from.len().min(STEP)));
            waiting.bytes = waiting.events.iter().map(|message| message.payload.len()).sum();
            waiting.publish(&self.from.reach);
        }
        &self.step
    }

    /// The store has the events of the present step.
    pub fn stored(&mut self) {
        self.step.clear();
    }

    /// Another process keeps the history.
    pub fn clear(&mut self) {
        (self.step, self.again) = (Vec::new(), VecDeque::new());
        let mut waiting = self.from.lock();
        *waiting = Waiting::default();
        waiting.publish(&self.from.reach);
    }
}

#[cfg(test)]
mod tests {
    use watchbill_core::hook::HookOrigin;
    use watchbill_core::time::Timestamp;

    use super::*;

    fn message(n: u64, payload: &[u8]) -> HookMessage {
        let at = Timestamp::from_millis(0);
        let id = n.to_string().into();
        HookMessage::new(
            HookOrigin { id, at, order: n, agent: None, ancestors: Arc::from([]), terminal: None },
            payload,
        )
    }

    fn queue() -> (Arc<HookQueue>, HookQueueReceiver, Arc<HistoryProgress>) {
        let reach = Arc::<HistoryProgress>::default();
        let queue = Arc::new(HookQueue::new(Arc::clone(&reach)));
        (Arc::clone(&queue), HookQueueReceiver::new(queue), reach)
    }

    /// All that the thread stores, in order.
    fn drained(receiver: &mut HookQueueReceiver, journal: &[u64]) -> Vec<u64> {
        let mut stored = Vec::new();
        while !receiver.is_empty() {
            let again = || journal.iter().map(|n| message(*n, b"{}")).collect();
            let step = receiver.step(again);
            assert!(step.len() <= STEP);
            stored.extend(step.iter().map(|message| message.origin.order));
            receiver.stored();
        }
        stored
    }

    #[test]
    fn events_that_nothing_takes_have_a_bound_and_come_back_from_the_journal() {
        let (queue, mut receiver, reach) = queue();
        for n in 0..3 * MOST_EVENTS as u64 {
            assert_eq!(queue.add(vec![message(n, b"{}")]), n == 0, "event {n}");
        }
        assert_eq!(queue.lock().events.len(), MOST_EVENTS);
        assert_eq!(reach.hook_events_waiting(), MOST_EVENTS);
        let last = 3 * MOST_EVENTS as u64 - 1;
        let stored = drained(&mut receiver, &[last - 1, last]);
        assert_eq!(stored.len(), MOST_EVENTS + 2);
        assert!(stored[..MOST_EVENTS].iter().copied().eq(0..MOST_EVENTS as u64));
        assert_eq!(stored[MOST_EVENTS..], [last - 1, last]);
        assert_eq!((reach.hook_events_waiting(), queue.lock().bytes), (0, 0));
        assert!(
            queue.add(vec![message(1, b"{}")]),
            "there is room again, and nothing is read from the journal"
        );
        assert_eq!(drained(&mut receiver, &[7]), [1]);
    }

    #[test]
    fn the_bytes_of_the_waiting_events_have_a_bound_too() {
        let (queue, mut receiver, reach) = queue();
        let large = vec![b' '; MOST_BYTES / 4];
        queue.add(vec![message(0, &large)]);
        assert!(!reach.hook_events_lag());
        queue.add(vec![message(0, &large)]);
        assert!(reach.hook_events_lag(), "four large events can count as many small ones");
        assert_eq!((drained(&mut receiver, &[]), reach.hook_events_lag()), (vec![0, 0], false));
        queue.add((0..6).map(|n| message(n, &large)).collect());
        assert_eq!(queue.lock().events.len(), 4);
        assert!(reach.hook_events_lag());
        assert_eq!(drained(&mut receiver, &[4, 5]), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn events_of_a_step_that_the_store_refused_come_again() {
        let (queue, mut receiver, _) = queue();
        queue.add(vec![message(1, b"{}")]);
        let orders =
            |step: &[HookMessage]| step.iter().map(|message| message.origin.order).collect::<Vec<_>>();
        assert_eq!(orders(receiver.step(Vec::new)), [1]);
        queue.add(vec![message(2, b"{}")]);
        assert_eq!(orders(receiver.step(Vec::new)), [1], "not stored yet");
        receiver.stored();
        assert_eq!(drained(&mut receiver, &[]), [2]);
        queue.add(vec![message(3, b"{}")]);
        receiver.clear();
        assert!(receiver.is_empty());
    }
}
