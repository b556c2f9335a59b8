//! The thread that stores accepted events. Clients do not wait for the disk, and a bounded queue limits the memory.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc as blocking;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use watchbill_hooks::sender::post;

/// The most events that wait for the disk. Beyond it, a client waits, and then gets 503.
const BACKLOG: usize = 256;
/// The bytes of all waiting events. They are the permits of a semaphore, so they fit in 32 bits.
const BACKLOG_BYTES: u32 = 8 * 1024 * 1024;
/// How often the thread asks whether the history has followed.
const LOOK: Duration = Duration::from_millis(20);
/// How long the end of the service waits for the events that it has promised to store.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// An event, and its place in the queue. The place is free again when the event is stored.
type Waiting = (Vec<u8>, OwnedSemaphorePermit);

/// The way to the thread.
#[derive(Debug, Clone)]
pub struct Queue {
    events: mpsc::Sender<Waiting>,
    room: Arc<Semaphore>,
}

impl Queue {
    /// How many events wait for the disk.
    pub fn waiting(&self) -> usize {
        self.events.max_capacity() - self.events.capacity()
    }

    /// Queues an event. Returns whether there was room for it in time.
    pub async fn put(&self, payload: Vec<u8>, patience: Duration) -> bool {
        let bytes = u32::try_from(payload.len()).unwrap_or(u32::MAX);
        if bytes > BACKLOG_BYTES {
            return false;
        }
        let put = async {
            let place = Arc::clone(&self.room).acquire_many_owned(bytes).await.ok()?;
            self.events.send((payload, place)).await.ok()
        };
        tokio::time::timeout(patience, put).await.is_ok_and(|sent| sent.is_some())
    }
}

/// The thread. It ends when the last queue is dropped, after it has stored what waits.
#[derive(Debug)]
pub struct Storing {
    ended: blocking::Receiver<()>,
}

impl Drop for Storing {
    /// Waits until everything is stored, but not for long. The queues must be gone by then.
    fn drop(&mut self) {
        if self.ended.recv_timeout(SHUTDOWN_TIMEOUT) == Err(blocking::RecvTimeoutError::Timeout) {
            tracing::warn!("the disk is slow: events over HTTP may be lost at the end of the service");
        }
    }
}

/// Starts the thread. It pauses while `has_room` says no: the history must follow, or events would pile up behind this queue.
///
/// # Errors
/// When the system gives no thread.
pub fn start(data_dir: &Path, has_room: impl Fn() -> bool + Send + 'static) -> io::Result<(Queue, Storing)> {
    let data_dir = data_dir.to_owned();
    store_with(has_room, move |payload| {
        let sent = post(&data_dir, payload);
        tracing::debug!(?sent, "an event over HTTP");
    })
}

fn store_with(
    has_room: impl Fn() -> bool + Send + 'static,
    mut store: impl FnMut(&[u8]) + Send + 'static,
) -> io::Result<(Queue, Storing)> {
    let (sender, mut events) = mpsc::channel::<Waiting>(BACKLOG);
    let (end, ended) = blocking::channel::<()>();
    std::thread::Builder::new().name("watchbill-accept".into()).spawn(move || {
        // Dropped with the thread, after a panic too: that is the news of its end.
        let _end = end;
        while let Some((payload, _place)) = events.blocking_recv() {
            // At the end of the service, what waits goes to the journal or the spool at once.
            while !has_room() && !events.is_closed() {
                std::thread::sleep(LOOK);
            }
            store(&payload);
        }
    })?;
    let room = Arc::new(Semaphore::new(BACKLOG_BYTES as usize));
    Ok((Queue { events: sender, room }, Storing { ended }))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    const MEBIBYTE: usize = 1024 * 1024;

    /// A disk that stores one event for each word, and what it has stored.
    fn slow_disk() -> (Queue, Storing, blocking::Sender<()>, Arc<Mutex<Vec<usize>>>) {
        let (word, words) = blocking::channel();
        let stored = Arc::new(Mutex::new(Vec::new()));
        let disk = Arc::clone(&stored);
        let (queue, storing) = store_with(
            || true,
            move |payload| {
                let _ = words.recv();
                disk.lock().expect("no panic").push(payload.len());
            },
        )
        .expect("a thread");
        (queue, storing, word, stored)
    }

    #[tokio::test]
    async fn the_bytes_that_wait_have_a_bound_and_a_stored_event_makes_room() {
        let (queue, _storing, word, _) = slow_disk();
        for n in 0..8 {
            assert!(queue.put(vec![0; MEBIBYTE], Duration::from_millis(1)).await, "event {n}");
        }
        assert!(
            !queue.put(vec![0; MEBIBYTE], Duration::from_millis(1)).await,
            "the client is told to come again"
        );
        word.send(()).expect("the disk");
        assert!(queue.put(vec![0; MEBIBYTE], Duration::from_secs(30)).await, "one is stored");
        drop(word);
        drop(queue);
    }

    #[tokio::test]
    async fn while_the_history_does_not_follow_clients_must_wait_and_the_end_needs_no_room() {
        let room = Arc::new(AtomicBool::new(false));
        let stored = Arc::new(Mutex::new(0));
        let (has_room, disk) = (Arc::clone(&room), Arc::clone(&stored));
        let (queue, storing) = store_with(
            move || has_room.load(Ordering::Relaxed),
            move |_| *disk.lock().expect("no panic") += 1,
        )
        .expect("a thread");
        let mut taken = 0;
        while queue.put(vec![0], Duration::from_millis(50)).await {
            taken += 1;
        }
        // One more is in the hands of the thread.
        assert!((BACKLOG..=BACKLOG + 1).contains(&taken), "{taken}");
        assert_eq!(*stored.lock().expect("no panic"), 0);
        room.store(true, Ordering::Relaxed);
        assert!(queue.put(vec![0], Duration::from_secs(30)).await, "the history has followed");
        room.store(false, Ordering::Relaxed);
        drop(queue);
        drop(storing);
        assert_eq!(*stored.lock().expect("no panic"), taken + 1, "what was promised is stored");
    }

    #[tokio::test]
    async fn the_end_waits_for_what_was_promised_but_not_for_ever() {
        let (queue, storing, word, stored) = slow_disk();
        for bytes in 1..=5 {
            assert!(queue.put(vec![0; bytes], Duration::from_secs(30)).await);
        }
        drop(queue);
        assert!(stored.lock().expect("no panic").is_empty());
        // From now on the disk does not wait for words.
        drop(word);
        drop(storing);
        assert_eq!(*stored.lock().expect("no panic"), [1, 2, 3, 4, 5]);

        let (queue, storing, _word, stored) = slow_disk();
        assert!(queue.put(vec![0], Duration::from_secs(30)).await);
        drop(queue);
        drop(storing);
        assert!(stored.lock().expect("no panic").is_empty(), "the disk hangs, and the program ends");
    }
}
