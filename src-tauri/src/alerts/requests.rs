//! Updates notifications when a session's request changes.

use std::collections::BTreeMap;

use tokio::sync::mpsc::UnboundedSender;
use watchbill_engine::model::publish::RosterSink;
use watchbill_protocol::roster::{RosterMessage, TrackedSession};

/// What each session asks: the id, the digest, and where it stands. The same may be asked again under another id.
type Asked = BTreeMap<String, (String, String, String)>;

/// A sink of the roster that sends after each message in which a request has come, changed or gone.
pub(super) fn changes(sender: UnboundedSender<()>) -> RosterSink {
    let mut asked = Asked::new();
    Box::new(move |message| {
        let before = asked.clone();
        take(&mut asked, message);
        if before == asked { !sender.is_closed() } else { sender.send(()).is_ok() }
    })
}

fn take(asked: &mut Asked, message: RosterMessage) {
    let rows: Vec<TrackedSession> = match message {
        RosterMessage::Snapshot(snapshot) => {
            asked.clear();
            snapshot.sessions
        }
        RosterMessage::Delta(delta) => {
            asked.retain(|session, _| !delta.removals.contains(session));
            delta.upserts.into_iter().map(|upsert| upsert.session).collect()
        }
        RosterMessage::Select { .. } | RosterMessage::Stopped => return,
    };
    for row in rows {
        match row.request {
            Some(request) => asked.insert(row.session_id, (request.id, request.digest, request.progress)),
            None => asked.remove(&row.session_id),
        };
    }
}
