//! The resolver's laws, as properties over any evidence.

use std::sync::Arc;

use proptest::prelude::*;
use watchbill_agents::claude::hooks::parse_payload;
use watchbill_core::evidence::registry::{Liveness, RegistryEntry, RegistryStatus};
use watchbill_core::evidence::{
    ChildWitness, Departure, Evidence, GoneInstance, InstanceWitness, TranscriptWitness, Verdict, resolve,
};
use watchbill_core::hook::{HookFold, HookOrigin, HookTurn, HookWitness};
use watchbill_core::ids::{Instance, SessionId};
use watchbill_core::roster::row::{PendingTool, Source};
use watchbill_core::session::state::{Confidence, State, StateKind, Timeouts};
use watchbill_core::status_file::{StatusWitness, parse_status_file};
use watchbill_core::time::{Millis, Timestamp};

fn at(offset: i64) -> Timestamp {
    Timestamp::from_millis(1_795_188_000_000 + offset)
}

/// A possible reading of a transcript; the witness borrows from it.
#[derive(Debug, Clone)]
struct TranscriptReading {
    state: State,
    kind: Option<StateKind>,
    since: i64,
    active: i64,
    silent: bool,
    pending: Vec<PendingTool>,
}

#[derive(Debug, Clone)]
struct Scene {
    now: i64,
    transcript: Option<TranscriptReading>,
    instances: Vec<InstanceWitness>,
    gone: Option<GoneInstance>,
    hooks: Option<HookWitness>,
    status_file: Option<StatusWitness>,
    child: Option<ChildWitness>,
    registry_readable: bool,
    expects_registry: bool,
}

impl Scene {
    fn resolve_at(&self, now: Timestamp, instances: &[InstanceWitness], live: bool) -> Verdict {
        let transcript = self.transcript.as_ref().map(|transcript| TranscriptWitness {
            state: transcript.state,
            kind: transcript.kind,
            since: at(transcript.since),
            detail: "as the records say",
            by_timeout: transcript.silent,
            confidence: if transcript.silent { Confidence::Inferred } else { Confidence::Observed },
            pending: &transcript.pending,
            last_activity_at: at(transcript.active),
            prompt_at: Some(at(transcript.since)),
            follows_hooks: false,
        });
        resolve(&Evidence {
            now,
            transcript,
            instances,
            gone: self.gone.as_ref(),
            registry_readable: self.registry_readable,
            expects_registry: self.expects_registry,
            hooks: self.hooks.as_ref(),
            own: None,
            status_file: self.status_file.as_ref(),
            child: self.child,
            live,
            timeouts: Timeouts::default(),
        })
    }

    fn resolve(&self) -> Verdict {
        self.resolve_at(at(self.now), &self.instances, true)
    }
}

fn any_status() -> impl Strategy<Value = Option<RegistryStatus>> {
    let what = vec![
        "permission prompt",
        "sandbox request",
        "worker request",
        "input needed",
        "dialog open",
        "",
        "a new word",
    ];
    prop_oneof![
        Just(None),
        Just(Some(RegistryStatus::Busy)),
        Just(Some(RegistryStatus::Idle)),
        Just(Some(RegistryStatus::Shell)),
        prop::sample::select(what).prop_map(|what| Some(RegistryStatus::Waiting(Arc::from(what)))),
        "[a-z]{3,8}".prop_map(|word| Some(RegistryStatus::Unknown(Arc::from(word)))),
    ]
}

fn any_told(now: i64) -> impl Strategy<Value = TranscriptReading> {
    let readings = vec![
        (State::Working, None),
        (State::Working, Some(StateKind::Compacting)),
        (State::Working, Some(StateKind::Background)),
        (State::WaitingForApproval, Some(StateKind::Permission)),
        (State::WaitingForApproval, Some(StateKind::Question)),
        (State::WaitingForInput, Some(StateKind::TurnEnded)),
        (State::WaitingForInput, Some(StateKind::Error)),
        (State::WaitingForInput, None),
        (State::Idle, None),
    ];
    (prop::sample::select(readings), 0..=now, 0..=now, any::<bool>(), 0..=4usize).prop_map(
        |((state, kind), since, active, silent, calls)| {
            let tools = ["Read", "Bash", "ExitPlanMode", "AskUserQuestion"];
            let pending = tools[..calls].iter().map(|tool| PendingTool {
                id: Arc::from(*tool),
                tool: Arc::from(*tool),
                target: Arc::from("x"),
                since: at(since),
            });
            TranscriptReading { state, kind, since, active, silent, pending: pending.collect() }
        },
    )
}

