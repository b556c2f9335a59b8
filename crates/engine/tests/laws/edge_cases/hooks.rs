//! States that only hooks report, and hook events that must not be believed.

use serde_json::json;
use watchbill_core::time::Millis;
use watchbill_engine::input::{Input, Output};

use watchbill_core::hook::TerminalContext;

use super::records::{A, B, answer, event, prompt, tool_event, turn_over};
use crate::house::{CWD, House, PROJECT, start_of, transcript};

#[test]
fn edge_51_a_session_without_a_file_has_a_row_from_its_first_hook() {
    let mut house = House::live();
    house.run(7, "700").at(1.0);
    house.hook(7, A, json!({"hook_event_name": "SessionStart", "source": "startup", "model": "claude-x"}));
    let row = house.row(A);
    assert_eq!(
        (row.pid, row.cwd.as_deref(), row.model.as_deref()),
        (Some(7), Some("/home/dev/work"), Some("claude-x"))
    );
    assert!(row.transcript_path.is_none(), "it does not exist yet");
    // Its process is watched like one from the registry.
    assert_ne!(house.state(A), "ended/crashed");
    house.at(2.0).kill(7, "700");
    assert_eq!(house.state(A), "", "it has no transcript and no process, so it has no row");
}

#[test]
fn edge_52_a_hook_leads_to_its_transcript_without_a_hint() {
    let mut house = House::live();
    house.run(7, "700");
    let line = house.line(A, prompt("go"));
    house.stage.fs.append(transcript(PROJECT, A), line.as_bytes());
    // The file system's own hint is lost.
    house.stage.hints.take();
    house.hook(7, A, json!({"hook_event_name": "UserPromptSubmit", "prompt": "go"}));
    assert_eq!(house.row(A).goal.as_deref(), Some("go"));
    // A path outside the agent's folders must not be read.
    house.stage.fs.write("/elsewhere/x.jsonl", line.as_bytes());
    house.hook(8, B, json!({"hook_event_name": "UserPromptSubmit", "transcript_path": "/elsewhere/x.jsonl"}));
    assert_eq!(house.row(A).goal.as_deref(), Some("go"));
    assert!(house.engine.main_file(&watchbill_core::ids::SessionId::new(B)).is_none());
}

#[test]
fn edge_57_a_hook_event_received_twice_counts_once() {
    let mut house = House::live();
    house.registry(7, A, "busy").write(A, prompt("go"));
    let message = house.hook_message(7, A, event("SubagentStart"));
    house.step(Input::Hooks(vec![message.clone(), message.clone()]));
    let agents_running = |house: &House| {
        let agents_running = house.engine.hooks().of(&watchbill_core::ids::SessionId::new(A)).unwrap();
        agents_running.witness(&[]).map(|witness| witness.agents_running)
    };
    let once = agents_running(&house);
    house.step(Input::Hooks(vec![message]));
    assert_eq!(agents_running(&house), once);
}

#[test]
fn malformed_hook_payloads_are_counted_and_ignored() {
    let mut house = House::live();
    let mut message = house.hook_message(7, A, event("Stop"));
    for text in ["", "{", "[]", "{\"session_id\":\"x\"}", "nonsense"] {
        message.payload = text.as_bytes().into();
        house.step(Input::Hooks(vec![message.clone()]));
    }
    assert_eq!(house.problem_counts(), [("malformed_hook".to_owned(), 5)]);
    assert_eq!(house.state(A), "");
}

#[test]
fn a_client_in_another_pid_namespace_is_not_shown_as_crashed() {
    // A container that shares the data folder: its hooks arrive, but its process ids mean nothing here.
    let mut house = House::live();
    let message = house.hook_message(7, A, json!({"hook_event_name": "UserPromptSubmit", "prompt": "go"}));
    house
        .stage
        .processes
        .set(message.origin.agent.clone().unwrap(), watchbill_core::evidence::registry::Liveness::Dead);
    house.step(Input::Hooks(vec![message]));
    house.at(1.0);
    assert_ne!(house.state(A), "ended/crashed");
    house.step(Input::ProcessEnded(None));
    assert_ne!(house.state(A), "ended/crashed");
}

