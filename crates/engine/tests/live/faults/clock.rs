//! The clock goes back by an hour while the engine runs on a real store. The roster, the search and `forget` use the
//! times of the records, and nothing waits for the hour to pass.

use std::sync::Arc;

use tokio::sync::Notify;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_engine::clock::ManualClock;
use watchbill_engine::forget::{ForgetWhat, forget};
use watchbill_engine::handle::{Handle, real_sources, start_in};
use watchbill_protocol::search::SearchQuery;
use watchbill_settings::Settings;

use crate::subscriber::{Folder, Subscriber, now};
use crate::until;

const MINUTE: Millis = Millis::from_secs(60);

fn begin(settings: &Settings, clock: &ManualClock) -> Subscriber {
    let clock = Arc::new(clock.clone());
    Subscriber::of(start_in(settings.clone(), real_sources(), clock, None, Arc::new(Notify::new())).unwrap())
}

/// The sessions with a search hit since that time, best first.
fn found(handle: &Handle, since: Timestamp) -> Vec<String> {
    let (query, since) = ("prompt".to_owned(), Some(since.to_string()));
    let answer = handle.search(&SearchQuery { query, since, ..SearchQuery::default() }, Arc::new(|| true));
    answer.map(|answer| answer.hits.into_iter().map(|hit| hit.session_id).collect()).unwrap_or_default()
}

#[test]
fn a_clock_that_goes_back_by_an_hour_delays_nothing() {
    let folder = Folder::new();
    // Without a registry only the transcripts decide, with their deadlines.
    std::fs::remove_dir(folder.root.join("sessions")).unwrap();
    let data = folder.root.parent().unwrap().join("data");
    let settings = Settings { data_dir: Some(data), ..folder.settings() };
    let ahead = now();
    let clock = ManualClock::new(ahead);
    let mut subscriber = begin(&settings, &clock);
    let [first, second] = [1, 2].map(|n| folder.author(n));
    folder.append(&first, &(first.prompt(1, ahead) + &first.answer(2, ahead)));
    subscriber.until_state(&first, "waiting_for_input");
    until("the first to be stored", || found(&subscriber.handle, ahead - MINUTE).len() == 1);

    let right = ahead - Millis(60 * MINUTE.0);
    clock.set(right);
    subscriber.handle.look_again();
    subscriber
        .until("it to be said", |copy| copy.problems.iter().any(|problem| problem.kind == "clock_went_back"));
    folder.append(&second, &second.prompt(3, right));
    subscriber.until_state(&second, "working");
    assert_eq!(subscriber.handle.roster(true).unwrap().generated_at, right.to_string());
    // Ages are never negative, and a working session is before one that has finished.
    let order: Vec<&str> = subscriber.copy.sessions.iter().map(|row| row.session_id.as_str()).collect();
    assert_eq!(order, [second.session.as_str(), first.session.as_str()]);
    until("the second to be stored", || found(&subscriber.handle, right - MINUTE).len() == 2);
    assert_eq!(
        found(&subscriber.handle, right + MINUTE),
        [first.session.as_str()],
        "said is what the records say"
    );
    // New deadlines follow the corrected clock.
    folder.append(&second, &second.call(4, right));
    clock.set(right + Millis::from_secs(6));
    subscriber.handle.look_again();
    subscriber.until_state(&second, "waiting_for_approval");
    subscriber.handle.stop();

    let mut subscriber = begin(&settings, &clock);
    subscriber.until_state(&second, "waiting_for_approval");
    subscriber.until_state(&first, "waiting_for_input");
    subscriber.handle.stop();
    drop(subscriber);
    let what = ForgetWhat::Before(right + MINUTE);
    let would = forget(&settings, &what, true, right, &mut |_| ()).unwrap();
    assert_eq!(would.sessions, [second.session.as_str()], "by the records, not by the clock");
    let would = forget(&settings, &ForgetWhat::Before(right - MINUTE), true, right, &mut |_| ()).unwrap();
    assert_eq!(would.sessions, [""; 0]);
}
