//! Verdicts on hooks, status files and child processes, with the other witnesses and without them.

use std::sync::Arc;

use watchbill_core::evidence::registry::{Liveness, RegistryEntry, RegistryStatus};
use watchbill_core::evidence::{
    ChildWitness, Evidence, InstanceWitness, TranscriptWitness, Verdict, resolve,
};
use watchbill_core::hook::HookWitness;
use watchbill_core::ids::{Instance, SessionId};
use watchbill_core::roster::row::{PendingTool, Source};
use watchbill_core::session::state::{Confidence, State, StateKind, Timeouts};
use watchbill_core::status_file::{StatusWitness, parse_status_file};

use crate::fold::{PROMPT, STOP, ask, at, post, pre, process, witness};

const APPROVAL: (State, Option<StateKind>) = (State::WaitingForApproval, Some(StateKind::Permission));
const WORKING: (State, Option<StateKind>) = (State::Working, None);
const ENDED_TURN: (State, Option<StateKind>) = (State::WaitingForInput, Some(StateKind::TurnEnded));
const INTERRUPTED: (State, Option<StateKind>) = (State::WaitingForInput, Some(StateKind::Interrupted));

/// The witnesses of one moment.
#[derive(Default)]
struct Scene {
    hooks: Option<HookWitness>,
    registry: Vec<InstanceWitness>,
    status_file: Option<StatusWitness>,
    child: Option<ChildWitness>,
    transcript: Option<TranscriptReading>,
    /// The agent's transcripts tell all that its hooks tell.
    follows_hooks: bool,
}

struct TranscriptReading {
    state: State,
    kind: Option<StateKind>,
    since: i64,
    pending: Vec<PendingTool>,
    silent: bool,
}

impl Scene {
    fn hooks(events: &[(i64, &str)]) -> Self {
        Self { hooks: Some(witness(events)), ..Self::default() }
    }

    fn registry(mut self, status: RegistryStatus, since: i64) -> Self {
        let mut entry = RegistryEntry::unregistered(process(7), SessionId::new("s"));
        (entry.status, entry.status_at) = (Some(status), Some(at(since)));
        self.registry = vec![InstanceWitness { entry, liveness: Liveness::Alive, seen_at: at(since) }];
        self
    }

    fn transcript(mut self, state: State, kind: Option<StateKind>, since: i64) -> Self {
        self.transcript = Some(TranscriptReading { state, kind, since, pending: Vec::new(), silent: false });
        self
    }

    /// The transcript shows a call without a result; a `silent` one is taken for a question.
    fn called(mut self, id: &str, since: i64, silent: bool) -> Self {
        let (id, tool, target) = (Arc::from(id), Arc::from("Bash"), Arc::from(id));
        let pending = vec![PendingTool { id, tool, target, since: at(since) }];
        let (state, kind) = if silent { APPROVAL } else { WORKING };
        self.transcript = Some(TranscriptReading { state, kind, since, pending, silent });
        self
    }

    fn file(mut self, word: &str, written: i64) -> Self {
        let text = format!(
            "---\nstatus: {word}\nupdated: {}\ntask: the parser\n---\n## Summary\nHalf of it is done.\n",
            at(written)
        );
        let file = parse_status_file(text.as_bytes()).expect("a status");
        self.status_file = Some(StatusWitness { file, modified: at(written) });
        self
    }

    fn child(mut self, began: i64) -> Self {
        self.child = Some(ChildWitness { pid: 77, began: at(began) });
        self
    }

    fn verdict(&self, now: i64) -> Verdict {
        let transcript = self.transcript.as_ref().map(|transcript| TranscriptWitness {
            state: transcript.state,
            kind: transcript.kind,
            since: at(transcript.since),
            detail: "as the records say",
            by_timeout: transcript.silent,
            confidence: if transcript.silent { Confidence::Inferred } else { Confidence::Observed },
            pending: &transcript.pending,
            last_activity_at: at(transcript.since),
            prompt_at: None,
            follows_hooks: self.follows_hooks,
        });
        resolve(&Evidence {
            now: at(now),
            transcript,
            instances: &self.registry,
            gone: None,
            registry_readable: false,
            expects_registry: false,
            hooks: self.hooks.as_ref(),
            own: None,
            status_file: self.status_file.as_ref(),
            child: self.child,
            live: true,
            timeouts: Timeouts::default(),
        })
    }