#[test]
fn replayed_hook_events_count_as_past_events() {
    let mut house = House::live();
    house.write_all(A, [prompt("go"), answer("done"), turn_over()]).at(3600.0);
    let mut message = house.hook_message(7, A, event("Stop"));
    message.origin.at = house.begin + Millis(1);
    message.replayed = true;
    let agent = message.origin.agent.clone().unwrap();
    house.stage.processes.set(agent, watchbill_core::evidence::registry::Liveness::Dead);
    house.step(Input::Hooks(vec![message]));
    assert!(
        house.transitions.iter().all(|transition| !transition.starts_with("working")),
        "{:?}",
        house.transitions
    );
    assert_eq!(house.row(A).state, "ended", "the process that sent it is gone");
}

#[test]
fn a_process_that_sends_hooks_is_watched_for_its_end() {
    let mut house = House::live();
    house.run(7, "700").write(A, prompt("go"));
    let message = house.hook_message(7, A, tool_event("PreToolUse", "Bash", json!({"command": "ls"}), "t1"));
    let out = house.engine.step(house.now, Input::Hooks(vec![message]));
    assert!(out.contains(&Output::WatchProcess(7)), "{out:?}");
    house.kill(7, "700");
    assert_eq!(house.state(A), "ended/crashed");
}

fn ask(id: &str, command: &str) -> serde_json::Value {
    json!({"hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": {"command": command}, "agent_id": id})
}

#[test]
fn edge_02_a_request_answered_by_a_reviewer_is_never_shown() {
    for millis in [0.09, 0.9] {
        // Only hooks: there is no registry file that would show the answer.
        let mut house = House::live();
        house.run(7, "700").hook(7, A, json!({"hook_event_name": "UserPromptSubmit", "prompt": "go"}));
        house.write(A, prompt("go")).at(1.0);
        let input = json!({"command": "ls"});
        house.hook(7, A, tool_event("PreToolUse", "Bash", input.clone(), "t1"));
        house.hook(
            7,
            A,
            json!({"hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": input}),
        );
        assert_eq!(house.state(A), "working");
        house.at(1.0 + millis).hook(7, A, tool_event("PostToolUse", "Bash", input.clone(), "t1")).at(30.0);
        assert!(
            !house.transitions.iter().any(|transition| transition.starts_with("waiting_for_approval")),
            "{:?}",
            house.transitions
        );
    }
}

#[test]
fn edge_07_each_subagents_request_is_answered_on_its_own() {
    let mut house = House::live();
    house.run(7, "700").hook(7, A, json!({"hook_event_name": "UserPromptSubmit", "prompt": "go"}));
    house.write(A, prompt("go")).at(1.0);
    house.hook(7, A, ask("one", "make a")).hook(7, A, ask("two", "make b")).at(10.0);
    assert_eq!(house.state(A), "waiting_for_approval/permission");
    let done = |agent: &str, command: &str| {
        json!({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": command},
            "tool_use_id": format!("t-{agent}"), "agent_id": agent})
    };
    house.hook(7, A, done("one", "make a")).at(20.0);
    assert_eq!(house.state(A), "waiting_for_approval/permission", "the other one still asks");
    assert!(house.row(A).state_reason.detail.contains("make b"), "{:?}", house.row(A).state_reason);
    house.hook(7, A, done("two", "make b")).at(21.0);
    assert_eq!(house.state(A), "working");
}

#[test]
fn edge_08_the_end_of_a_subagent_is_not_the_end_of_the_turn_and_makes_no_session() {
    let mut house = House::live();
    house.run(7, "700").hook(7, A, json!({"hook_event_name": "UserPromptSubmit", "prompt": "go"}));
    house.write(A, prompt("go")).at(2.0);
    house.hook(7, A, json!({"hook_event_name": "SubagentStop", "agent_id": "x", "agent_type": "general"}));
    assert_eq!(house.state(A), "working");
    assert_eq!(house.engine.current(true).rows.len(), 1);
}

#[test]
fn edge_38_a_compaction_is_shown_while_it_runs() {
    let mut house = House::live();
    house.registry(7, A, "idle").write_all(A, [prompt("go"), answer("done"), turn_over()]);
    house.at(5.0).registry(7, A, "busy");
    house.hook(7, A, json!({"hook_event_name": "PreCompact", "trigger": "manual"}));
    house.at(31.0);
    assert_eq!(house.state(A), "working/compacting", "half a minute without a record is not stale");
    house.hook(7, A, json!({"hook_event_name": "PostCompact", "trigger": "manual"}));
    house.registry(7, A, "idle").at(34.0);
    assert_eq!(house.state(A), "waiting_for_input/turn_ended");
}

