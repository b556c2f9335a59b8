//! What the client says in its status line: of a session, and of the limits of its account.

use serde_json::{Value, json};
use watchbill_core::time::Timestamp;

use super::records::{A, B, answer, prompt};
use crate::house::House;

/// A word of the client: tokens in the context, percentage of the five hours, cost.
fn word(tokens: u64, used: f64, cost: f64, resets_at: Timestamp) -> Value {
    json!({
        "hook_event_name": "StatusLine",
        "model": {"id": "opus"}, "effort": {"level": "high"},
        "cost": {"total_cost_usd": cost},
        "context_window": {
            "total_input_tokens": tokens, "context_window_size": 200_000, "used_percentage": tokens / 2_000,
        },
        "rate_limits": {"five_hour": {"used_percentage": used, "resets_at": resets_at.as_millis() / 1_000}},
        "pr": {"number": 318, "url": "https://example.invalid/pull/318", "review_state": "approved"},
    })
}

/// In so many minutes.
fn minutes(house: &House, minutes: i64) -> Timestamp {
    Timestamp::from_millis(house.now.as_millis() / 1_000 * 1_000 + minutes * 60_000)
}

/// The known limits: percentages and sessions.
fn limits(house: &House) -> Vec<(f64, String)> {
    house.all().limits.into_iter().map(|limit| (limit.percent, limit.session_id)).collect()
}

#[test]
fn the_clients_own_word_on_context_cost_and_pull_request_is_in_the_row() {
    let mut house = House::live();
    house.registry(7, A, "busy").write_all(A, [prompt("go"), answer("done")]);
    let before = house.row(A);
    assert_eq!(
        (before.cost, before.said_at, before.context.and_then(|context| context.size)),
        (None, None, None)
    );
    let end = minutes(&house, 90);
    house.hook(7, A, word(71_000, 42.5, 1.25, end));
    let row = house.row(A);
    let context = row.context.expect("a context");
    assert_eq!((context.used, context.size, context.percent), (71_000, Some(200_000), Some(35.0)));
    assert_eq!(row.cost.map(|cost| (cost.usd, cost.by)), Some((1.25, "client".to_owned())));
    assert_eq!((row.effort.as_deref(), row.model.as_deref()), (Some("high"), Some("opus")));
    let found = row.pull_request.expect("a pull request");
    assert_eq!((found.number, found.review.as_deref()), (318, Some("approved")));
    assert_eq!(row.said_at, Some(house.now.to_string()));
    assert_eq!(row.state, before.state, "it is no event of the turn");
    let [limit] = &house.all().limits[..] else { panic!("one limit") };
    assert_eq!((&*limit.agent, limit.minutes, limit.percent), ("claude", 300, 42.5));
    assert_eq!((&limit.resets_at, &limit.said_at), (&end.to_string(), &house.now.to_string()));
    assert_eq!((&*limit.folder, &*limit.session_id), ("/home/dev/.claude", A));
}

#[test]
fn a_repeated_word_is_no_change_and_no_newer_word_on_the_limits() {
    let mut house = House::live();
    let end = minutes(&house, 90);
    house.registry(7, A, "busy").write(A, prompt("go"));
    house.registry(8, B, "busy").write(B, prompt("go"));
    house.hook(7, A, word(10_000, 30.0, 1.0, end)).hook(8, B, word(10_000, 40.0, 1.0, end));
    let before = house.all();
    house.at(30.0).hook(7, A, word(10_000, 30.0, 1.0, end));
    assert_eq!(house.all().revision, before.revision);
    assert_eq!(limits(&house), [(40.0, B.to_owned())]);
    let mut reviewed = word(10_000, 90.0, 1.0, end);
    reviewed["rate_limits"]["five_hour"]["used_percentage"] = json!(30.0);
    reviewed["pr"]["review_state"] = json!("changes_requested");
    house.at(31.0).hook(7, A, reviewed);
    assert_eq!(
        house.row(A).pull_request.and_then(|found| found.review).as_deref(),
        Some("changes_requested")
    );
    assert_eq!(limits(&house), [(40.0, B.to_owned())]);
}

#[test]
fn a_limit_goes_when_its_span_ends() {
    let mut house = House::live();
    let end = minutes(&house, 1);
    house.registry(7, A, "busy").write(A, prompt("go")).hook(7, A, word(10_000, 30.0, 1.0, end));
    assert_eq!(limits(&house).len(), 1);
    let revision = house.all().revision;
    house.at(90.0);
    assert_eq!(limits(&house), []);
    assert!(house.all().revision > revision);
}

#[test]
fn a_session_that_stopped_at_a_limit_says_when_that_ends() {
    let mut house = House::live();
    let end = minutes(&house, 90);
    let mut refused = answer("You've hit your limit");
    refused["isApiErrorMessage"] = json!(true);
    refused["error"] = json!("rate_limit");
    house.registry(7, A, "idle").write_all(A, [prompt("go"), refused]);
    let row = house.row(A);
    assert_eq!((row.state_kind.as_deref(), row.limit_resets_at), (Some("limit"), None));
    // Another session of the account says it.
    house.registry(8, B, "busy").write(B, prompt("go")).hook(8, B, word(10_000, 100.0, 1.0, end));
    assert_eq!(house.row(A).limit_resets_at, Some(end.to_string()));
    assert_eq!(house.row(B).limit_resets_at, None);
    house.write_all(A, [prompt("on"), answer("done")]);
    assert_eq!(house.row(A).limit_resets_at, None);
}

#[test]
fn a_session_whose_status_line_no_longer_speaks_shows_its_transcript() {
    let mut house = House::live();
    let end = minutes(&house, 90);
    house.registry(7, A, "busy").write_all(A, [prompt("go"), answer("one")]);
    house.hook(7, A, word(71_000, 30.0, 1.0, end));
    house.at(300.0).write_all(A, [prompt("on"), answer("two")]);
    let context = house.row(A).context.expect("a context");
    assert_ne!(context.used, 71_000);
    assert_eq!(context.size, Some(200_000), "the size stays");
    assert_eq!(context.percent, Some((context.used as f64 / 200.0).round() / 10.0));
}

#[test]
fn a_session_that_only_its_status_line_knows_has_no_row() {
    let mut house = House::live();
    let end = minutes(&house, 90);
    house.hook(7, A, word(71_000, 30.0, 1.0, end));
    assert_eq!(house.state(A), "");
    assert_eq!(limits(&house), [(30.0, A.to_owned())], "its account is the watched one");
}
