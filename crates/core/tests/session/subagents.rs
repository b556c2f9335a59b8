//! A subagent's own file.

use watchbill_core::session::SubagentFold;
use watchbill_core::time::Millis;
use watchbill_core::transcript::record::{Body, Record};

use crate::script::*;

const SILENCE: Millis = Millis::from_secs(600);

fn fold(records: &[Record<'static>]) -> SubagentFold {
    let mut fold = SubagentFold::new("a1");
    for record in records {
        fold.apply(record);
    }
    fold
}

#[test]
fn a_subagent_runs_until_its_records_end_it() {
    let story =
        [prompt(0.0, "look"), answer_goes_on(1.0, "I look"), calls(1.1, "x", "Bash"), returns(4.0, "x")];
    let running = fold(&story);
    assert_eq!(&**running.agent(), "a1");
    assert!(running.is_running(at(5.0), SILENCE));
    assert_eq!(running.started_at(), Some(at(0.0)));
    assert_eq!(running.last_activity(), Some(at(4.0)));
    assert_eq!(running.deadline(SILENCE), Some(at(604.0)));
    assert!(!running.is_running(at(604.0), SILENCE), "a subagent of a killed process never reports its end");
    for end in [answer_ends(5.0, "found"), interrupt(5.0), fails(5.0, "server_error", "no")] {
        let mut done = running.clone();
        done.apply(&end);
        assert!(!done.is_running(at(5.0), SILENCE), "{end:?}");
        assert_eq!(done.deadline(SILENCE), None);
        done.apply(&prompt(6.0, "look again"));
        assert!(done.is_running(at(6.0), SILENCE), "it can be woken");
    }
}

#[test]
fn open_calls_of_a_subagent_are_listed() {
    let names =
        |fold: &SubagentFold| fold.pending_tools().map(|call| call.id.to_string()).collect::<Vec<_>>();
    let mut fold = fold(&[prompt(0.0, "look"), calls(1.0, "x", "Bash"), calls(1.1, "y", "Write")]);
    assert_eq!(names(&fold), ["x", "y"]);
    fold.apply(&returns(4.0, "x"));
    assert_eq!(names(&fold), ["y"]);
    for end in [answer_ends(5.0, "found"), interrupt(5.0), fails(5.0, "server_error", "no")] {
        let mut done = fold.clone();
        done.apply(&end);
        assert!(names(&done).is_empty(), "{end:?}");
    }
}

#[test]
fn the_meta_file_decides_over_the_records() {
    let mut fold = fold(&[prompt(0.0, "look"), answer_goes_on(1.0, "I look")]);
    fold.set_finished(true);
    assert!(!fold.is_running(at(2.0), SILENCE));
    fold.set_finished(false);
    assert!(fold.is_running(at(2.0), SILENCE));
    assert!(!SubagentFold::new("a2").is_running(at(0.0), SILENCE), "without a record it has not begun");
}

#[test]
fn silent_records_are_no_activity() {
    let fold = fold(&[
        prompt(0.0, "look"),
        record(50.0, Body::Irrelevant),
        record(51.0, Body::Unknown("x".into())),
        record(52.0, Body::Meta),
    ]);
    assert_eq!(fold.last_activity(), Some(at(0.0)));
}
