//! Calls that the agent's reviewer refuses without asking, by transcripts and hooks.

use serde_json::{Value, json};
use watchbill_core::attention::{AttentionEvent, Need};
use watchbill_protocol::roster::Refused;

use super::records::{A, answer, bash, prompt, result, tool_event, turn_over};
use crate::house::{House, PROJECT, transcript};

/// The result of a call that the reviewer refused.
fn refused(id: &str, kind: &str) -> Value {
    let mut record = result(id);
    record["message"]["content"][0]["is_error"] = json!(true);
    record["toolDenialKind"] = json!(kind);
    record
}

fn seen(house: &House) -> Option<Refused> {
    house.row(A).refused
}

fn raised(house: &mut House) -> Vec<Need> {
    let outcomes = house.outcomes();
    let of = |outcome: &AttentionEvent| match outcome {
        AttentionEvent::Raised { episode, silence: None } => Some(episode.need),
        _ => None,
    };
    outcomes.iter().filter_map(of).collect()
}

#[test]
fn a_refused_call_is_counted_once_when_hook_and_transcript_tell_it() {
    let mut house = House::live();
    house.registry(7, A, "busy").write_all(A, [prompt("go"), bash("t1", "git push origin main")]).at(1.0);
    house.hook(
        7,
        A,
        tool_event("PermissionDenied", "Bash", json!({"command": "git push origin main"}), "t1"),
    );
    let told = seen(&house).expect("the hook alone tells it");
    assert_eq!(
        (told.count, told.in_a_row, told.last.tool.as_str(), told.last.target.as_str()),
        (1, 1, "Bash", "")
    );
    house.write(A, refused("t1", "automode-blocked"));
    let told = seen(&house).unwrap();
    assert_eq!((told.count, told.in_a_row, told.last.target.as_str()), (1, 1, "git push origin main"));
    let row = house.row(A);
    let allow = told.last.allow.expect("a rule");
    assert_eq!(allow.rule, "Bash(git push origin main)");
    assert_eq!((row.needs, house.state(A).as_str()), (None, "working"), "it is no need");
    // In the other order, and a call that ran in between.
    house.write_all(
        A,
        [bash("t2", "ls"), result("t2"), bash("t3", "rm -r x"), refused("t3", "automode-blocked")],
    );
    house.hook(7, A, tool_event("PermissionDenied", "Bash", json!({"command": "rm -r x"}), "t3"));
    let told = seen(&house).unwrap();
    assert_eq!((told.count, told.in_a_row, told.last.target.as_str()), (2, 1, "rm -r x"));
}

#[test]
fn refusals_by_rules_and_people_are_not_the_reviewers() {
    let mut house = House::live();
    house.registry(7, A, "busy").write(A, prompt("go"));
    for (n, kind) in ["permission-rule", "user-rejected", "interrupted"].into_iter().enumerate() {
        let id = format!("t{n}");
        house.write_all(A, [bash(&id, "make"), refused(&id, kind)]);
    }
    assert_eq!(seen(&house), None);
}

#[test]
fn three_in_a_row_and_an_unavailable_reviewer_are_alerted_and_never_counted() {
    let mut house = House::live();
    house.registry(7, A, "busy").write(A, prompt("go")).at(1.0);
    for n in 0..4 {
        let id = format!("t{n}");
        house
            .write_all(A, [bash(&id, "git push"), refused(&id, "automode-blocked")])
            .at(f64::from(n) * 10.0 + 9.0);
        let expected: &[Need] = if n == 2 { &[Need::RefusedInARow] } else { &[] };
        assert_eq!(
            raised(&mut house),
            expected,
            "{n}: one refusal is silent at first, and an episode is told once"
        );
    }
    assert_eq!((house.row(A).needs, house.row(A).refused.unwrap().in_a_row), (None, 4));
    house.write_all(A, [bash("ok", "ls"), result("ok")]).at(50.0);
    house.out.clear();
    house.write_all(A, [bash("u", "git push"), refused("u", "automode-unavailable")]).at(60.0);
    let outcomes = house.outcomes();
    assert!(matches!(&*outcomes, [AttentionEvent::Raised { .. }]), "and nothing is counted: {outcomes:?}");
    // The end of the turn ends the alert.
    house.out.clear();
    house.registry(7, A, "idle").write_all(A, [answer("done"), turn_over()]);
    let cleared = |outcome: &AttentionEvent| {
        matches!(outcome, AttentionEvent::Cleared { need: Need::RefusedInARow, .. })
    };
    assert!(house.outcomes().iter().any(cleared));
}

#[test]
fn the_calls_of_subagents_count_too() {
    let mut house = House::live();
    house
        .registry(7, A, "busy")
        .write_all(A, [prompt("go"), bash("t1", "git push"), refused("t1", "automode-blocked")])
        .at(2.0);
    let agent = transcript(PROJECT, A).with_extension("").join("subagents/agent-a1b2c3d.jsonl");
    let lines: String = [bash("s1", "npm publish"), refused("s1", "automode-blocked")]
        .into_iter()
        .map(|mut record| {
            record["isSidechain"] = json!(true);
            record["agentId"] = json!("a1b2c3d");
            house.line(A, record)
        })
        .collect();
    house.append_bytes(&agent, lines.as_bytes());
    let told = seen(&house).unwrap();
    assert_eq!((told.count, told.last.target.as_str()), (2, "npm publish"));
}
