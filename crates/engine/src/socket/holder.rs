//! Follows the holder of the store for another engine, on a thread that sleeps in the socket.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedSender, WeakUnboundedSender};
use watchbill_core::ids::SessionId;
use watchbill_core::requests::open::Asked;
use watchbill_protocol::roster::RosterMessage;

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
    let to = inbox.clone();
    let tell = move |message| to.upgrade().is_some_and(|inbox| inbox.send(message).is_ok());
    let spawned = std::thread::Builder::new().name("watchbill-holder".into()).spawn(move || {
        let mut pauses = PAUSES;
        while following.is_following() {
            if let Some(mut client) = Client::connect(&data_dir) {
                following.is_followed.store(true, Ordering::Release);
                follow_requests(&data_dir, inbox.clone());
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

/// Follows the requests that the holder shows, on a thread of its own, until the holder ends.
fn follow_requests(data_dir: &Path, inbox: WeakUnboundedSender<Message>) {
    let Some(mut client) = Client::connect(data_dir) else { return };
    let tell = move |asked: &Asking| {
        inbox.upgrade().is_some_and(|inbox| inbox.send(Message::HolderRequests(asked.clone())).is_ok())
    };
    let spawned = std::thread::Builder::new().name("watchbill-requests".into()).spawn(move || {
        let mut asked = Asking::new();
        let ended = client.subscribe(false, &mut |message| {
            let before = asked.clone();
            take(&mut asked, message);
            before == asked || tell(&asked)
        });
        tracing::debug!(?ended, "requests are followed no longer");
        // Without the holder no request can be answered.
        tell(&Asking::new());
    });
    if let Err(error) = spawned {
        tracing::debug!(%error, "the requests at the holder of the store are not followed");
    }
}

/// What sessions ask at the holder.
type Asking = BTreeMap<SessionId, Asked>;

fn take(asked: &mut Asking, message: RosterMessage) {
    let rows = match message {
        RosterMessage::Snapshot(snapshot) => {
            asked.clear();
            snapshot.sessions
        }
        RosterMessage::Delta(delta) => {
            asked.retain(|id, _| delta.removals.iter().all(|gone| gone != id.as_str()));
            delta.upserts.into_iter().map(|upsert| upsert.session).collect()
        }
        RosterMessage::Select { .. } | RosterMessage::Stopped => return,
    };
    for row in rows {
        let id = SessionId::new(&row.session_id);
        match row.request.and_then(|request| request.asked_by(&id)) {
            Some(request) => asked.insert(id, request),
            None => asked.remove(&id),
        };
    }
}
