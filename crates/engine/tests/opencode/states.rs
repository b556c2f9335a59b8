//! The state of each session at each change of the rows, beside what the person did.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;
use watchbill_engine::engine::Engine;

use crate::house::{FIXTURES, House, play, rows_of_export, state};

const RECORDINGS: [&str; 5] = [
    "01-approve-deny",
    "02-escapes-fail",
    "03-compact-resume-fork",
    "05-kill9-while-tool",
    "06-no-plugin-default-port",
];

fn states(engine: &Engine) -> BTreeMap<String, String> {
    let roster = engine.current(true);
    assert!(roster.problems.is_empty(), "{:?}", roster.problems);
    let rows = roster.rows.iter().map(|row| row.session());
    rows.map(|row| {
        assert_eq!(&*row.agent, "opencode");
        let id = row.session_id.as_str();
        (
            id[id.len() - 4..].to_owned(),
            format!("{} [{}]", state(engine, id), row.state_reason.source.as_str()),
        )
    })
    .collect()
}

/// What the person did, and each change of a state.
fn page(name: &str, with_plugin: bool) -> String {
    let (mut page, mut shown) = (String::new(), BTreeMap::new());
    let mut house = play(name, with_plugin, |house, operation, _| {
        let now = states(&house.engine);
        for (id, state) in now.iter().filter(|(id, state)| shown.get(*id) != Some(*state)) {
            writeln!(page, "{:>6} {id} {state}", operation["t"]).unwrap();
        }
        if operation["op"] == "mark" {
            writeln!(page, "{:>6} -- {}", operation["t"], operation["text"].as_str().unwrap()).unwrap();
        }
        shown = now;
    });
    house.wait(10);
    writeln!(page, "ten seconds later: {:?}", states(&house.engine)).unwrap();
    page
}

#[test]
fn the_states_by_rows_alone_and_with_the_plugin() {
    for name in RECORDINGS {
        for (with_plugin, witnesses) in [(false, "rows"), (true, "plugin")] {
            insta::with_settings!({ snapshot_suffix => format!("{name}-{witnesses}"), prepend_module_to_snapshot => false, omit_expression => true }, {
                insta::assert_snapshot!("states", page(name, with_plugin));
            });
        }
    }
}

/// What does not depend on when it was seen.
fn facts(engine: &Engine) -> Vec<String> {
    let roster = engine.current(true);
    let rows = roster
        .rows
        .iter()
        .filter_map(|row| engine.row(&watchbill_core::ids::SessionId::new(&row.session().session_id)));
    rows.map(|row| {
        format!("{} {:?} {:?} {:?} {:?}", row.session_id, row.state, row.state_kind, row.title, row.tokens)
    })
    .collect()
}

#[test]
fn each_look_shows_what_a_cold_start_shows() {
    for name in RECORDINGS {
        let mut looks = 0;
        play(name, false, |house, operation, is_told| {
            if is_told {
                looks += 1;
                assert_eq!(facts(&house.engine), facts(&house.cold()), "{name} at {}", operation["t"]);
            }
        });
        assert!(looks > 3, "{name}");
    }
}

#[test]
fn real_sessions_end_as_their_last_rows_say() {
    let mut ends = String::new();
    for name in ["aborted", "question", "subagent", "tool-running", "tools-and-end"] {
        let text = std::fs::read_to_string(format!("{FIXTURES}/shapes/export-{name}.json")).unwrap();
        let export: Value = serde_json::from_str(&text).unwrap();
        let id = export["info"]["id"].as_str().unwrap();
        let last = export["messages"].as_array().unwrap().last().unwrap();
        let at =
            watchbill_core::time::Timestamp::from_millis(last["info"]["time"]["created"].as_i64().unwrap());
        let mut house = House::new(at);
        rows_of_export(&export).iter().for_each(|row| house.write(row));
        house.tell();
        house.wait(1);
        let row = house.engine.row(&watchbill_core::ids::SessionId::new(id)).unwrap();
        writeln!(ends, "{name}: {} {:?} {:?}", state(&house.engine, id), row.title, row.tokens).unwrap();
        // Of these exports all messages are there, so the sum is the one that opencode keeps itself.
        if ["aborted", "subagent", "tools-and-end"].contains(&name) {
            let count = |value: &Value| value.as_u64().unwrap();
            let (tokens, kept) = (row.tokens.unwrap(), &export["info"]["tokens"]);
            let output = count(&kept["output"]) + count(&kept["reasoning"]);
            assert_eq!((tokens.input, tokens.output), (count(&kept["input"]), output), "{name}");
            assert_eq!(tokens.cache_read, count(&kept["cache"]["read"]), "{name}");
        }
        assert!(house.engine.current(true).problems.is_empty());
    }
    insta::assert_snapshot!(ends);
}

#[test]
fn a_compaction_begins_with_its_message_while_the_row_of_its_session_is_old() {
    let mut house = play("01-approve-deny", true, |_, _, _| {});
    // The turn was over an hour ago.
    for table in ["session", "message", "part"] {
        let earlier = "time_created = time_created - 3600000, time_updated = time_updated - 3600000";
        house.sql.execute(&format!("UPDATE {table} SET {earlier}"), []).unwrap();
    }
    house.tell();
    house.tell();
    let session: String = house.sql.query_row("SELECT id FROM session", [], |row| row.get(0)).unwrap();
    assert_eq!(state(&house.engine, &session), "waiting_for_input/interrupted");
    let now = house.now.as_millis();
    let rows = format!(
        r#"INSERT INTO message VALUES ('msg_y', '{session}', {now}, {now}, '{{"role": "user", "time": {{"created": {now}}}}}');
           INSERT INTO part VALUES ('prt_y', 'msg_y', '{session}', {now}, {now}, '{{"type": "compaction", "auto": false}}');
           INSERT INTO message VALUES ('msg_z', '{session}', {now}, {now},
               '{{"role": "assistant", "summary": true, "time": {{"created": {now}}}}}');"#
    );
    house.sql.execute_batch(&rows).unwrap();
    house.tell();
    assert_eq!(state(&house.engine, &session), "working/compacting");
    let over =
        format!(r#"UPDATE message SET data = json_set(data, '$.time.completed', {now}) WHERE id = 'msg_z'"#);
    house.sql.execute_batch(&over).unwrap();
    house.tell();
    assert_eq!(state(&house.engine, &session), "waiting_for_input/turn_ended");
}
