//! The program that holds the store, as another engine follows it: one thread that sleeps in the socket.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;

use super::client::Client;
use crate::run::message::Message;

/// First pause after a holder has gone: one that ends in order lets go of the store a moment after its socket.
const PAUSE: Duration = Duration::from_millis(20);
/// After so many pauses, each twice as long as the one before, nobody is waited for any more.
const PAUSES: u32 = 7;

/// What an engine and the thread that follows the holder for it tell each other.
#[derive(Debug, Default)]
pub(crate) struct Holder {
    is_looked_for: AtomicBool,
    is_followed: AtomicBool,
}

impl Holder {
    /// Whether the thread runs, and tells when the holder is gone.
    pub fn is_looked_for(&self) -> bool {
        self.is_looked_for.load(Ordering::Acquire)
    }

    /// Whether a program that holds the store answers on its socket.
    pub fn is_followed(&self) -> bool {
        self.is_followed.load(Ordering::Acquire)
    }

    /// Ends the thread: the engine holds the store itself.
    pub fn let_go(&self) {
        self.is_looked_for.store(false, Ordering::Release);
    }
}

/// Follows the program that holds the store, on a thread of its own: tells `inbox` when it has stored a command, and when it
/// is gone.
pub(crate) fn follow(data_dir: &Path, inbox: &UnboundedSender<Message>, holder: &Arc<Holder>) {
    holder.is_looked_for.store(true, Ordering::Release);
    // Weak: an engine that has ended is kept by nobody.
    let (inbox, data_dir, following) = (inbox.downgrade(), data_dir.to_owned(), Arc::clone(holder));
    let tell = move |message| inbox.upgrade().is_some_and(|inbox| inbox.send(message).is_ok());
    let spawned = std::thread::Builder::new().name("watchbill-holder".into()).spawn(move || {
        let mut pauses = PAUSES;
        while following.is_looked_for() {
            if let Some(mut client) = Client::connect(&data_dir) {
                following.is_followed.store(true, Ordering::Release);
                // Something may have been said since the store was read.
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
        following.let_go();
        // From now on the engine asks for the store by itself, now and then.
        tell(Message::CommandsStored);
    });
    if let Err(error) = spawned {
        holder.let_go();
        tracing::debug!(%error, "the holder of the store is not followed");
    }
}
