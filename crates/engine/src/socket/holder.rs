//! The program that holds the store, as another engine follows it: one thread that sleeps in the socket.

use std::path::Path;

use tokio::sync::mpsc::UnboundedSender;

use super::client::Client;
use crate::message::Message;

/// Follows the program that holds the store, if it listens: tells `inbox` when it has stored a command, and when it is gone.
/// Whether it is followed.
pub(crate) fn follow(data_dir: &Path, inbox: &UnboundedSender<Message>) -> bool {
    let Some(mut client) = Client::connect(data_dir) else { return false };
    // Weak: an engine that has ended is kept by nobody.
    let inbox = inbox.downgrade();
    let tell = move |message| inbox.upgrade().is_some_and(|inbox| inbox.send(message).is_ok());
    let spawned = std::thread::Builder::new().name("watchbill-holder".into()).spawn(move || {
        client.follow_commands(&mut || tell(Message::CommandsStored));
        tell(Message::HolderGone);
    });
    spawned.inspect_err(|error| tracing::debug!(%error, "the holder of the store is not followed")).is_ok()
}