    fn at(&self, now: i64) -> (State, Option<StateKind>) {
        let verdict = self.verdict(now);
        (verdict.state, verdict.kind)
    }
}

#[test]
fn edge_01_a_call_of_twenty_minutes_is_no_approval_where_hooks_are_heard() {
    let scene = Scene::hooks(&[(0, PROMPT), (10, &pre("t", "Bash", ""))]).called("t", 0, true);
    for now in [1_000, 6_000, 61_000, 601_000, 1_200_000] {
        assert_eq!(scene.at(now), WORKING, "after {now} ms");
    }
}

#[test]
fn edge_01_a_child_of_the_call_refutes_what_silence_suspects() {
    let scene = Scene::default().called("t", 0, true);
    assert_eq!(scene.at(6_000), APPROVAL);
    let verdict = scene.child(300).verdict(6_000);
    assert_eq!((verdict.state, verdict.reason.source), (State::Working, Source::Process));
    let before = Scene::default().called("t", 1_000, true).child(300);
    assert_eq!(before.at(7_000), APPROVAL, "a child from before the call says nothing");
}

#[test]
fn edge_02_an_automatic_answer_never_shows() {
    for answered in [90, 900] {
        let (call, request, result) = (pre("t", "Bash", ""), ask("t", "Bash", ""), post("t", "Bash", ""));
        let before = [(0, PROMPT), (10, &*call), (60, &*request)];
        let open = Scene::hooks(&before);
        for now in (60..60 + answered).step_by(10) {
            assert_eq!(open.at(now), WORKING, "hooks alone, {now} ms");
        }
        let mut after = before.to_vec();
        after.push((60 + answered, &result));
        assert_eq!(Scene::hooks(&after).at(5_000), WORKING);
    }
    // If a registry has followed the turn and would have said `waiting` by now, the request does not count later
    // either.
    let scene = Scene::hooks(&[(0, PROMPT), (10, &pre("t", "Bash", "")), (60, &ask("t", "Bash", ""))]);
    let scene = scene.registry(RegistryStatus::Busy, -40);
    for now in [60, 1_100, 5_000, 60_000] {
        assert_eq!(scene.at(now), WORKING, "{now} ms");
    }
}

#[test]
fn edge_03_a_request_needs_no_transcript() {
    let scene = Scene::hooks(&[(0, PROMPT), (10, &pre("t", "Bash", "")), (60, &ask("t", "Bash", ""))]);
    let verdict = scene.verdict(1_060);
    assert_eq!((verdict.state, verdict.kind), APPROVAL);
    assert_eq!((verdict.since, verdict.reason.source), (at(60), Source::Hook));
    assert_eq!(verdict.ask.map(|ask| ask.target), Some(Arc::from("t")));
    assert_eq!(scene.verdict(60).next, Some(at(1_060)), "it is asked again when the dwell is over");
    // The registry confirms at once.
    let waiting = RegistryStatus::Waiting("permission prompt".into());
    assert_eq!(scene.registry(waiting, 92).at(92), APPROVAL);
}

#[test]
fn edge_04_an_answer_ends_the_request_long_before_the_tool_ends() {
    let events = || Scene::hooks(&[(0, PROMPT), (10, &pre("t", "Bash", "")), (60, &ask("t", "Bash", ""))]);
    assert_eq!(events().registry(RegistryStatus::Busy, 20_000).at(20_000), WORKING);
    assert_eq!(events().child(20_100).at(20_100), WORKING, "without a registry the tool's process tells");
    assert_eq!(events().child(50).at(20_100), APPROVAL, "a child from before the request says nothing");
}

/// An agent takes a prompt back that is stopped before its first word, and runs no hook for it.
#[test]
fn a_prompt_that_was_taken_back_runs_for_two_seconds_where_transcripts_follow_hooks() {
    let told = || {
        Scene::hooks(&[(30_000, PROMPT)]).transcript(
            State::WaitingForInput,
            Some(StateKind::TurnEnded),
            9_000,
        )
    };
    let follows = Scene { follows_hooks: true, ..told() };
    assert_eq!((follows.at(31_900), follows.verdict(31_900).next), (WORKING, Some(at(32_000))));
    assert_eq!(follows.at(32_000), (State::WaitingForInput, Some(StateKind::TurnEnded)));
    assert_eq!(told().at(32_000), WORKING, "elsewhere the transcript may be late");
    let mut silent = Scene { follows_hooks: true, ..told() };
    silent.transcript = silent.transcript.map(|reading| TranscriptReading {
        state: State::Idle,
        kind: None,
        silent: true,
        ..reading
    });
    assert_eq!((silent.at(31_900), silent.at(32_000).0), (WORKING, State::Idle), "after a long rest too");
    let begun = Scene {
        follows_hooks: true,
        ..Scene::hooks(&[(30_000, PROMPT)]).transcript(State::Working, None, 30_100)
    };
    assert_eq!(begun.at(90_000), WORKING);
}

