//! The resolver's laws, as properties over any evidence.

use std::sync::Arc;

use proptest::prelude::*;
use watchbill_core::evidence::registry::{Liveness, RegistryEntry, RegistryStatus};
use watchbill_core::evidence::{
    Departure, Evidence, GoneInstance, InstanceWitness, TranscriptWitness, Verdict, resolve,
};
use watchbill_core::ids::{Instance, SessionId};
use watchbill_core::roster::row::PendingTool;
use watchbill_core::session::state::{Confidence, State, StateKind, Timeouts};
use watchbill_core::time::{Millis, Timestamp};

fn at(offset: i64) -> Timestamp {
    Timestamp::from_millis(1_795_188_000_000 + offset)
}

/// What a transcript may say; the witness borrows from it.
#[derive(Debug, Clone)]
struct Told {
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
    told: Option<Told>,
    instances: Vec<InstanceWitness>,
    gone: Option<GoneInstance>,
    registry_readable: bool,
    expects_registry: bool,
}

impl Scene {
    fn resolve_at(&self, now: Timestamp, instances: &[InstanceWitness], live: bool) -> Verdict {
        let transcript = self.told.as_ref().map(|told| TranscriptWitness {
            state: told.state,
            kind: told.kind,
            since: at(told.since),
            detail: "as the records say",
            by_timeout: told.silent,
            confidence: if told.silent { Confidence::Inferred } else { Confidence::Observed },
            pending: &told.pending,
            last_activity_at: at(told.active),
            prompt_at: None,
        });
        resolve(&Evidence {
            now,
            transcript,
            instances,
            gone: self.gone.as_ref(),
            registry_readable: self.registry_readable,
            expects_registry: self.expects_registry,
            hooks: None,
            status_file: None,
            child: None,
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

fn any_told(now: i64) -> impl Strategy<Value = Told> {
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
            Told { state, kind, since, active, silent, pending: pending.collect() }
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
                instance: Instance { pid, proc_start: None },
                session: SessionId::new("s"),
                cwd: None,
                started_at: started.map(at),
                status,
                status_at: Some(at(seen + clock_ahead)),
                kind: None,
                entrypoint: None,
                version: None,
                user_name: None,
                pid_domain: None,
                tmux: None,
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
        let told = prop::option::weighted(0.85, any_told(now));
        (told, processes, prop::option::of(gone), any::<bool>(), any::<bool>())
            .prop_filter("somebody speaks", |(told, instances, ..)| told.is_some() || !instances.is_empty())
            .prop_map(move |(told, instances, gone, registry_readable, expects_registry)| Scene {
                now,
                told,
                instances,
                gone,
                registry_readable,
                expects_registry,
            })
    })
}

/// All of a verdict but its words.
fn essence(verdict: &Verdict) -> impl PartialEq + std::fmt::Debug + use<> {
    let Verdict { state, kind, since, pid, live, next, processes, .. } = *verdict;
    (state, kind, since, pid, live, next, processes)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn the_dead_neither_work_nor_wait(mut scene in any_scene()) {
        for instance in &mut scene.instances {
            instance.liveness = Liveness::Dead;
        }
        let verdict = scene.resolve();
        prop_assert!(scene.instances.is_empty() || verdict.state == State::Ended, "{:?}", verdict);
        prop_assert!(!verdict.live && verdict.pid.is_none());
    }

    #[test]
    fn no_approval_without_a_witness_of_one(scene in any_scene()) {
        let verdict = scene.resolve();
        let prompts = ["permission prompt", "sandbox request", "worker request", "input needed"];
        let calls = scene.told.as_ref().is_some_and(|told| !told.pending.is_empty());
        let runs = scene.told.as_ref().is_some_and(|told| told.state == State::Working);
        let asked = scene.told.as_ref().is_some_and(|told| told.state == State::WaitingForApproval)
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

    #[test]
    fn the_past_is_the_transcripts_alone(scene in any_scene()) {
        if let Some(told) = &scene.told {
            let verdict = scene.resolve_at(at(scene.now), &scene.instances, false);
            prop_assert_eq!((verdict.state, verdict.kind, verdict.since), (told.state, told.kind, at(told.since)));
            prop_assert_eq!((verdict.pid, verdict.live, verdict.next), (None, false, None));
        }
    }
}
