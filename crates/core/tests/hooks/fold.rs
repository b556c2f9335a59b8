//! The fold of hook events: any order of arrival gives one reading, and each event has its effect.

use std::sync::Arc;

use proptest::prelude::*;
use watchbill_agents::claude::hooks::parse_payload;
use watchbill_core::hook::event::EndReason;
use watchbill_core::hook::{HookFold, HookOrigin, HookPayload, HookTurn, HookWitness};
use watchbill_core::ids::Instance;
use watchbill_core::session::state::StateKind;
use watchbill_core::time::{Millis, Timestamp};

pub fn at(ms: i64) -> Timestamp {
    Timestamp::from_millis(1_795_188_000_000 + ms)
}

pub fn process(pid: u32) -> Instance {
    Instance { pid, proc_start: Some(Arc::from("100")) }
}

/// An event of process 7 at a time.
pub fn event(ms: i64, body: &str) -> (HookOrigin, HookPayload) {
    event_of(7, &[7], ms, body)
}

pub fn event_of(pid: u32, ancestors: &[u32], ms: i64, body: &str) -> (HookOrigin, HookPayload) {
    let origin = HookOrigin {
        id: Arc::from(format!("{pid}/{ms}/{body}")),
        at: at(ms),
        order: 1_000_000_000 + u64::try_from(ms).expect("a time") * 1_000_000,
        agent: Some(process(pid)),
        ancestors: Arc::from(ancestors),
        terminal: None,
    };
    let text = format!(r#"{{"session_id":"s","hook_event_name":{body}}}"#);
    (origin, parse_payload(text.as_bytes()).expect("a payload"))
}

pub const PROMPT: &str = r#""UserPromptSubmit","prompt":"go","prompt_id":"p1""#;
pub const STOP: &str = r#""Stop","prompt_id":"p1","background_tasks":[]"#;

pub fn pre(id: &str, tool: &str, more: &str) -> String {
    format!(
        r#""PreToolUse","tool_name":"{tool}","tool_use_id":"{id}","tool_input":{{"command":"{id}"}}{more}"#
    )
}

pub fn ask(id: &str, tool: &str, more: &str) -> String {
    format!(r#""PermissionRequest","tool_name":"{tool}","tool_input":{{"command":"{id}"}}{more}"#)
}

pub fn post(id: &str, tool: &str, more: &str) -> String {
    format!(
        r#""PostToolUse","tool_name":"{tool}","tool_use_id":"{id}","tool_input":{{"command":"{id}"}}{more}"#
    )
}

pub fn fold(events: &[(HookOrigin, HookPayload)]) -> HookFold {
    let mut fold = HookFold::default();
    for (origin, payload) in events {
        fold.apply(origin, payload);
    }
    fold
}

pub fn witness(events: &[(i64, &str)]) -> HookWitness {
    let events: Vec<_> = events.iter().map(|(ms, body)| event(*ms, body)).collect();
    fold(&events).witness(&[]).expect("something was said")
}

#[test]
fn a_request_names_the_call_before_it() {
    let (call, request) = (pre("t1", "Bash", ""), ask("t1", "Bash", ""));
    let state = witness(&[(0, PROMPT), (10, &pre("t0", "Bash", "")), (100, &call), (160, &request)]);
    let ask = &state.asks[0];
    assert_eq!((ask.call.as_deref(), &*ask.tool, &*ask.target, ask.at), (Some("t1"), "Bash", "t1", at(160)));
    assert_eq!(state.asks.len(), 1);
}

#[test]
fn edge_07_requests_of_several_subagents_wait_side_by_side() {
    let of = |agent: &str| format!(r#","agent_id":"{agent}","agent_type":"x""#);
    let requests: Vec<String> = ["a", "b", "c"].iter().map(|agent| ask(agent, "Write", &of(agent))).collect();
    let done = post("b", "Write", &of("b"));
    let mut events = vec![(0, PROMPT)];
    events.extend(requests.iter().enumerate().map(|(n, body)| (100 + n as i64 * 10, &**body)));
    events.push((500, STOP));
    events.push((600, &done));
    let state = witness(&events);
    let agents: Vec<_> = state.asks.iter().filter_map(|ask| ask.agent.as_deref()).collect();
    assert_eq!(
        agents,
        ["a", "c"],
        "the end of the turn clears no subagent's request, an answer clears its own"
    );
    let stop = r#""SubagentStop","agent_id":"a","agent_type":"x""#;
    events.push((700, stop));
    let state = witness(&events);
    assert_eq!(state.asks.iter().filter_map(|ask| ask.agent.as_deref()).collect::<Vec<_>>(), ["c"]);
    assert!(matches!(state.turn, HookTurn::Ended { .. }), "a subagent's end moves no turn");
}

#[test]
fn edge_06_the_calls_of_one_agent_ask_one_after_another() {
    let (a, b) = (pre("a", "WebFetch", ""), pre("b", "WebFetch", ""));
    let (ask_a, ask_b) = (ask("a", "WebFetch", ""), ask("b", "WebFetch", ""));
    let state = witness(&[(0, PROMPT), (10, &a), (12, &b), (60, &ask_a), (3_000, &ask_b)]);
    assert_eq!(state.asks.iter().map(|ask| &*ask.target).collect::<Vec<_>>(), ["b"]);
    assert_eq!(state.calls.len(), 2);
}

#[test]
fn edge_08_a_subagents_events_move_no_turn() {
    let of = r#","agent_id":"a","agent_type":"x""#;
    let (call, done) = (pre("t", "Bash", of), post("t", "Bash", of));
    let start = r#""SubagentStart","agent_id":"a","agent_type":"x""#;
    let stop =
        r#""SubagentStop","agent_id":"a","agent_type":"x","background_tasks":[{"id":"a","type":"subagent"}]"#;
    let running =
        r#""Stop","prompt_id":"p1","background_tasks":[{"id":"a","type":"subagent","status":"running"}]"#;
    let state = witness(&[(0, PROMPT), (10, start), (20, &call), (30, running), (40, &done)]);
    assert_eq!((state.agents_running, matches!(state.turn, HookTurn::Ended { .. })), (1, true));
    assert_eq!((state.since, state.calls.len()), (at(30), 0));
    let state = witness(&[(0, PROMPT), (10, start), (20, &call), (30, running), (40, &done), (50, stop)]);
    assert_eq!((state.agents_running, state.agents_ended), (0, Some(at(50))));
    // The worker of a compaction moves no turn either; no SubagentStart announced it.
    let worker = r#""SubagentStop","agent_id":"w","agent_type":"""#;
    let state = witness(&[(0, PROMPT), (10, r#""PreCompact","trigger":"auto""#), (20, worker)]);
    assert_eq!((state.compacting, state.agents_ended, state.turn), (Some(at(10)), None, HookTurn::Running));
}

#[test]
fn edge_38_a_compaction_lasts_from_hook_to_hook_and_leaves_the_turn_as_it_was() {
    let before = r#""PreCompact","trigger":"manual","prompt_id":"p2""#;
    let after = r#""PostCompact","trigger":"manual","prompt_id":"p2""#;
    let start = r#""SessionStart","source":"compact""#;
    let state = witness(&[(0, PROMPT), (100, STOP), (200, before)]);
    assert_eq!((state.compacting, matches!(state.turn, HookTurn::Ended { .. })), (Some(at(200)), true));
    for ends in [vec![(300, start), (310, after)], vec![(300, after)], vec![(300, start)]] {
        let mut events = vec![(0, PROMPT), (100, STOP), (200, before)];
        events.extend(ends);
        let state = witness(&events);
        assert_eq!(state.compacting, None);
        assert!(matches!(state.turn, HookTurn::Ended { .. }), "{state:?}");
    }
    let state =
        witness(&[(0, PROMPT), (200, r#""PreCompact","trigger":"auto","prompt_id":"p1""#), (300, start)]);
    assert_eq!((state.compacting, state.turn), (None, HookTurn::Running));
}

#[test]
fn edge_47_a_nested_client_under_the_same_id_is_no_witness() {
    let mut events = vec![event(0, PROMPT), event(100, &pre("t", "Bash", ""))];
    // `claude -p` in that call: its hooks name the same session, and their ancestors pass through process 7.
    events.push(event_of(9, &[9, 8, 7], 200, r#""UserPromptSubmit","prompt":"x""#));
    events.push(event_of(9, &[9, 8, 7], 900, STOP));
    events.push(event_of(9, &[9, 8, 7], 950, r#""SessionEnd","reason":"other""#));
    let all = fold(&events);
    let state = all.witness(&[]).expect("a witness");
    assert_eq!((state.turn, state.agent), (HookTurn::Running, Some(process(7))));
    assert_eq!(all.witness(&[process(7)]).map(|state| state.turn), Some(HookTurn::Running));
    assert_eq!(all.witness(&[process(1)]), None, "of another process than the one that runs the session");
    // Without the hooks of the outer process, only the registry can tell.
    let inner = fold(&events[2..]);
    assert_eq!(inner.witness(&[process(7)]), None);
}

#[test]
fn edge_35_a_new_process_starts_afresh() {
    let mut events = vec![event(0, PROMPT), event(50, &ask("t", "Bash", ""))];
    events.push(event_of(9, &[9], 60_000, r#""SessionStart","source":"resume""#));
    let state = fold(&events).witness(&[]).expect("a witness");
    assert_eq!((state.turn, state.asks.len(), state.agent), (HookTurn::NoPrompt, 0, Some(process(9))));
}

#[test]
fn edge_36_each_of_two_processes_speaks_for_itself() {
    let events = [event(0, PROMPT), event_of(9, &[9], 10, PROMPT), event_of(9, &[9], 500, STOP)];
    let all = fold(&events);
    assert_eq!(all.witness(&[process(7)]).map(|state| state.turn), Some(HookTurn::Running));
    assert!(matches!(all.witness(&[process(9)]).map(|state| state.turn), Some(HookTurn::Ended { .. })));
}

#[test]
fn edge_13_a_refusal_by_the_auto_mode_lets_the_turn_go_on() {
    let denied = r#""PermissionDenied","tool_name":"Bash","tool_use_id":"t","tool_input":{"command":"t"}"#;
    let state =
        witness(&[(0, PROMPT), (10, &pre("t", "Bash", "")), (20, &ask("t", "Bash", "")), (60, denied)]);
    assert_eq!((state.asks.len(), state.calls.len(), state.turn), (0, 0, HookTurn::Running));
}

#[test]
fn print_mode_reports_its_denial_with_the_batch() {
    let batch = r#""PostToolBatch","tool_calls":[{"tool_name":"Bash","tool_use_id":"t"}]"#;
    let state =
        witness(&[(0, PROMPT), (10, &pre("t", "Bash", "")), (20, &ask("t", "Bash", "")), (150, batch)]);
    assert_eq!((state.asks.len(), state.calls.len(), state.turn), (0, 0, HookTurn::Running));
}

#[test]
fn events_whose_senders_started_in_the_wrong_order_do_no_harm() {
    // The end of a turn that arrives after the next prompt; a call that arrives after its result; a request that
    // arrives after it.
    let next = r#""UserPromptSubmit","prompt":"more","prompt_id":"p2""#;
    let state = witness(&[(0, PROMPT), (500, next), (510, STOP)]);
    assert_eq!((state.turn, state.prompt_at), (HookTurn::Running, Some(at(500))));
    let state = witness(&[(0, PROMPT), (20, &post("t", "Bash", "")), (21, &pre("t", "Bash", ""))]);
    assert_eq!(state.calls.len(), 0);
    let state = witness(&[
        (0, PROMPT),
        (10, &pre("t", "Bash", "")),
        (90, &post("t", "Bash", "")),
        (95, &ask("t", "Bash", "")),
    ]);
    assert_eq!(state.asks.len(), 0);
    let state =
        witness(&[(0, PROMPT), (10, &pre("t", "Bash", "")), (100, STOP), (105, &post("t", "Bash", ""))]);
    assert!(matches!(state.turn, HookTurn::Ended { .. }), "a late result begins no turn");
}

#[test]
fn edge_15_a_hook_that_keeps_the_turn_from_ending_is_heard() {
    let state = witness(&[(0, PROMPT), (100, STOP), (900, &pre("t", "Bash", r#","prompt_id":"p1""#))]);
    assert_eq!((state.turn, state.since), (HookTurn::Running, at(900)));
}

#[test]
fn a_notification_replaces_a_lost_request() {
    let notification = r#""Notification","notification_type":"permission_prompt""#;
    let state = witness(&[(0, PROMPT), (10, &pre("t", "Bash", "")), (6_200, notification)]);
    assert_eq!((state.asks[0].kind, state.asks[0].confirmed), (StateKind::Permission, Some(at(6_200))));
    let state = witness(&[(0, PROMPT), (10, &pre("q", "AskUserQuestion", "")), (6_200, notification)]);
    assert_eq!((state.asks[0].kind, state.asks[0].confirmed), (StateKind::Question, Some(at(6_200))));
    let state = witness(&[(0, PROMPT), (6_200, notification)]);
    assert_eq!(state.asks.len(), 0, "without an open call it was overtaken by the answer");
}

#[test]
fn edge_11_a_servers_question_is_open_until_it_is_answered() {
    let asked = r#""Elicitation","mcp_server_name":"m","message":"Which account?","mode":"form""#;
    let state = witness(&[(0, PROMPT), (10, &pre("t", "mcp__m__x", "")), (50, asked)]);
    assert_eq!((state.asks[0].kind, &*state.asks[0].target), (StateKind::Dialog, "Which account?"));
    let result = r#""ElicitationResult","mcp_server_name":"m","action":"accept""#;
    let state = witness(&[(0, PROMPT), (10, &pre("t", "mcp__m__x", "")), (50, asked), (900, result)]);
    assert_eq!((state.asks.len(), state.turn), (0, HookTurn::Running));
}

#[test]
fn kinds_of_turn_ends_are_distinguished() {
    let failed =
        r#""StopFailure","error":"rate_limit","last_assistant_message":"You've hit your limit · resets 5pm""#;
    let state = witness(&[(0, PROMPT), (100, failed)]);
    assert!(matches!(state.turn, HookTurn::Failed { limit: true, .. }), "{state:?}");
    let failed = r#""StopFailure","error":"server_error","last_assistant_message":"API Error: overloaded""#;
    let state = witness(&[(0, PROMPT), (100, failed)]);
    assert!(matches!(state.turn, HookTurn::Failed { limit: false, .. }), "{state:?}");
    let state = witness(&[(0, PROMPT), (100, r#""SessionEnd","reason":"clear""#)]);
    assert_eq!(state.turn, HookTurn::Closed(EndReason::Clear));
    let state = witness(&[(0, PROMPT), (100, r#""Notification","notification_type":"idle_prompt""#)]);
    assert_eq!(state.turn, HookTurn::Quiet);
}

#[test]
fn the_number_of_open_calls_is_bounded() {
    let mut fold = HookFold::default();
    for n in 0..2_000 {
        let (origin, payload) = event(n, &pre(&n.to_string(), "Bash", ""));
        fold.apply(&origin, &payload);
    }
    assert!(fold.witness(&[]).expect("a witness").calls.len() <= 64);
}

fn any_event() -> impl Strategy<Value = String> {
    let agent = prop::sample::select(vec![
        "",
        r#","agent_id":"a","agent_type":"x""#,
        r#","agent_id":"b","agent_type":"y""#,
    ]);
    let prompt = prop::sample::select(vec!["", r#","prompt_id":"p1""#, r#","prompt_id":"p2""#]);
    let fixed = prop::sample::select(vec![
        r#""UserPromptSubmit","prompt":"x""#,
        r#""Stop","background_tasks":[]"#,
        r#""Stop","background_tasks":[{"id":"a","type":"subagent","status":"running"}]"#,
        r#""StopFailure","error":"server_error""#,
        r#""SubagentStart""#,
        r#""SubagentStop""#,
        r#""PreCompact","trigger":"auto""#,
        r#""PostCompact","trigger":"auto""#,
        r#""SessionStart","source":"resume""#,
        r#""SessionStart","source":"compact""#,
        r#""SessionEnd","reason":"other""#,
        r#""Notification","notification_type":"permission_prompt""#,
        r#""Notification","notification_type":"idle_prompt""#,
        r#""Elicitation","message":"?""#,
        r#""ElicitationResult""#,
        r#""PostToolBatch","tool_calls":[]"#,
        r#""Tomorrow""#,
    ]);
    let tool =
        (prop::sample::select(vec!["t1", "t2"]), prop::sample::select(vec!["Bash", "AskUserQuestion"]), 0..3);
    let tool = tool.prop_map(|(id, tool, which)| match which {
        0 => pre(id, tool, ""),
        1 => ask(id, tool, ""),
        _ => post(id, tool, ""),
    });
    (prop_oneof![fixed.prop_map(str::to_owned), tool], agent, prompt)
        .prop_map(|(body, agent, prompt)| format!("{body}{agent}{prompt}"))
}

fn any_events() -> impl Strategy<Value = Vec<(HookOrigin, HookPayload)>> {
    let step = (any_event(), prop::sample::select(vec![7u32, 7, 7, 9]), 0..40i64);
    prop::collection::vec(step, 1..60).prop_map(|steps| {
        let mut now = 0;
        let made = steps.into_iter().map(|(body, pid, wait)| {
            now += wait;
            event_of(pid, &[pid], now, &body)
        });
        made.collect()
    })
}

proptest! {
    /// Any order of arrival, with events repeated, equals the order of the sender's clock.
    #[test]
    fn the_order_of_arrival_does_not_matter(
        events in any_events(),
        order in prop::collection::vec(any::<u32>(), 60),
        twice in prop::collection::vec(any::<bool>(), 60),
    ) {
        let expected = fold(&events);
        let mut arrival: Vec<_> = events.iter().cloned().zip(&order).collect();
        arrival.extend(events.iter().cloned().zip(order.iter().rev()).zip(&twice).filter(|(_, t)| **t).map(|(e, _)| e));
        arrival.sort_by_key(|(_, key)| **key);
        let shuffled: Vec<_> = arrival.into_iter().map(|(event, _)| event).collect();
        let got = fold(&shuffled);
        for running in [vec![], vec![process(7)], vec![process(9)]] {
            prop_assert_eq!(got.witness(&running), expected.witness(&running));
        }
        prop_assert_eq!(got.too_late(), 0);
    }

    /// No time of the witness is later than the newest event, and no request is older than its call.
    #[test]
    fn a_witness_has_no_time_after_its_events(events in any_events()) {
        let newest = events.last().map(|(origin, _)| origin.at).unwrap_or_default();
        if let Some(state) = fold(&events).witness(&[]) {
            prop_assert!(state.newest_event_at <= newest && state.since <= state.newest_event_at && state.turn_event_at <= state.newest_event_at);
            prop_assert!(state.asks.iter().all(|ask| ask.at <= newest && ask.at >= newest - Millis(3_000)));
            prop_assert!(state.asks.len() <= 4);
        }
    }
}

/// A call's own hook may be started last, on a busy machine.
#[test]
fn a_call_event_after_its_result_begins_no_turn() {
    let (call, result) = (pre("t", "Bash", ""), post("t", "Bash", ""));
    let state = witness(&[(0, PROMPT), (500, &result), (600, STOP), (650, &call)]);
    assert!(matches!(state.turn, HookTurn::Ended { .. }), "{state:?}");
    assert_eq!((state.since, state.turn_event_at), (at(600), at(600)));
    let left = r#""SessionEnd","reason":"clear""#;
    let state = witness(&[(0, PROMPT), (500, left), (550, &call)]);
    assert_eq!(state.turn, HookTurn::Closed(EndReason::Clear), "who has left calls nothing");
}
