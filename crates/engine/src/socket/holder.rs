//! The program that holds the store, as another engine follows it: one thread that sleeps in the socket.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;

use super::client::Client;
use crate::message::Message;

/// First pause after a holder has gone: one that ends in order lets go of the store a moment after its socket.
const PAUSE: Duration = Duration::from_millis(20);
/// After so many pauses, each twice as long as the one before, nobody is waited for any more.
const PAUSES: u32 = 7;

/// Follows the program that holds the store, on a thread of its own: tells `inbox` when it has stored a command, and when it
/// is gone. `follows` is true meanwhile; the engine sets it to false when it has taken the place itself.
pub(crate) fn follow(data_dir: &Path, inbox: &UnboundedSender<Message>, follows: &Arc<AtomicBool>) {
    follows.store(true, Ordering::Release);
    // Weak: an engine that has ended is kept by nobody.
    let (inbox, data_dir, following) = (inbox.downgrade(), data_dir.to_owned(), Arc::clone(follows));
    let tell = move |message| inbox.upgrade().is_some_and(|inbox| inbox.send(message).is_ok());
    let spawned = std::thread::Builder::new().name("watchbill-holder".into()).spawn(move || {
        let mut pauses = PAUSES;
        while following.load(Ordering::Acquire) {
            if let Some(mut client) = Client::connect(&data_dir) {
                // Something may have been said since the store was read.
                if !tell(Message::CommandsStored) {
                    return;
                }
                client.follow_commands(&mut || tell(Message::CommandsStored));
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
        following.store(false, Ordering::Release);
        // From now on the engine asks for the store by itself, now and then.
        tell(Message::CommandsStored);
    });
    if let Err(error) = spawned {
        follows.store(false, Ordering::Release);
        tracing::debug!(%error, "the holder of the store is not followed");
    }
}
