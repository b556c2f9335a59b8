//! Follows the holder of the store for another engine, on a thread that sleeps in the socket.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;

use super::client::Client;
use crate::run::message::Message;

/// First pause after a holder has ended. In an orderly end, it releases the store a moment after its socket.
const PAUSE: Duration = Duration::from_millis(20);
/// After this many pauses, each twice as long as the one before, the thread ends.
const PAUSES: u32 = 7;

/// State that an engine shares with the thread that follows the holder.
#[derive(Debug, Default)]
pub(crate) struct Holder {
    is_looked_for: AtomicBool,
    is_followed: AtomicBool,
}

impl Holder {
    /// Whether the thread runs. It reports the end of the holder.
    pub fn is_following(&self) -> bool {
        self.is_looked_for.load(Ordering::Acquire)
    }

    /// Whether a holder answers on its socket.
    pub fn is_connected(&self) -> bool {
        self.is_followed.load(Ordering::Acquire)
    }

    /// Ends the thread, because the engine holds the store itself.
    pub fn stop_following(&self) {
        self.is_looked_for.store(false, Ordering::Release);
    }
}

/// Follows the holder of the store on its own thread. Tells `inbox` when the holder has stored a command, and when it
/// has ended.
pub(crate) fn follow(data_dir: &Path, inbox: &UnboundedSender<Message>, holder: &Arc<Holder>) {
    holder.is_looked_for.store(true, Ordering::Release);
    // Weak, so that the thread does not keep the engine's channel open.
    let (inbox, data_dir, following) = (inbox.downgrade(), data_dir.to_owned(), Arc::clone(holder));
    let tell = move |message| inbox.upgrade().is_some_and(|inbox| inbox.send(message).is_ok());
    let spawned = std::thread::Builder::new().name("watchbill-holder".into()).spawn(move || {
        let mut pauses = PAUSES;
        while following.is_following() {
            if let Some(mut client) = Client::connect(&data_dir) {
                following.is_followed.store(true, Ordering::Release);
                // Commands may have been stored since this engine read the store.
                if !tell(Message::CommandsStored) {
                    return;
                }
                client.follow_commands(&mut || tell(Message::CommandsStored));
                following.is_followed.store(false, Ordering::Release);
                pauses = 0;
            }
            if pauses == PAUSES {
                break;
            }
            if !tell(Message::HolderGone) {
                return;
            }
            std::thread::sleep(PAUSE * 2_u32.pow(pauses));
            pauses += 1;
        }
        following.stop_following();
        // From now on the engine tries the store itself, now and then.
        tell(Message::CommandsStored);
    });
    if let Err(error) = spawned {
        holder.stop_following();
        tracing::debug!(%error, "the holder of the store is not followed");
    }
}
