//! Work that goes on after a turn.

use serde_json::json;

use super::records::{A, answer, bash, prompt, result, turn_over};
use crate::house::House;

fn started_in_background(house: &mut House) {
    let mut goes_on = result("t1");
    goes_on["toolUseResult"] = json!({"backgroundTaskId": "b1"});
    house.registry(7, A, "busy");
    house.write_all(A, [prompt("serve it"), bash("t1", "serve"), goes_on, answer("it runs"), turn_over()]);
    house.at(1.0).registry(7, A, "shell");
}

#[test]
fn edge_31_a_background_shell_is_no_need() {
    let mut house = House::live();
    started_in_background(&mut house);
    assert_eq!(house.state(A), "waiting_for_input/background");
    assert_eq!(house.row(A).background_tasks, Some(1));
}

#[test]
fn edge_32_a_turn_whose_subagents_go_on_is_finished_once() {
    let launched = || {
        let mut house = House::live();
        let mut launched = result("t1");
        launched["toolUseResult"] = json!({"status": "async_launched", "agentId": "a1"});
        house
            .registry(7, A, "busy")
            .write_all(A, [prompt("go"), bash("t1", "x"), launched, answer("launched"), turn_over()]);
        house.at(20.0).transitions.clear();
        house
    };
    let text = "<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>\n</task-notification>";
    let report = json!({"type": "user", "promptSource": "system", "origin": {"kind": "task-notification"},
        "message": {"role": "user", "content": text}});
    // For some 40 ms the registry says that no work is running.
    let mut house = launched();
    house.registry(7, A, "idle").at(20.04).registry(7, A, "busy").at(20.3).write(A, report.clone());
    house.at(22.0).write_all(A, [answer("they found it"), turn_over()]).registry(7, A, "idle").at(30.0);
    assert_eq!(house.transitions, ["working", "waiting_for_input/turn_ended"]);
    // The engine may read the report before it reads `busy`.
    let mut house = launched();
    house.registry(7, A, "idle").at(20.04).write(A, report).at(20.06).registry(7, A, "busy");
    house.at(22.0).write_all(A, [answer("they found it"), turn_over()]).registry(7, A, "idle").at(30.0);
    assert_eq!(house.transitions, ["working", "waiting_for_input/turn_ended"]);
}

#[test]
fn edge_33_a_turn_begun_by_a_task_is_no_prompt_of_the_user() {
    let mut house = House::live();
    started_in_background(&mut house);
    let text = "<task-notification>\n<task-id>b1</task-id>\n<status>completed</status>\n</task-notification>";
    house.at(60.0).registry(7, A, "busy").write(
        A,
        json!({"type": "user", "promptSource": "system", "origin": {"kind": "task-notification"},
            "message": {"role": "user", "content": text}}),
    );
    let row = house.row(A);
    assert_eq!(house.state(A), "working");
    assert_eq!((row.goal.as_deref(), row.background_tasks), (Some("serve it"), None));
    house.write_all(A, [answer("it ended"), turn_over()]).registry(7, A, "idle");
    assert_eq!(house.state(A), "waiting_for_input/turn_ended");
}

#[test]
fn edge_34_background_work_dies_with_its_client() {
    let mut house = House::live();
    started_in_background(&mut house);
    house.write(A, json!({"type": "queue-operation", "operation": "enqueue", "content": "and then this"}));
    assert_eq!(house.row(A).queued_prompts, Some(1));
    house.at(5.0).kill(7, "700");
    let row = house.row(A);
    assert_eq!(house.state(A), "ended/crashed");
    assert_eq!((row.background_tasks, row.queued_prompts), (None, None));
    assert!(row.subagents.is_none_or(|agents| agents.running == 0));
}
