//! Single lines of pi and of Oh My Pi.

use serde_json::{Value, json};
use watchbill_agents::pi::records::parse_line;
use watchbill_core::history::{HistoryFold, HistorySettings, Item};
use watchbill_core::ids::SessionId;
use watchbill_core::session::fold::SessionFold;

use crate::files::{files, new_fold};

fn fold_of(lines: &[Value]) -> SessionFold {
    let mut fold = new_fold(SessionId::new("s"));
    for (n, line) in lines.iter().enumerate() {
        let mut line = line.clone();
        line["timestamp"] = format!("2026-11-27T05:30:{n:02}.000Z").into();
        line["id"] = format!("{n:08x}").into();
        parse_line(line.to_string().as_bytes(), &mut |record, _| fold.apply(&record, &mut Vec::new()));
    }
    fold
}

fn said(stop: &str, content: Value) -> Value {
    json!({ "type": "message", "message": { "role": "assistant", "content": content, "stopReason": stop } })
}

#[test]
fn the_reason_of_the_stop_is_the_state() {
    let prompt = json!({ "type": "message", "message": { "role": "user", "content": "go" } });
    let call = json!([{ "type": "toolCall", "id": "c", "name": "bash", "arguments": { "command": "make" } }]);
    for (stop, state) in [
        ("toolUse", "working -"),
        ("stop", "waiting_for_input turn_ended"),
        ("length", "waiting_for_input turn_ended"),
        ("aborted", "waiting_for_input interrupted"),
        ("error", "waiting_for_input error"),
        ("new", "working -"),
    ] {
        let mut fold = fold_of(&[prompt.clone(), said(stop, call.clone())]);
        let describe = |fold: &SessionFold| {
            let reading = fold.reading();
            format!("{} {}", reading.state.as_str(), reading.kind.map_or("-", |kind| kind.as_str()))
        };
        assert_eq!(describe(&fold), state, "{stop}");
        // An extension may ask for permission or not: no line says so.
        let later = fold.clock().unwrap() + watchbill_core::time::Millis::from_secs(10);
        fold.advance(later, &mut Vec::new());
        assert_eq!(describe(&fold), state, "{stop}: silence is no question");
    }
    // After an error the client may try again by itself.
    let retried = fold_of(&[prompt, said("error", json!([])), said("toolUse", call)]);
    assert_eq!(retried.reading().state.as_str(), "working");
}

#[test]
fn a_command_of_the_user_begins_no_turn() {
    let command = json!({ "role": "bashExecution", "command": "ls", "output": "a", "exitCode": 0 });
    let fold = fold_of(&[json!({ "type": "message", "message": command })]);
    assert_eq!(fold.reading().state.as_str(), "idle");
}

#[test]
fn the_hash_of_a_key_is_never_kept() {
    let file = files().into_iter().find(|file| file.name == "pi oh-my-pi-1").unwrap();
    let pin = file.lines.iter().find(|line| line.contains("credential_pin")).unwrap();
    let pin: Value = serde_json::from_str(pin).unwrap();
    let hash = pin["hash"].as_str().unwrap();
    let (mut kept, mut history) = (Vec::new(), HistoryFold::new(file.session(), None));
    for (offset, line) in (0..).zip(&file.lines) {
        parse_line(line.as_bytes(), &mut |record, full| {
            kept.push(format!("{record:?} {:?}", full.content()));
            let mut sink = |item: Item<'_>| kept.push(format!("{item:?}"));
            history.apply(offset, &record, full, &HistorySettings::default(), &mut sink);
        });
    }
    assert!(kept.len() > 100 && kept.iter().all(|text| !text.contains(hash)));
}

#[test]
fn a_title_that_is_written_over_the_first_line_is_the_title() {
    let title = |name: &str| fold_of(&[json!({ "type": "title", "title": name })]).facts().title();
    assert_eq!(title("Fix the build").as_deref(), Some("Fix the build"));
    assert_eq!(title(""), None);
}
