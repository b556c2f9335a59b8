//! What hooks alone can tell, and what they must not be believed.

use serde_json::json;
use watchbill_core::time::Millis;
use watchbill_engine::input::{Input, Output};

use crate::desk::{A, B, Desk, ROOT, answer, event, prompt, tool_event, turn_over};

#[test]
fn edge_51_a_session_without_a_file_has_a_row_from_its_first_hook_on() {
    let mut desk = Desk::live();
    desk.run(7).at(1.0);
    desk.hook(7, A, json!({"hook_event_name": "SessionStart", "source": "startup", "model": "claude-x"}));
    let row = desk.row(A);
    assert_eq!(
        (row.pid, row.cwd.as_deref(), row.model.as_deref()),
        (Some(7), Some("/home/dev/work"), Some("claude-x"))
    );
    assert!(row.transcript_path.is_none(), "it does not exist yet");
    // Its process is watched as one of the registry is.
    assert_ne!(desk.state(A), "ended/crashed");
    desk.at(2.0).kill(7);
    assert_eq!(desk.state(A), "", "nothing was ever written, nobody runs it: there is nothing to show");
}

#[test]
fn edge_52_a_hook_leads_to_its_transcript_without_a_hint() {
    let mut desk = Desk::live();
    desk.run(7);
    let line = desk.line(A, prompt("go"));
    desk.stage.fs.append(Desk::transcript(A), line.as_bytes());
    // The file system's own hint is lost.
    desk.stage.hints.take();
    desk.hook(7, A, json!({"hook_event_name": "UserPromptSubmit", "prompt": "go"}));
    assert_eq!(desk.row(A).goal.as_deref(), Some("go"));
    // A path outside of the agent's folders is nothing that anybody asked to have read.
    desk.stage.fs.write("/elsewhere/x.jsonl", line.as_bytes());
    desk.hook(8, B, json!({"hook_event_name": "UserPromptSubmit", "transcript_path": "/elsewhere/x.jsonl"}));
    assert_eq!(desk.row(A).goal.as_deref(), Some("go"));
    assert!(desk.engine.main_file(&watchbill_core::ids::SessionId::new(B)).is_none());
}

#[test]
fn edge_57_an_event_that_is_heard_twice_counts_once() {
    let mut desk = Desk::live();
    desk.registry(7, A, "busy").say(A, prompt("go"));
    let message = desk.hook_message(7, A, event("SubagentStart"));
    desk.step(Input::Hooks(vec![message.clone(), message.clone()]));
    let told = |desk: &Desk| {
        let told = desk.engine.hooks().of(&watchbill_core::ids::SessionId::new(A)).unwrap();
        told.witness(&[]).map(|witness| witness.agents_running)
    };
    let once = told(&desk);
    desk.step(Input::Hooks(vec![message]));
    assert_eq!(told(&desk), once);
}

#[test]
fn what_is_no_payload_is_counted_and_nothing_else() {
    let mut desk = Desk::live();
    let mut message = desk.hook_message(7, A, event("Stop"));
    for text in ["", "{", "[]", "{\"session_id\":\"x\"}", "nonsense"] {
        message.payload = text.as_bytes().into();
        desk.step(Input::Hooks(vec![message.clone()]));
    }
    assert_eq!(desk.problems(), [("malformed_hook".to_owned(), 5)]);
    assert_eq!(desk.state(A), "");
}

#[test]
fn an_agent_in_another_world_of_process_ids_is_not_called_dead() {
    // A container that shares our folder: its hooks reach us, its process ids mean nothing here.
    let mut desk = Desk::live();
    let message = desk.hook_message(7, A, json!({"hook_event_name": "UserPromptSubmit", "prompt": "go"}));
    desk.stage
        .processes
        .set(message.origin.agent.clone().unwrap(), watchbill_core::evidence::registry::Liveness::Dead);
    desk.step(Input::Hooks(vec![message]));
    desk.at(1.0);
    assert_ne!(desk.state(A), "ended/crashed");
    desk.step(Input::ProcessEnded(None));
    assert_ne!(desk.state(A), "ended/crashed");
}

#[test]
fn events_that_were_kept_for_us_tell_of_the_past() {
    let mut desk = Desk::live();
    desk.say_all(A, [prompt("go"), answer("done"), turn_over()]).at(3600.0);
    let mut message = desk.hook_message(7, A, event("Stop"));
    message.origin.at = desk.begin + Millis(1);
    message.replayed = true;
    let agent = message.origin.agent.clone().unwrap();
    desk.stage.processes.set(agent, watchbill_core::evidence::registry::Liveness::Dead);
    desk.step(Input::Hooks(vec![message]));
    assert!(desk.told.iter().all(|told| !told.starts_with("working")), "{:?}", desk.told);
    assert_eq!(desk.row(A).state, "ended", "the process that sent it is gone");
}

#[test]
fn a_process_that_hooks_come_from_is_watched_for_its_end() {
    let mut desk = Desk::live();
    desk.run(7).say(A, prompt("go"));
    let message = desk.hook_message(7, A, tool_event("PreToolUse", "Bash", json!({"command": "ls"}), "t1"));
    let out = desk.engine.step(desk.now, Input::Hooks(vec![message]));
    assert!(out.contains(&Output::WatchProcess(7)), "{out:?}");
    desk.kill(7);
    assert_eq!(desk.state(A), "ended/crashed");
    assert!(ROOT.starts_with('/'));
}
