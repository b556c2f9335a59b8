//! Rows that are broken or taken away, and requests that are open at the same time.

use serde_json::json;

use crate::house::{House, play, state};

const SESSION: &str = "ses_df6bea441ffeh6jIuKlZxPA6m7";

fn played() -> House {
    let house = play("01-approve-deny", true, |_, _, _| {});
    assert!(house.engine.current(true).problems.is_empty());
    house
}

fn heard(event: &str, call: &str) -> serde_json::Value {
    json!({ "session_id": SESSION, "hook_event_name": event, "tool_name": "Bash", "tool_input": { "command": call }, "tool_use_id": call })
}

#[test]
fn each_of_two_requests_is_answered_for_itself() {
    let mut house = played();
    for call in ["call_a", "call_b"] {
        house.hear(&heard("PermissionRequest", call));
    }
    house.wait(2);
    let asks = "waiting_for_approval/permission";
    assert_eq!(state(&house.engine, SESSION), asks);
    for (call, then) in [("call_a", asks), ("call_b", "working")] {
        house.hear(&heard("PermissionReplied", call));
        house.wait(2);
        assert_eq!(state(&house.engine, SESSION), then, "after {call}");
    }
}

#[test]
fn a_broken_message_hides_no_session() {
    let mut house = played();
    let insert = |table: &str, columns: &str, values: &str| {
        house.sql.execute(&format!("INSERT INTO {table} ({columns}) VALUES ({values})"), []).unwrap();
    };
    insert(
        "session",
        "id, directory, title, version, time_created, time_updated",
        "'ses_b', '/b', 'B', '1', 1, 1",
    );
    insert(
        "message",
        "id, session_id, time_created, time_updated, data",
        "'msg_b', 'ses_b', 1, 1, 'no json'",
    );
    insert(
        "session",
        "id, directory, title, version, time_created, time_updated",
        "'ses_c', '/c', 'C', '1', 1, 1",
    );
    insert(
        "message",
        "id, session_id, time_created, time_updated, data",
        r#"'msg_c', 'ses_c', 1, 1, '{"role": "user", "time": {"created": 1}}'"#,
    );
    insert(
        "part",
        "id, message_id, session_id, time_created, time_updated, data",
        r#"'prt_c', 'msg_c', 'ses_c', 1, 1, '{"type": "text", "text": "go"}'"#,
    );
    house.tell();
    assert_ne!(state(&house.engine, "ses_c"), "-");
    assert_ne!(state(&house.engine, SESSION), "-");
}

#[test]
fn a_part_that_is_taken_away_makes_the_session_be_read_anew() {
    let mut house = played();
    let before = house.root().join("opencode.db").join(format!("{SESSION}.jsonl"));
    let words = |house: &House| {
        let row = house.engine.row(&watchbill_core::ids::SessionId::new(SESSION)).unwrap();
        (row.summary, row.goal)
    };
    let (summary, goal) = words(&house);
    assert!(summary.is_some() || goal.is_some(), "{}", before.display());
    assert_eq!(house.sql.execute("DELETE FROM part WHERE data LIKE '%@@otool again%'", []).unwrap(), 1);
    house.tell();
    assert!(house.engine.current(true).problems.is_empty(), "{:?}", house.engine.current(true).problems);
    let cold = house.cold();
    let row = cold.row(&watchbill_core::ids::SessionId::new(SESSION)).unwrap();
    assert_eq!(words(&house), (row.summary, row.goal));
}