#[test]
fn edge_47_a_nested_client_is_no_witness_of_its_parents_turn() {
    let mut house = House::live();
    house.registry(7, A, "busy").write(A, prompt("go")).at(1.0);
    // A nested client inherits the session id; its hooks come from its own process.
    let mut message = house.hook_message(70, A, json!({"hook_event_name": "Stop"}));
    message.origin.ancestors = [70, 71, 7, 1].into();
    house.run(70, "7000").step(Input::Hooks(vec![message]));
    assert_eq!(house.state(A), "working");
    assert_eq!(house.row(A).pid, Some(7));
    house.kill(70, "7000");
    assert_eq!(house.state(A), "working", "nor is its end the session's");
}

#[test]
fn edge_37_hooks_alone_show_a_clear() {
    let mut house = House::live();
    house.run(7, "700").hook(7, A, json!({"hook_event_name": "SessionStart", "source": "startup"}));
    house.write_all(A, [prompt("one"), answer("done"), turn_over()]).at(5.0);
    // Events may arrive in another order than they were sent.
    let end = house.hook_message(7, A, json!({"hook_event_name": "SessionEnd", "reason": "clear"}));
    house.at(5.15);
    let start = house.hook_message(7, B, json!({"hook_event_name": "SessionStart", "source": "clear"}));
    house.step(Input::Hooks(vec![start, end]));
    house.write(B, prompt("two")).at(8.0);
    let (old, new) = (house.row(A), house.row(B));
    assert_eq!(old.superseded_by.as_deref(), Some(B));
    assert_eq!(old.work_chain_id, new.work_chain_id);
    assert_eq!((old.pid, new.pid), (None, Some(7)));
    assert_eq!(old.state, "ended");
}

#[test]
fn a_marker_supersedes_only_a_session_of_its_own_terminal() {
    let mut house = House::live();
    let terminal = |n: u32| TerminalContext {
        kind: "kitty".into(),
        ids: [("KITTY_WINDOW_ID".into(), n.to_string().into())].into(),
    };
    let start = |house: &mut House, pid: u32, session: &str, window: u32| {
        let mut message =
            house.hook_message(pid, session, json!({"hook_event_name": "SessionStart", "source": "startup"}));
        message.origin.terminal = Some(terminal(window));
        house.run(pid, &start_of(pid)).step(Input::Hooks(vec![message]));
    };
    start(&mut house, 7, A, 1);
    house.write_all(A, [prompt("one"), answer("done"), turn_over()]).at(10.0);
    start(&mut house, 8, B, 2);
    assert_eq!(house.row(A).terminal.map(|terminal| terminal.kind).as_deref(), Some("kitty"));
    let marker = json!({"newSessionId": B, "cwd": CWD, "compactedAt": house.now.to_string()});
    house.at(11.0).write_in_folder(&format!("compacted.{B}.marker"), &marker.to_string());
    house.write(B, prompt("two")).at(12.0);
    assert_eq!(house.row(A).superseded_by, None, "the window beside it is of another session");
}

#[test]
fn a_compacted_session_that_is_resumed_elsewhere_stays_in_the_chain() {
    let mut house = House::live();
    let hook = |house: &mut House, pid: u32, session: &str, window: u32, source: &str| {
        let mut message =
            house.hook_message(pid, session, json!({"hook_event_name": "SessionStart", "source": source}));
        message.origin.terminal = Some(TerminalContext {
            kind: "kitty".into(),
            ids: [("KITTY_WINDOW_ID".into(), window.to_string().into())].into(),
        });
        house.run(pid, &start_of(pid)).step(Input::Hooks(vec![message]));
    };
    hook(&mut house, 7, A, 1, "startup");
    house.write_all(A, [prompt("one"), answer("done"), turn_over()]).at(10.0);
    house.hook(7, A, json!({"hook_event_name": "SessionEnd", "reason": "other"}));
    let marker = json!({"newSessionId": B, "cwd": CWD, "compactedAt": house.now.to_string()});
    house.at(10.5).write_in_folder(&format!("compacted.{B}.marker"), &marker.to_string());
    hook(&mut house, 8, B, 1, "startup");
    house.write(B, prompt("two")).at(12.0);
    assert_eq!(house.row(A).superseded_by.as_deref(), Some(B));
    let chain = house.row(A).work_chain_id;
    assert_eq!(house.row(B).work_chain_id, chain);
    hook(house.at(300.0), 9, A, 2, "resume");
    assert_eq!((house.row(A).superseded_by, house.row(B).work_chain_id), (None, chain.clone()));
    house.write(A, prompt("three")).at(310.0);
    assert_eq!((house.row(A).superseded_by, house.row(B).work_chain_id), (None, chain));
}