prop_compose! {
    fn any_process(pid: u32, now: i64)(
        status in any_status(),
        liveness in prop::sample::select(vec![Liveness::Alive, Liveness::Dead, Liveness::Unknown]),
        seen in 0..=now,
        clock_ahead in prop_oneof![Just(0i64), -5_000..100_000i64],
        started in prop::option::of(0..=now),
    ) -> InstanceWitness {
        InstanceWitness {
            entry: RegistryEntry {
                started_at: started.map(at),
                status,
                status_at: Some(at(seen + clock_ahead)),
                ..RegistryEntry::unregistered(Instance { pid, proc_start: None }, SessionId::new("s"))
            },
            liveness,
            seen_at: at(seen),
        }
    }
}

fn any_scene() -> impl Strategy<Value = Scene> {
    (0..2_000_000i64).prop_flat_map(|now| {
        let how = vec![Departure::FileRemoved, Departure::FileLeft, Departure::MovedOn];
        let gone = (0..=now, prop::sample::select(how)).prop_map(|(when, how)| GoneInstance {
            instance: Instance { pid: 99, proc_start: None },
            at: at(when),
            how,
        });
        let processes = (any_process(1, now), any_process(2, now), any_process(3, now), 0..=3usize)
            .prop_map(|(a, b, c, n)| [a, b, c].into_iter().take(n).collect::<Vec<_>>());
        let transcript = prop::option::weighted(0.85, any_told(now));
        let more = (prop::option::of(any_hooks(now)), any_status_file(now), prop::option::of(any_child(now)));
        (transcript, processes, prop::option::of(gone), any::<bool>(), any::<bool>(), more)
            .prop_filter("a witness speaks", |(transcript, instances, ..)| {
                transcript.is_some() || !instances.is_empty()
            })
            .prop_map(move |(transcript, instances, gone, registry_readable, expects_registry, more)| Scene {
                now,
                transcript,
                instances,
                gone,
                hooks: more.0.flatten(),
                status_file: more.1,
                child: more.2,
                registry_readable,
                expects_registry,
            })
    })
}