#[test]
fn edge_05_a_refusal_and_edge_18_an_escape_are_told_at_once() {
    let asked = [(0, PROMPT), (10, &*pre("t", "Bash", "")), (60, &*ask("t", "Bash", ""))];
    let running = [(0, PROMPT), (10, &*pre("t", "Bash", ""))];
    for events in [&asked[..], &running[..]] {
        for status in [RegistryStatus::Idle, RegistryStatus::Shell] {
            let scene = Scene::hooks(events).registry(status, 20_000);
            let verdict = scene.verdict(20_000);
            assert_eq!((verdict.state, verdict.kind), INTERRUPTED);
            assert_eq!(verdict.reason.confidence, Confidence::Inferred, "the transcript will confirm it");
        }
        let transcript =
            Scene::hooks(events).transcript(State::WaitingForInput, Some(StateKind::Interrupted), 19_950);
        let verdict = transcript.registry(RegistryStatus::Idle, 20_000).verdict(20_200);
        assert_eq!((verdict.state, verdict.kind), INTERRUPTED);
        assert_eq!(verdict.reason.confidence, Confidence::Observed);
        // Without a registry the transcript ends it.
        let transcript =
            Scene::hooks(events).transcript(State::WaitingForInput, Some(StateKind::Interrupted), 19_950);
        assert_eq!(transcript.at(20_200), INTERRUPTED);
    }
}

#[test]
fn edge_19_only_the_registry_shows_an_escape_before_the_first_token() {
    let scene =
        Scene::hooks(&[(0, PROMPT)]).transcript(State::WaitingForInput, Some(StateKind::TurnEnded), -60_000);
    assert_eq!(scene.at(500), WORKING);
    assert_eq!(scene.registry(RegistryStatus::Idle, 1_000).at(1_000), INTERRUPTED);
    // Without a registry no witness knows; after a minute the transcript decides again.
    let alone =
        Scene::hooks(&[(0, PROMPT)]).transcript(State::WaitingForInput, Some(StateKind::TurnEnded), -60_000);
    assert_eq!((alone.at(59_000), alone.at(61_000)), (WORKING, ENDED_TURN));
}

#[test]
fn edge_07_subagents_ask_after_the_end_of_the_turn() {
    let of = r#","agent_id":"a","agent_type":"x""#;
    let running =
        r#""Stop","prompt_id":"p1","background_tasks":[{"id":"a","type":"subagent","status":"running"}]"#;
    let (call, request) = (pre("w", "Write", of), ask("w", "Write", of));
    let events = [(0, PROMPT), (3_000, running), (4_000, &*call), (4_060, &*request)];
    let waiting = RegistryStatus::Waiting("permission prompt".into());
    let verdict = Scene::hooks(&events).registry(waiting, 4_090).verdict(4_100);
    assert_eq!((verdict.state, verdict.kind), APPROVAL);
    assert!(verdict.reason.detail.contains("a subagent: Write"), "{}", verdict.reason.detail);
    assert_eq!(Scene::hooks(&events).at(5_100), APPROVAL);
    let answered = Scene::hooks(&events).registry(RegistryStatus::Busy, 9_000);
    assert_eq!(answered.at(9_000), (State::Working, Some(StateKind::Background)));
}

#[test]
fn edges_09_and_10_questions_and_plans_are_told_from_permissions() {
    for (tool, kind) in [("AskUserQuestion", StateKind::Question), ("ExitPlanMode", StateKind::Plan)] {
        let (call, request) = (pre("q", tool, ""), ask("q", tool, ""));
        let scene = Scene::hooks(&[(0, PROMPT), (10, &call), (60, &request)]);
        assert_eq!(scene.at(1_060), (State::WaitingForApproval, Some(kind)));
        let waiting = RegistryStatus::Waiting("permission prompt".into());
        assert_eq!(scene.registry(waiting, 90).at(90), (State::WaitingForApproval, Some(kind)));
        // The request itself was lost: the call of such a tool counts as one, though less sure.
        let verdict = Scene::hooks(&[(0, PROMPT), (10, &call)]).verdict(1_010);
        assert_eq!((verdict.state, verdict.kind), (State::WaitingForApproval, Some(kind)));
        assert_eq!(verdict.reason.confidence, Confidence::Inferred);
    }
}

