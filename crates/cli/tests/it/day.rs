//! `watchbill day`.

use serde_json::json;

use crate::home::Home;
use crate::program::run;
use crate::tree::transcript;

const ID: &str = "dddddddd-0000-4000-8000-000000000001";

/// A session with two turns, in the evening of 20 November and after midnight in Berlin.
fn home() -> Home {
    let home = Home::empty();
    let prompt = |n: u32, at: &str| json!({"type": "user", "uuid": format!("11111111-0000-4000-8000-00000000000{n}"), "timestamp": at, "cwd": "/home/dev/api-server", "sessionId": ID, "promptId": format!("p{n}"), "message": {"role": "user", "content": "Publish the release"}});
    let answer = |n: u32, at: &str| json!({"type": "assistant", "uuid": format!("22222222-0000-4000-8000-00000000000{n}"), "timestamp": at, "sessionId": ID, "requestId": format!("r{n}"), "message": {"id": format!("m{n}"), "role": "assistant", "model": "m", "stop_reason": "end_turn", "usage": {"output_tokens": 7}, "content": [{"type": "text", "text": "Done."}]}});
    let lines = [
        prompt(1, "2026-11-20T22:00:00.000Z"),
        answer(2, "2026-11-20T22:10:00.000Z"),
        prompt(3, "2026-11-20T22:50:00.000Z"),
        answer(4, "2026-11-20T23:30:00.000Z"),
    ];
    transcript(&home.claude(), ID, &lines);
    home.out(&["index"]);
    home
}

fn in_berlin(home: &Home, words: &[&str]) -> String {
    let done = run(home.command(words).env("TZ", "Europe/Berlin"));
    assert_eq!((done.code, &*done.err), (0, ""), "{words:?}");
    done.out
}

#[test]
fn a_day_is_one_of_the_persons_zone() {
    let home = home();
    let day = |date: &str| -> serde_json::Value {
        serde_json::from_str(&in_berlin(&home, &["day", date, "--json"])).unwrap()
    };
    let before = day("2026-11-20");
    assert_eq!(
        (&before["from"], &before["zone"]),
        (&json!("2026-11-19T23:00:00.000Z"), &json!("Europe/Berlin"))
    );
    let chain = &before["chains"][0];
    let shown: Vec<_> = chain["stretches"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["from"].as_str().unwrap(), it["doing"].as_str().unwrap()))
        .collect();
    assert_eq!(
        shown,
        [
            ("2026-11-20T22:00:00.000Z", "working"),
            ("2026-11-20T22:10:00.000Z", "your_turn"),
            ("2026-11-20T22:20:00.000Z", "idle"),
            ("2026-11-20T22:50:00.000Z", "working"),
        ]
    );
    assert_eq!((&before["worked"], &chain["worked"]), (&json!(1200.0), &json!(1200.0)));
    assert_eq!(before["you"].as_array().unwrap().len(), 2);
    let after = day("2026-11-21");
    assert_eq!((&after["worked"], after["you"].as_array().unwrap().len()), (&json!(1800.0), 0));
    let never = day("2026-11-23");
    assert_eq!((&never["chains"], &never["lastDay"]), (&json!([]), &json!("2026-11-21")));
    insta::assert_snapshot!(
        [in_berlin(&home, &["day", "2026-11-20"]), in_berlin(&home, &["day", "2026-11-23"])].join("---\n")
    );
}

#[test]
fn a_day_that_is_no_date_is_an_error() {
    let home = home();
    let output = home.run_watchbill(&["day", "yesterday"]);
    assert_eq!((output.code, &*output.out), (1, ""));
    assert!(output.err.contains("`yesterday` is not a date such as 2026-11-20"), "{}", output.err);
}