/// The fold of some events of one process. Times cluster, so that the spans of the table are hit.
fn any_hooks(now: i64) -> impl Strategy<Value = Option<HookWitness>> {
    let events = vec![
        r#""hook_event_name":"SessionStart","source":"startup""#,
        r#""hook_event_name":"UserPromptSubmit","prompt":"go""#,
        r#""hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"Bash","tool_input":{"command":"x"}"#,
        r#""hook_event_name":"PreToolUse","tool_name":"AskUserQuestion","tool_use_id":"AskUserQuestion""#,
        r#""hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"x"}"#,
        r#""hook_event_name":"PermissionRequest","tool_name":"ExitPlanMode""#,
        r#""hook_event_name":"PermissionRequest","tool_name":"Write","agent_id":"b","agent_type":"x""#,
        r#""hook_event_name":"PostToolUse","tool_name":"Bash","tool_use_id":"Bash","tool_input":{"command":"x"}"#,
        r#""hook_event_name":"Notification","notification_type":"permission_prompt""#,
        r#""hook_event_name":"Notification","notification_type":"idle_prompt""#,
        r#""hook_event_name":"SubagentStart","agent_id":"b","agent_type":"x""#,
        r#""hook_event_name":"SubagentStop","agent_id":"b","agent_type":"x""#,
        r#""hook_event_name":"PreCompact","trigger":"auto""#,
        r#""hook_event_name":"PostCompact","trigger":"auto""#,
        r#""hook_event_name":"Stop","background_tasks":[]"#,
        r#""hook_event_name":"Stop","background_tasks":[{"id":"b","type":"subagent","status":"running"}]"#,
        r#""hook_event_name":"Stop","background_tasks":[{"id":"s","type":"shell","status":"running"}]"#,
        r#""hook_event_name":"StopFailure","error":"server_error""#,
        r#""hook_event_name":"Elicitation","message":"who?""#,
        r#""hook_event_name":"SessionEnd","reason":"clear""#,
        r#""hook_event_name":"SessionEnd","reason":"other""#,
    ];
    let steps = prop::collection::vec((prop::sample::select(events), 0..3_000i64), 1..8);
    (steps, prop::option::of(1u32..=3), prop_oneof![0..5_000i64, 0..=now]).prop_map(
        move |(steps, pid, since)| {
            let mut fold = HookFold::default();
            let mut when = (now - since - steps.iter().map(|(_, wait)| wait).sum::<i64>()).max(0);
            for (n, (event, wait)) in steps.into_iter().enumerate() {
                let payload = parse_payload(format!(r#"{{"session_id":"s",{event}}}"#).as_bytes()).unwrap();
                let origin = HookOrigin {
                    id: Arc::from(n.to_string()),
                    at: at(when.min(now)),
                    order: n as u64,
                    agent: pid.map(|pid| Instance { pid, proc_start: None }),
                    ancestors: Arc::from([]),
                    terminal: None,
                };
                fold.apply(&origin, &payload);
                when += wait;
            }
            fold.witness(&[])
        },
    )
}

fn any_status_file(now: i64) -> impl Strategy<Value = Option<StatusWitness>> {
    let words = [
        "working",
        "waiting_for_approval",
        "waiting_for_input",
        "completed",
        "error",
        "blocked",
        "idle",
        "new",
    ];
    let file =
        (prop::sample::select(words.to_vec()), prop_oneof![0..400_000i64, 0..=now], -10_000..10_000i64);
    prop::option::of(file.prop_map(move |(word, age, ahead)| {
        let modified = at((now - age).max(0));
        let updated = modified + Millis(ahead.max(0)) - Millis((-ahead).max(0));
        let text = format!("---\nstatus: {word}\nupdated: {updated}\n---\n");
        StatusWitness { file: parse_status_file(text.as_bytes()).unwrap(), modified }
    }))
}

fn any_child(now: i64) -> impl Strategy<Value = ChildWitness> {
    (0..=now).prop_map(|began| ChildWitness { pid: 77, began: at(began) })
}

/// All of a verdict but its texts.
fn essence(verdict: &Verdict) -> impl PartialEq + std::fmt::Debug + use<> {
    let Verdict { state, kind, since, pid, live, next, processes, .. } = *verdict;
    (state, kind, since, pid, live, next, processes)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn dead_processes_neither_work_nor_wait(mut scene in any_scene()) {
        for instance in &mut scene.instances {
            instance.liveness = Liveness::Dead;
        }
        // Hooks of another process would mean that it has resumed the session.
        if let (Some(hooks), Some(dead)) = (&mut scene.hooks, scene.instances.first()) {
            hooks.agent = hooks.agent.as_ref().map(|_| dead.entry.instance.clone());
        }
        let verdict = scene.resolve();
        prop_assert!(scene.instances.is_empty() || verdict.state == State::Ended, "{:?}", verdict);
        prop_assert!(!verdict.live && verdict.pid.is_none());
    }

    #[test]
    fn no_approval_without_a_witness_of_one(scene in any_scene()) {
        let verdict = scene.resolve();
        let prompts = ["permission prompt", "sandbox request", "worker request", "input needed"];
        let heard = |of: fn(&HookWitness) -> bool| scene.hooks.as_ref().is_some_and(of);
        let calls = scene.transcript.as_ref().is_some_and(|transcript| !transcript.pending.is_empty())
            || heard(|hooks| !hooks.calls.is_empty());
        let runs = scene.transcript.as_ref().is_some_and(|transcript| transcript.state == State::Working)
            || heard(|hooks| hooks.turn == HookTurn::Running);
        let asked = scene.transcript.as_ref().is_some_and(|transcript| transcript.state == State::WaitingForApproval)
            || scene.hooks.as_ref().is_some_and(|hooks| !hooks.asks.is_empty())
            || scene.status_file.as_ref().is_some_and(|file| file.file.status.as_str() == "waiting_for_approval")
            || scene.instances.iter().filter(|i| i.liveness != Liveness::Dead).any(|i| match &i.entry.status {
                Some(RegistryStatus::Waiting(what)) => prompts.contains(&&**what) || calls && (runs || what.is_empty()),
                _ => false,
            });
        prop_assert!(verdict.state != State::WaitingForApproval || asked, "{:?}", verdict);
    }

    #[test]
    fn unknown_words_change_nothing(scene in any_scene()) {
        let essence_with = |word: Option<RegistryStatus>| {
            let mut scene = scene.clone();
            for instance in &mut scene.instances {
                if matches!(instance.entry.status, None | Some(RegistryStatus::Unknown(_))) {
                    instance.entry.status.clone_from(&word);
                }
            }
            essence(&scene.resolve())
        };
        let expected = essence(&scene.resolve());
        prop_assert_eq!(&essence_with(None), &expected);
        prop_assert_eq!(&essence_with(Some(RegistryStatus::Unknown(Arc::from("pondering")))), &expected);
    }

    #[test]
    fn the_order_of_the_evidence_does_not_matter(scene in any_scene()) {
        let expected = scene.resolve();
        let mut turned = scene.instances.clone();
        turned.reverse();
        prop_assert_eq!(&scene.resolve_at(at(scene.now), &turned, true), &expected);
        turned.sort_by_key(|instance| instance.entry.instance.pid % 2);
        prop_assert_eq!(&scene.resolve_at(at(scene.now), &turned, true), &expected);
    }

    #[test]
    fn nothing_changes_before_the_announced_time(scene in any_scene()) {
        let verdict = scene.resolve();
        let tomorrow = at(scene.now) + Millis::from_secs(86_400);
        let until = verdict.next.map_or(tomorrow, |next| next - Millis(1));
        prop_assert!(until >= at(scene.now));
        prop_assert_eq!(&scene.resolve_at(until, &scene.instances, true), &verdict);
    }

    #[test]
    fn a_verdict_lies_in_the_past_and_has_one_winner(scene in any_scene()) {
        let verdict = scene.resolve();
        prop_assert!(verdict.since <= at(scene.now));
        prop_assert_eq!(verdict.witnesses.iter().filter(|witness| witness.winner).count(), 1);
        let winner = &verdict.witnesses[0];
        prop_assert!(winner.winner);
        prop_assert_eq!((winner.state, winner.kind), (Some(verdict.state), verdict.kind));
        prop_assert_eq!((winner.source, winner.confidence), (verdict.reason.source, verdict.reason.confidence));
        prop_assert!(!verdict.reason.detail.is_empty());
    }

    /// For the past, only files count: neither processes nor hooks change anything.
    #[test]
    fn the_past_depends_on_files_alone(mut scene in any_scene()) {
        let verdict = scene.resolve_at(at(scene.now), &scene.instances, false);
        (scene.hooks, scene.child, scene.gone) = (None, None, None);
        prop_assert_eq!(essence(&scene.resolve_at(at(scene.now), &[], false)), essence(&verdict));
        scene.status_file = None;
        if let Some(transcript) = &scene.transcript {
            let verdict = scene.resolve_at(at(scene.now), &scene.instances, false);
            prop_assert_eq!((verdict.state, verdict.kind, verdict.since), (transcript.state, transcript.kind, at(transcript.since)));
            prop_assert_eq!((verdict.pid, verdict.live, verdict.next), (None, false, None));
        }
    }

    /// If the registry spoke last, it decides: neither hooks nor a status file nor a child process make an approval
    /// of `busy`, or of `idle`.
    #[test]
    fn more_witnesses_make_no_false_approval(mut scene in any_scene(), quiet in any::<bool>()) {
        scene.transcript = None;
        scene.gone = None;
        let heard = scene.hooks.as_ref().map_or(at(0), |hooks| hooks.newest_event_at);
        let status = if quiet { RegistryStatus::Idle } else { RegistryStatus::Busy };
        let mut entry = RegistryEntry::unregistered(Instance { pid: 1, proc_start: None }, SessionId::new("s"));
        (entry.status, entry.status_at) = (Some(status), Some(heard + Millis(1)));
        scene.now += 1;
        scene.instances = vec![InstanceWitness { entry, liveness: Liveness::Alive, seen_at: at(scene.now) }];
        let verdict = scene.resolve();
        prop_assert_ne!(verdict.state, State::WaitingForApproval);
        let left = scene.hooks.as_ref().is_some_and(|hooks| matches!(hooks.turn, HookTurn::Closed(_)));
        prop_assert!(left || verdict.state != State::Ended);
    }

    /// A status file never contradicts a live witness: it only adds how a turn ended.
    #[test]
    fn a_status_file_only_refines_live_verdicts(mut scene in any_scene()) {
        let with = scene.resolve();
        scene.status_file = None;
        let without = scene.resolve();
        let live = [Source::Registry, Source::Hook].contains(&without.reason.source);
        if live || without.state == State::Ended {
            prop_assert_eq!(with.state, without.state);
            prop_assert!(with.kind == without.kind || without.kind == Some(StateKind::TurnEnded));
        }
    }
}