#[test]
fn edge_15_other_programs_hooks_may_keep_the_turn_from_ending() {
    let scene = || Scene::hooks(&[(0, PROMPT), (10_000, STOP)]).registry(RegistryStatus::Busy, -40);
    assert_eq!(scene().at(10_050), ENDED_TURN, "the registry is about to say so");
    assert_eq!(scene().at(12_000), WORKING, "it does not: the turn is kept going");
    assert_eq!(scene().verdict(10_050).next, Some(at(12_000)));
}

#[test]
fn edges_26_and_27_errors_and_limits_are_known_before_their_records() {
    let failed = |text: &str, error: &str| {
        format!(r#""StopFailure","prompt_id":"p1","error":"{error}","last_assistant_message":"{text}""#)
    };
    let error = failed("API Error: overloaded", "server_error");
    let verdict =
        Scene::hooks(&[(0, PROMPT), (5_000, &error)]).registry(RegistryStatus::Idle, 5_050).verdict(5_060);
    assert_eq!((verdict.state, verdict.kind), (State::WaitingForInput, Some(StateKind::Error)));
    assert!(verdict.reason.detail.ends_with("API Error: overloaded"), "{}", verdict.reason.detail);
    let limit = failed("You've hit your limit · resets 5pm", "rate_limit");
    let scene = Scene::hooks(&[(0, PROMPT), (5_000, &limit)]);
    assert_eq!(scene.at(5_000), (State::WaitingForInput, Some(StateKind::Limit)));
}

#[test]
fn edges_31_and_32_background_work_is_told_without_registry_and_transcript() {
    let shell =
        r#""Stop","prompt_id":"p1","background_tasks":[{"id":"x","type":"shell","status":"running"}]"#;
    assert_eq!(
        Scene::hooks(&[(0, PROMPT), (900, shell)]).at(1_000),
        (State::WaitingForInput, Some(StateKind::Background))
    );
    let agent =
        r#""Stop","prompt_id":"p1","background_tasks":[{"id":"a","type":"subagent","status":"running"}]"#;
    let done = r#""SubagentStop","agent_id":"a","agent_type":"x""#;
    let background = (State::Working, Some(StateKind::Background));
    assert_eq!(Scene::hooks(&[(0, PROMPT), (900, agent)]).at(500_000), background);
    let ended = Scene::hooks(&[(0, PROMPT), (900, agent), (5_000, done)]);
    assert_eq!(
        (ended.at(5_500), ended.at(6_100)),
        (background, ENDED_TURN),
        "the report is on its way for a moment"
    );
    let blip =
        Scene::hooks(&[(0, PROMPT), (900, agent), (5_000, done)]).registry(RegistryStatus::Idle, 5_300);
    assert_eq!((blip.at(5_350), blip.at(6_400)), (background, ENDED_TURN));
}

#[test]
fn edge_37_a_session_that_was_cleared_has_ended_even_if_its_registry_says_otherwise() {
    let cleared = [(0, PROMPT), (900, STOP), (9_000, r#""SessionEnd","reason":"clear""#)];
    let verdict = Scene::hooks(&cleared).registry(RegistryStatus::Busy, 60_000).verdict(60_000);
    assert_eq!((verdict.state, verdict.live, verdict.pid), (State::Ended, false, None));
    let exit = [(0, PROMPT), (900, STOP), (9_000, r#""SessionEnd","reason":"prompt_input_exit""#)];
    assert_eq!(Scene::hooks(&exit).registry(RegistryStatus::Idle, 950).at(9_010).0, State::Ended);
    let resumed = Scene::hooks(&exit).transcript(State::Working, None, 60_000);
    assert_eq!(resumed.at(60_000), WORKING, "the session goes on");
}

#[test]
fn edge_38_a_silent_compaction_is_neither_stuck_nor_over() {
    let begun = [(0, PROMPT), (900, STOP), (5_000, r#""PreCompact","trigger":"manual""#)];
    let compacting = (State::Working, Some(StateKind::Compacting));
    let scene = Scene::hooks(&begun).registry(RegistryStatus::Busy, 5_040);
    assert_eq!((scene.at(5_050), scene.at(300_000)), (compacting, compacting));
    assert_eq!(
        scene.registry(RegistryStatus::Idle, 40_000).at(40_000).0,
        State::WaitingForInput,
        "it was cancelled"
    );
    let alone = Scene::hooks(&begun);
    assert_eq!(
        (alone.at(300_000), alone.at(606_000).0),
        (compacting, State::Idle),
        "no witness reported its end"
    );
}

#[test]
fn edge_42_a_dead_process_asks_nothing() {
    let mut scene = Scene::hooks(&[(0, PROMPT), (10, &pre("t", "Bash", "")), (60, &ask("t", "Bash", ""))])
        .registry(RegistryStatus::Waiting("permission prompt".into()), 90);
    scene.registry[0].liveness = Liveness::Dead;
    assert_eq!(scene.at(5_000), (State::Ended, Some(StateKind::Crashed)));
}

#[test]
fn edge_50_a_registry_that_stands_still_does_not_hide_what_hooks_say() {
    let scene = || Scene::hooks(&[(0, PROMPT), (10, &pre("t", "Bash", "")), (60, &ask("t", "Bash", ""))]);
    assert_eq!(scene().registry(RegistryStatus::Idle, -600_000).at(1_100), APPROVAL);
    assert_eq!(scene().registry(RegistryStatus::Busy, -600_000).at(1_100), APPROVAL);
    let running = Scene::hooks(&[(0, PROMPT), (10, &pre("t", "Bash", ""))]);
    assert_eq!(running.registry(RegistryStatus::Idle, -600_000).at(900_000), WORKING);
    let unknown = scene().registry(RegistryStatus::Unknown("pondering".into()), 70);
    assert_eq!(unknown.at(1_100), APPROVAL, "an unknown word is no evidence");
}

#[test]
fn edge_45_a_status_file_counts_for_five_minutes_without_a_better_witness() {
    let words = [
        ("working", WORKING),
        ("waiting_for_approval", APPROVAL),
        ("waiting_for_input", ENDED_TURN),
        ("completed", (State::WaitingForInput, Some(StateKind::Completed))),
        ("error", (State::WaitingForInput, Some(StateKind::Error))),
        ("blocked", (State::WaitingForInput, Some(StateKind::Blocked))),
        ("idle", (State::Idle, None)),
    ];
    for (word, expected) in words {
        let scene = Scene::default().transcript(State::Working, None, 0).file(word, 1_000);
        let verdict = scene.verdict(2_000);
        assert_eq!(
            ((verdict.state, verdict.kind), verdict.reason.source),
            (expected, Source::StatusFile),
            "{word}"
        );
        assert_eq!(verdict.next, Some(at(301_000)));
        assert_eq!((scene.at(300_999), scene.at(301_000)), (expected, WORKING), "{word}");
    }
    let unknown = Scene::default().transcript(State::Working, None, 0).file("pondering", 1_000);
    assert_eq!(unknown.at(2_000), WORKING);
    let newer = Scene::default().transcript(State::Working, None, 60_000).file("completed", 1_000);
    assert_eq!(newer.at(61_000), WORKING, "a turn has begun since");
    let live = Scene::default().file("waiting_for_approval", 1_000).registry(RegistryStatus::Busy, 0);
    assert_eq!(live.at(2_000), WORKING, "never over a live witness");
    let heard = Scene::hooks(&[(0, PROMPT)]).file("idle", 1_000);
    assert_eq!(heard.at(2_000), WORKING);
}

#[test]
fn a_status_file_tells_how_a_turn_ended() {
    for (word, kind) in [
        ("completed", StateKind::Completed),
        ("blocked", StateKind::Blocked),
        ("error", StateKind::Error),
        ("working", StateKind::TurnEnded),
    ] {
        let scene = Scene::hooks(&[(0, PROMPT), (9_000, STOP)])
            .registry(RegistryStatus::Idle, 9_050)
            .file(word, 6_000);
        let verdict = scene.verdict(9_100);
        assert_eq!((verdict.kind, verdict.reason.source), (Some(kind), Source::Registry), "{word}");
        let said = format!("status file says `{word}`: the parser; Half of it is done.");
        assert_eq!(verdict.reason.detail.contains(&said), word != "working", "{}", verdict.reason.detail);
        assert!(
            verdict.witnesses.iter().any(|w| w.detail.contains(&said)),
            "{word}: {:?}",
            verdict.witnesses
        );
    }
    let earlier = Scene::hooks(&[(0, PROMPT), (9_000, STOP)])
        .registry(RegistryStatus::Idle, 9_050)
        .file("error", -6_000);
    assert_eq!(earlier.at(9_100), ENDED_TURN, "it is of the turn before");
}

#[test]
fn why_names_every_witness_with_what_it_alone_would_have_said() {
    let scene = Scene::hooks(&[(0, PROMPT), (10, &pre("t", "Bash", "")), (60, &ask("t", "Bash", ""))])
        .registry(RegistryStatus::Busy, 20_000)
        .called("t", 0, true)
        .file("blocked", 15_000)
        .child(20_100);
    let verdict = scene.verdict(21_000);
    let said: Vec<_> = verdict.witnesses.iter().map(|w| (w.source, w.state, w.kind, w.winner)).collect();
    assert_eq!(
        said,
        [
            (Source::Registry, Some(State::Working), None, true),
            (Source::Process, None, None, false),
            (Source::Process, None, None, false),
            (Source::Hook, Some(State::WaitingForApproval), Some(StateKind::Permission), false),
            (Source::StatusFile, Some(State::WaitingForInput), Some(StateKind::Blocked), false),
            (Source::Timeout, Some(State::WaitingForApproval), Some(StateKind::Permission), false),
        ]
    );
}

#[test]
fn a_verdict_does_not_change_after_all_witnesses_have_decayed() {
    let silent = |process: Option<InstanceWitness>| {
        let mut scene = Scene::hooks(&[(0, PROMPT)]);
        scene.registry.extend(process);
        assert_eq!(scene.at(59_000), WORKING);
        let decayed = scene.verdict(601_000);
        assert_eq!((decayed.state, decayed.since), (State::Idle, at(60_000)), "since a turn decays");
        assert_eq!((decayed.reason.confidence, decayed.next), (Confidence::Inferred, None));
        assert_eq!(scene.verdict(9_000_000), decayed, "and so it stays");
        decayed.reason.detail
    };
    let witness = |pid, liveness| InstanceWitness {
        entry: RegistryEntry::unregistered(Instance { pid, proc_start: None }, SessionId::new("s")),
        liveness,
        seen_at: at(-5_000),
    };
    assert_eq!(&*silent(None), "nothing more was heard of it");
    assert_eq!(&*silent(Some(witness(8, Liveness::Dead))), "nothing more was heard of it");
    assert_eq!(&*silent(Some(witness(7, Liveness::Alive))), "nothing more was heard of process 7");

    // Without hooks, and then with a status file that counts for five minutes.
    let unheard = || Scene { registry: vec![witness(7, Liveness::Alive)], ..Scene::default() };
    let verdict = unheard().verdict(601_000);
    assert_eq!(&*verdict.reason.detail, "process 7 has not said anything yet");
    assert_eq!((verdict.state, verdict.since), (State::Idle, at(-5_000)));
    let scene = unheard().file("working", 10_000);
    assert_eq!(scene.at(309_000), WORKING);
    assert_eq!((scene.at(311_000).0, scene.verdict(311_000).since), (State::Idle, at(310_000)));
    // The end of another process says nothing about this one.
    let mut scene = Scene::hooks(&[(0, PROMPT)]);
    scene.registry = vec![witness(7, Liveness::Alive), witness(8, Liveness::Dead)];
    scene.registry[1].seen_at = at(90_000);
    assert_eq!(scene.verdict(601_000).since, at(60_000));
}

/// The user refuses a request, or presses Escape while a command runs, and opens a menu later. No hook fires for
/// either.
#[test]
fn a_menu_after_a_refusal_is_no_request() {
    let dialog = || RegistryStatus::Waiting(Arc::from("dialog open"));
    let menu = (State::WaitingForInput, Some(StateKind::Dialog));
    let (call, request) = (pre("t", "Bash", ""), ask("t", "Bash", ""));
    let refused = [(0, PROMPT), (10, &*call), (60, &*request)];
    for before in [&refused[..], &refused[..2]] {
        let later = Scene::hooks(before).registry(dialog(), 30_000);
        let transcript = later.transcript(State::WaitingForInput, Some(StateKind::Interrupted), 5_000);
        assert_eq!(transcript.at(30_100), menu);
        assert_eq!(transcript.at(90_000), menu);
    }
    let asks = Scene::hooks(&refused).registry(dialog(), 90).called("t", 20, false);
    assert_eq!(asks.at(200), APPROVAL, "the transcript still shows the call");
}
