//! The timelines against the agent's own hooks: the roster must have shown exactly the reported events, with and
//! without hooks as witness.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::play::{NamedRecording, Player, Witnesses, all};

/// How much earlier or later than a hook the registry may report the same, in milliseconds. 800 were measured while
/// hooks on every event slowed the agent down.
const LAG: i64 = 1_000;

/// One hook of a recording.
struct Hook {
    at: i64,
    event: String,
    session: String,
    tool: String,
    in_background: bool,
}

/// A state of one session in the roster, and the time when it was first shown.
#[derive(Debug, Clone)]
struct Shown {
    at: i64,
    state: String,
    kind: String,
    confidence: String,
    mode: String,
}

fn hooks(named: &NamedRecording) -> Vec<Hook> {
    let lines = named.text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines
        .filter(|line| line["op"] == "hook")
        .map(|line| {
            let word = |key: &str| line["payload"][key].as_str().unwrap_or_default().to_owned();
            Hook {
                at: line["t"].as_i64().unwrap(),
                event: word("hook_event_name"),
                session: word("session_id"),
                tool: word("tool_name"),
                in_background: line["payload"]["background_tasks"]
                    .as_array()
                    .is_some_and(|tasks| !tasks.is_empty()),
            }
        })
        .collect()
}

fn shown(named: &NamedRecording, witnesses: Witnesses) -> BTreeMap<String, Vec<Shown>> {
    let mut all: BTreeMap<String, Vec<Shown>> = BTreeMap::new();
    let begin = named.recording.begin;
    let mut player = Player::new(&named.recording, witnesses);
    let mut look =
        |engine: &watchbill_engine::engine::Engine, now: watchbill_core::time::Timestamp, _: &[_]| {
            for row in engine.current(true).rows {
                let row = &row.session();
                let shown = Shown {
                    at: now.since(begin).0,
                    state: row.state.clone(),
                    kind: row.state_kind.clone().unwrap_or_default(),
                    confidence: row.state_reason.confidence.clone(),
                    mode: row.permission_mode.clone().unwrap_or_default(),
                };
                let before = all.entry(row.session_id.clone()).or_default();
                if before.last().is_none_or(|last| (&last.state, &last.kind) != (&shown.state, &shown.kind)) {
                    before.push(shown);
                }
            }
        };
    for (at, operation) in &named.recording.operations {
        player.act(*at, operation, &mut look);
    }
    player.run_out(&mut look);
    all
}

/// All states that were shown at some time between `from` and `to`.
fn between(shown: &[Shown], from: i64, to: i64) -> impl Iterator<Item = &Shown> {
    let ends = shown.iter().skip(1).map(|next| next.at).chain([i64::MAX]);
    shown.iter().zip(ends).filter(move |(shown, end)| shown.at <= to && *end >= from).map(|(shown, _)| shown)
}

/// Print mode refuses calls that need a permission, without a question.
fn is_print_mode(named: &NamedRecording) -> bool {
    named.name.starts_with("14-")
}

#[test]
fn every_request_for_permission_is_shown_and_no_other() {
    requests_are_shown(Witnesses::REGISTRY);
}

#[test]
fn every_request_for_permission_is_shown_and_no_other_by_all_witnesses() {
    requests_are_shown(Witnesses::ALL);
}

#[test]
fn every_request_for_permission_is_shown_and_no_other_by_hooks_without_the_registry() {
    requests_are_shown(Witnesses::HOOKS);
}