#[test]
fn edge_35_a_resumed_session_is_not_ended_by_events_of_its_old_process() {
    let mut house = House::live();
    house.run(7, "700").hook(7, A, json!({"hook_event_name": "SessionStart", "source": "startup"}));
    house.write_all(A, [prompt("one"), answer("done"), turn_over()]).at(5.0);
    house.hook(7, A, json!({"hook_event_name": "SessionEnd", "reason": "other"})).kill(7, "700");
    assert_eq!(house.state(A), "ended");
    house.at(60.0).run(8, "800").hook(8, A, json!({"hook_event_name": "SessionStart", "source": "resume"}));
    assert_eq!((house.row(A).state.as_str(), house.row(A).pid), ("waiting_for_input", Some(8)));
}

#[test]
fn a_session_is_superseded_when_its_process_ends_after_the_work_went_on() {
    // Only hooks report the process.
    let mut house = House::live();
    house.run(7, "700").write(A, prompt("go"));
    house.hook(7, A, json!({"hook_event_name": "UserPromptSubmit", "prompt": "go"}));
    let mut cleared = json!({"type": "user", "message": {"role": "user", "content": "<command-name>/clear</command-name>"}});
    cleared["session_id"] = A.into();
    house.at(60.0).write(B, cleared);
    assert_eq!(house.row(A).superseded_by, None, "a process is on it");
    house.at(70.0).kill(7, "700");
    assert_eq!(house.row(A).superseded_by.as_deref(), Some(B));
}

#[test]
fn a_late_compaction_event_still_ties_the_sessions() {
    let mut house = House::live();
    house.run(7, "700").write(A, prompt("go"));
    house.hook(7, A, json!({"hook_event_name": "UserPromptSubmit", "prompt": "go"}));
    let late = house.at(10.0).hook_message(7, A, json!({"hook_event_name": "PreCompact", "trigger": "auto"}));
    house.at(11.0).hook(7, B, json!({"hook_event_name": "SessionStart", "source": "compact"}));
    house.write(B, prompt("on"));
    house.step(Input::Hooks(vec![late]));
    assert_eq!(house.row(B).work_chain_id, house.row(A).work_chain_id);
}

#[test]
fn a_dialog_of_the_agent_is_a_need_by_its_notification_alone() {
    let needs_input = || json!({"hook_event_name": "Notification", "notification_type": "agent_needs_input"});
    let run = |id: &str| json!({"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": id});
    let hook = |house: &mut House, name: &str, mut payload: serde_json::Value| {
        payload["hook_event_name"] = json!(name);
        house.hook(7, A, payload);
    };
    let mut house = House::live();
    house.run(7, "700").at(1.0);
    house.hook(7, A, json!({"hook_event_name": "SessionStart", "source": "startup"}));
    // The agent view says so of other sessions, while its own has no turn.
    house.hook(7, A, needs_input());
    assert_eq!(house.row(A).needs, None);
    house.hook(7, A, json!({"hook_event_name": "UserPromptSubmit", "prompt": "go"}));
    hook(&mut house, "PreToolUse", run("1"));
    house.at(2.0).hook(7, A, needs_input());
    let row = house.row(A);
    assert_eq!((&*row.state, row.state_kind.as_deref()), ("waiting_for_approval", Some("dialog")));
    assert_eq!(row.state_reason.detail, "a hook says that a dialog of the agent is open");
    assert!(row.request.is_none(), "it is answered in its terminal");
    // The user closes it, and the call runs.
    house.at(9.0);
    hook(&mut house, "PostToolUse", run("1"));
    assert_eq!(house.row(A).state, "working");
    // An event of a later client is a sign of life, and says nothing of the state.
    for name in ["PreSkillShellCommand", "SomethingNew"] {
        hook(&mut house, name, run("2"));
        assert_eq!(house.row(A).state, "working", "{name}");
    }
    assert_eq!(house.problem_counts(), []);
}
