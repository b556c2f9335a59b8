//! `GET /events`: the store events as server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, future, stream};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use watchbill_engine::model::publish::Subscription;
use watchbill_protocol::event::{StoreEvent, StoreEvents};
use watchbill_protocol::roster::RosterMessage;

use crate::app::App;

/// Messages that wait for a slow reader. Then its stream ends, and a new one begins with a snapshot.
const BACKLOG: usize = 64;

const PING: Duration = Duration::from_secs(15);

/// The stream: first a snapshot, then each event. `Last-Event-ID` is not needed for that: a snapshot replaces everything before.
pub async fn events(State(app): State<Arc<App>>) -> Response {
    let Ok(permit) = Arc::clone(&app.streams).try_acquire_owned() else {
        return (StatusCode::TOO_MANY_REQUESTS, "too many programs follow the events; end one of them")
            .into_response();
    };
    let (sender, receiver) = mpsc::channel(BACKLOG);
    let wants = Subscription { wait_for_recent: true, ..Subscription::default() };
    app.engine.subscribe(wants, Box::new(move |message| sender.try_send(message).is_ok()));
    let mut follower = Follower { events: None, _permit: permit };
    let messages = stream::unfold((receiver, app.engine.clone()), async |(mut receiver, engine)| {
        let (message, asked) = (receiver.recv().await?, engine.clone());
        // The engine may have to read the disk for it. If the rules cannot be read, the stream ends.
        let message = tokio::task::spawn_blocking(move || asked.gated(message)).await.ok()?.ok()?;
        Some((message, (receiver, engine)))
    });
    let told = stream::unfold(app.told.subscribe(), async |mut told| {
        loop {
            match told.recv().await {
                Ok(event) => return Some((Event::default().json_data(event).ok(), told)),
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return None,
            }
        }
    });
    // It ends with the first of the two: then the service ends, or the client reads too slowly.
    let ended = messages.map(Some).chain(stream::once(async { None }));
    let rows = ended.map(move |message| message.map(|message| follower.take(message)));
    let all = stream::select(rows, told.map(|event| Some(event.into_iter().collect())));
    let stream = all
        .take_while(|events| future::ready(events.is_some()))
        .flat_map(|events| stream::iter(events.unwrap_or_default()).map(Ok::<_, Infallible>));
    Sse::new(stream).keep_alive(KeepAlive::new().interval(PING).text("ping")).into_response()
}

/// One reader, and the events that it gets.
struct Follower {
    events: Option<StoreEvents>,
    _permit: OwnedSemaphorePermit,
}

impl Follower {
    fn take(&mut self, message: RosterMessage) -> Vec<Event> {
        let (revision, told) = match (message, self.events.as_mut()) {
            (RosterMessage::Snapshot(snapshot), None) => {
                let (events, first) = StoreEvents::new(&snapshot);
                self.events = Some(events);
                (snapshot.revision, vec![first])
            }
            (RosterMessage::Snapshot(snapshot), Some(events)) => {
                (snapshot.revision, events.catch_up(&snapshot))
            }
            (RosterMessage::Delta(delta), Some(events)) => (delta.revision, events.delta(&delta)),
            _ => return Vec::new(),
        };
        told.iter().filter_map(|event| as_sent(revision, event)).collect()
    }
}

fn as_sent(revision: u64, event: &StoreEvent) -> Option<Event> {
    // Our own types always have a JSON form.
    Event::default().id(revision.to_string()).json_data(event).ok()
}
