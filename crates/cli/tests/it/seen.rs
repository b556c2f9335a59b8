//! What the roster says of calls that a reviewer refused, and of sessions that programs start.

use serde_json::{Value, json};

use crate::home::Home;

const AT: &str = "2026-11-20T15:0";

fn record(session: &str, entrypoint: &str, minute: u32, body: Value) -> String {
    let mut record = body;
    let fields = record.as_object_mut().unwrap();
    let uuid = format!("{session:0<8.8}-0000-4000-8000-00000000000{minute}");
    for (name, value) in [
        ("uuid", json!(uuid)),
        ("timestamp", json!(format!("{AT}{minute}:00.000Z"))),
        ("sessionId", json!(session)),
        ("cwd", json!("/home/dev/api-server")),
        ("version", json!("2.1.329")),
        ("entrypoint", json!(entrypoint)),
    ] {
        fields.insert(name.to_owned(), value);
    }
    format!("{record}\n")
}

fn prompt(text: &str) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": text}})
}

fn write(home: &Home, session: &str, lines: &[String]) {
    let folder = home.claude().join("projects/-home-dev-api-server");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(format!("{session}.jsonl")), lines.concat()).unwrap();
}

const REFUSED: &str = "aaaaaaaa-0000-4000-8000-000000000001";

/// A session with a refused call, and three runs of a program, of which one failed.
fn home() -> Home {
    let home = Home::empty();
    let call = json!({"type": "assistant", "requestId": "r", "message": {
        "id": "m", "role": "assistant", "model": "x", "stop_reason": "tool_use",
        "content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "git push origin main"}}]}});
    let refused = json!({"type": "user", "toolDenialKind": "automode-blocked", "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "t", "is_error": true,
            "content": "Permission for this action was denied. Reason: It pushes to a shared branch."}]}});
    let of = |minute, body| record(REFUSED, "cli", minute, body);
    write(&home, REFUSED, &[of(1, prompt("Ship it")), of(2, call), of(3, refused)]);
    for n in 1..=3u32 {
        let session = format!("bbbbbbb{n}-0000-4000-8000-000000000001");
        let mut lines = vec![record(&session, "sdk-cli", n, prompt("Review the diff"))];
        if n == 2 {
            let error = json!({"type": "assistant", "isApiErrorMessage": true, "error": "server_error", "message": {
                "id": "e", "role": "assistant", "model": "<synthetic>", "stop_reason": "stop_sequence",
                "content": [{"type": "text", "text": "API Error: 529"}]}});
            lines.push(record(&session, "sdk-cli", n + 1, error));
        }
        write(&home, &session, &lines);
    }
    home
}

#[test]
fn a_refused_call_is_in_the_roster_the_timeline_and_a_list_of_its_own() {
    let home = home();
    let at = "2026-11-20T15:03:30Z";
    let roster = home.json(&["roster", "--at", at, "--json"]);
    let refused: Vec<&Value> =
        roster["sessions"].as_array().unwrap().iter().filter(|row| !row["refused"].is_null()).collect();
    let place = "permissions.allow in ~/.claude/settings.json, or in .claude/settings.json of the project";
    let expected = json!({
        "count": 1, "inARow": 1,
        "last": {
            "tool": "Bash", "target": "git push origin main", "at": "2026-11-20T15:03:00.000Z", "kind": "blocked",
            "allow": { "rule": "Bash(git push origin main)", "where": place },
        },
    });
    assert_eq!(refused.iter().map(|row| &row["refused"]).collect::<Vec<_>>(), [&expected]);
    assert_eq!((&refused[0]["needs"], &refused[0]["group"]), (&Value::Null, &json!("working")));

    let text = home.run_watchbill(&["roster", "--at", at]).out;
    assert!(text.contains("1 refused, last: git push"), "{text}");
    let list = home.out(&["roster", "--at", at, "--refused"]);
    assert!(list.contains("Bash: git push origin main (blocked)"), "{list}");
    assert!(list.contains(&format!("allow it: Bash(git push origin main), in {place}")), "{list}");
    assert!(!list.contains("Review the diff"), "{list}");
    assert_eq!(
        home.json(&["roster", "--at", at, "--refused", "--json"])["sessions"].as_array().unwrap().len(),
        1
    );
    let before = home.out(&["roster", "--at", "2026-11-20T15:02:30Z", "--refused"]);
    assert_eq!(before, "No call was refused by an agent's reviewer.\n");

    let timeline = home.out(&["show", REFUSED]);
    assert!(
        timeline.contains("refused by the agent's reviewer: It pushes to a shared branch."),
        "{timeline}"
    );
    let items = home.json(&["show", REFUSED, "--json"]);
    let call = items["items"].as_array().unwrap().iter().find(|item| item["kind"] == "tool").unwrap();
    assert_eq!(
        (&call["outcome"], &call["refusal"]),
        (&json!("denied"), &json!("It pushes to a shared branch."))
    );
}

#[test]
fn the_runs_of_a_program_are_one_line_and_need_nothing() {
    let home = home();
    let at = "2026-11-20T15:03:30Z";
    let roster = home.json(&["roster", "--at", at, "--json"]);
    let runs: Vec<&Value> =
        roster["sessions"].as_array().unwrap().iter().filter(|row| !row["startedBy"].is_null()).collect();
    assert_eq!(runs.len(), 3, "the JSON has each");
    for run in &runs {
        let id = run["sessionId"].as_str().unwrap();
        let failed = id.starts_with("bbbbbbb2");
        let expected = match failed {
            true => json!({ "entrypoint": "sdk-cli", "folder": "/home/dev/api-server", "failed": true }),
            false => json!({ "entrypoint": "sdk-cli", "folder": "/home/dev/api-server" }),
        };
        assert_eq!((&run["startedBy"], &run["needs"]), (&expected, &Value::Null));
        assert_eq!(run["group"], json!(if id.starts_with("bbbbbbb3") { "working" } else { "idle" }), "{run}");
    }
    let text = home.out(&["roster", "--at", at]);
    assert_eq!(text.matches("Review the diff").count(), 2, "one line in each group: {text}");
    assert!(text.contains("2 runs, 1 failed · sdk-cli"), "{text}");
    assert_eq!(home.out(&["roster", "--at", at, "--programs"]).matches("Review the diff").count(), 3);
}