fn requests_are_shown(witnesses: Witnesses) {
    let mut requests = 0;
    for named in all() {
        let hooks = hooks(&named);
        let asked: Vec<&Hook> = hooks.iter().filter(|hook| hook.event == "PermissionRequest").collect();
        let shown = shown(&named, witnesses);
        if !is_print_mode(&named) {
            // Hooks do not distinguish an automatic reviewer from the user; an answer within the dwell is not shown.
            let at_once = |asked: &Hook| {
                !witnesses.registry
                    && hooks.iter().any(|hook| {
                        let after = hook.at - asked.at;
                        hook.session == asked.session
                            && hook.event == "PostToolUse"
                            && (0..=LAG).contains(&after)
                    })
            };
            for hook in asked.iter().filter(|hook| !at_once(hook)) {
                let kind = match &*hook.tool {
                    "AskUserQuestion" => "question",
                    "ExitPlanMode" => "plan",
                    _ => "permission",
                };
                let found = between(&shown[&hook.session], hook.at - LAG, hook.at + LAG)
                    .any(|shown| shown.state == "waiting_for_approval" && shown.kind == kind);
                assert!(found, "{}: {kind} at {} ms was not shown", named.name, hook.at);
                requests += 1;
            }
        }
        if hooks.is_empty() {
            continue;
        }
        for (session, shown) in &shown {
            for (n, wait) in
                shown.iter().enumerate().filter(|(_, shown)| shown.state == "waiting_for_approval")
            {
                let begins = n == 0 || shown[n - 1].state != wait.state;
                let hook =
                    asked.iter().find(|hook| hook.session == *session && (hook.at - wait.at).abs() <= LAG);
                assert!(!begins || hook.is_some(), "{}: no witness asked at {} ms", named.name, wait.at);
                assert_eq!(wait.confidence, "observed", "{}", named.name);
            }
        }
    }
    assert!(requests >= 15, "{requests}");
}

#[test]
fn a_turn_is_shown_from_its_prompt_to_its_end() {
    turns_are_shown(Witnesses::REGISTRY);
}

#[test]
fn a_turn_is_shown_from_its_prompt_to_its_end_by_all_witnesses() {
    turns_are_shown(Witnesses::ALL);
}

#[test]
fn a_turn_is_shown_from_its_prompt_to_its_end_by_hooks_without_the_registry() {
    turns_are_shown(Witnesses::HOOKS);
}

fn turns_are_shown(witnesses: Witnesses) {
    let (mut prompts, mut ends) = (0, 0);
    for named in all() {
        let hooks = hooks(&named);
        let shown = shown(&named, witnesses);
        for hook in &hooks {
            let shown = shown.get(&hook.session).map(Vec::as_slice).unwrap_or_default();
            let next = hooks.iter().filter(|other| {
                other.session == hook.session
                    && matches!(&*other.event, "UserPromptSubmit" | "PreCompact" | "SessionEnd")
                    && other.at > hook.at
            });
            let next = next.map(|other| other.at).min().unwrap_or(i64::MAX);
            match &*hook.event {
                // A session without a transcript is over before its row is due.
                "UserPromptSubmit" if !shown.is_empty() => {
                    let works = between(shown, hook.at - LAG, hook.at + LAG)
                        .any(|shown| matches!(&*shown.state, "working" | "waiting_for_approval"));
                    assert!(works, "{}: the prompt at {} ms began no turn", named.name, hook.at);
                    prompts += 1;
                }
                "Stop" | "StopFailure" if !hook.in_background && next > hook.at + LAG => {
                    let after = between(shown, hook.at + LAG, hook.at + LAG);
                    for shown in after {
                        let over = matches!(&*shown.state, "waiting_for_input" | "ended");
                        assert!(over, "{}: {} after the end at {} ms", named.name, shown.state, hook.at);
                        let failed = matches!(&*shown.kind, "error" | "limit");
                        assert_eq!(
                            failed && shown.state != "ended",
                            hook.event == "StopFailure",
                            "{shown:?}"
                        );
                    }
                    ends += 1;
                }
                _ => {}
            }
        }
    }
    assert!(prompts >= 40 && ends >= 30, "{prompts} prompts, {ends} ends");
}

#[test]
fn files_alone_only_infer_permission_requests() {
    let mut guesses = 0;
    for named in all() {
        let hooks = hooks(&named);
        for (session, shown) in shown(&named, Witnesses::FILES) {
            for wait in shown.iter().filter(|shown| shown.state == "waiting_for_approval") {
                if wait.kind == "permission" {
                    assert_eq!(wait.confidence, "inferred", "{}", named.name);
                    assert!(
                        !matches!(&*wait.mode, "auto" | "bypassPermissions" | "dontAsk"),
                        "{}",
                        named.name
                    );
                    guesses += 1;
                } else {
                    let asked = hooks.iter().any(|hook| {
                        hook.event == "PermissionRequest"
                            && hook.session == session
                            && (hook.at - wait.at).abs() <= LAG
                    });
                    assert!(asked, "{}: no {} at {} ms", named.name, wait.kind, wait.at);
                }
            }
            let last = shown.last().unwrap();
            assert_eq!(last.state, "idle", "{}: an hour of silence", named.name);
        }
    }
    assert!(guesses >= 5, "{guesses}");
}
