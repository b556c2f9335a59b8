//! The resolver's rules, one test for each.

use std::sync::Arc;

use watchbill_core::evidence::registry::{Liveness, RegistryEntry, RegistryStatus};
use watchbill_core::evidence::{
    Departure, Evidence, GoneInstance, InstanceWitness, TranscriptWitness, Verdict, resolve,
};
use watchbill_core::ids::{Instance, SessionId};
use watchbill_core::roster::row::{PendingTool, Source};
use watchbill_core::session::state::{Confidence, State, StateKind, Timeouts};
use watchbill_core::time::Timestamp;

/// A moment; every test counts from it in milliseconds.
const NOON: i64 = 1_795_188_000_000;

fn at(offset: i64) -> Timestamp {
    Timestamp::from_millis(NOON + offset)
}

fn process(pid: u32, status: Option<RegistryStatus>, status_at: i64) -> InstanceWitness {
    InstanceWitness {
        entry: RegistryEntry {
            started_at: Some(at(-3_600_000)),
            status,
            status_at: Some(at(status_at)),
            tmux: Some(Arc::from("main:@1.%2")),
            ..RegistryEntry::unregistered(
                Instance { pid, proc_start: Some(Arc::from("4711")) },
                SessionId::new("s"),
            )
        },
        liveness: Liveness::Alive,
        seen_at: at(status_at + 20),
    }
}

fn dead(pid: u32, status: Option<RegistryStatus>, status_at: i64) -> InstanceWitness {
    InstanceWitness { liveness: Liveness::Dead, ..process(pid, status, status_at) }
}

fn gone(pid: u32, when: i64, how: Departure) -> GoneInstance {
    GoneInstance { instance: Instance { pid, proc_start: None }, at: at(when), how }
}

fn waiting(what: &str) -> Option<RegistryStatus> {
    Some(RegistryStatus::Waiting(Arc::from(what)))
}

fn pending(tool: &str, target: &str) -> Vec<PendingTool> {
    vec![PendingTool { id: Arc::from("t1"), tool: Arc::from(tool), target: Arc::from(target), since: at(0) }]
}

fn reading(state: State, kind: Option<StateKind>, since: i64) -> TranscriptWitness<'static> {
    TranscriptWitness {
        state,
        kind,
        since: at(since),
        detail: "turn ended",
        by_timeout: false,
        confidence: Confidence::Observed,
        pending: &[],
        last_activity_at: at(since),
        prompt_at: None,
        follows_hooks: false,
    }
}

fn working(since: i64) -> TranscriptWitness<'static> {
    TranscriptWitness { detail: "a turn runs", ..reading(State::Working, None, since) }
}

fn turn_ended(since: i64) -> TranscriptWitness<'static> {
    reading(State::WaitingForInput, Some(StateKind::TurnEnded), since)
}

fn guessed_approval() -> TranscriptWitness<'static> {
    TranscriptWitness {
        detail: "no answer for 5 s to Bash: cargo test; approval is a guess",
        by_timeout: true,
        confidence: Confidence::Inferred,
        ..reading(State::WaitingForApproval, Some(StateKind::Permission), 5_000)
    }
}

fn evidence<'a>(
    now: i64,
    transcript: Option<TranscriptWitness<'a>>,
    instances: &'a [InstanceWitness],
) -> Evidence<'a> {
    Evidence {
        now: at(now),
        transcript,
        instances,
        gone: None,
        registry_readable: true,
        expects_registry: true,
        hooks: None,
        own: None,
        status_file: None,
        child: None,
        live: true,
        timeouts: Timeouts::default(),
    }
}

fn verdict(now: i64, transcript: Option<TranscriptWitness<'_>>, instances: &[InstanceWitness]) -> Verdict {
    resolve(&evidence(now, transcript, instances))
}

fn short(verdict: &Verdict) -> (State, Option<StateKind>, Source, Confidence) {
    (verdict.state, verdict.kind, verdict.reason.source, verdict.reason.confidence)
}

#[test]
fn busy_is_working_since_the_registry_said_so() {
    let processes = [process(7, Some(RegistryStatus::Busy), 40)];
    let v = verdict(9_000, Some(working(0)), &processes);
    assert_eq!(short(&v), (State::Working, None, Source::Registry, Confidence::Observed));
    assert_eq!((v.since, v.pid, v.live), (at(40), Some(7), true));
    assert_eq!(&*v.reason.detail, "registry says `busy`");
    assert_eq!(v.tmux.as_deref(), Some("main:@1.%2"));
    assert_eq!(v.next, None, "a busy process stays busy until it says otherwise");
}

#[test]
fn busy_takes_the_finer_kind_of_work_from_the_transcript() {
    let processes = [process(7, Some(RegistryStatus::Busy), 40)];
    for kind in [StateKind::Compacting, StateKind::Retrying, StateKind::Background] {
        let transcript =
            TranscriptWitness { kind: Some(kind), detail: "retrying, 429, 3 of 10", ..working(0) };
        let v = verdict(9_000, Some(transcript), &processes);
        assert_eq!((v.state, v.kind), (State::Working, Some(kind)));
        assert_eq!(&*v.reason.detail, "registry says `busy`; retrying, 429, 3 of 10");
    }
}

#[test]
fn a_long_tool_is_no_approval_when_the_registry_is_busy() {
    let calls = pending("Bash", "cargo test");
    let transcript = TranscriptWitness { pending: &calls, ..guessed_approval() };
    let processes = [process(7, Some(RegistryStatus::Busy), 40)];
    let v = verdict(1_200_000, Some(transcript), &processes);
    assert_eq!(short(&v), (State::Working, None, Source::Registry, Confidence::Observed));
    let guess = v.witnesses.iter().find(|w| w.source == Source::Timeout).unwrap();
    assert_eq!((guess.state, guess.winner), (Some(State::WaitingForApproval), false));
}

#[test]
fn without_a_registry_the_guess_stands_and_is_marked() {
    let v = resolve(&Evidence { expects_registry: false, ..evidence(6_000, Some(guessed_approval()), &[]) });
    let expected =
        (State::WaitingForApproval, Some(StateKind::Permission), Source::Timeout, Confidence::Inferred);
    assert_eq!(short(&v), expected);
    assert!(!v.live);
}

#[test]
fn the_registrys_prompts_are_approvals_of_the_kind_that_the_transcript_shows() {
    let cases = [
        ("permission prompt", "Bash", StateKind::Permission),
        ("sandbox request", "Bash", StateKind::Permission),
        ("worker request", "Agent", StateKind::Permission),
        ("permission prompt", "ExitPlanMode", StateKind::Plan),
        ("permission prompt", "AskUserQuestion", StateKind::Question),
        ("input needed", "AskUserQuestion", StateKind::Question),
        ("input needed", "ExitPlanMode", StateKind::Plan),
        ("input needed", "Bash", StateKind::Question),
    ];
    for (what, tool, kind) in cases {
        let calls = pending(tool, "cargo test");
        let transcript = TranscriptWitness { pending: &calls, ..working(0) };
        let v = verdict(900_000, Some(transcript), &[process(7, waiting(what), 100)]);
        assert_eq!((v.state, v.kind), (State::WaitingForApproval, Some(kind)), "{what}, {tool}");
        assert_eq!(v.reason.confidence, Confidence::Observed);
        assert_eq!(v.next, None, "a prompt on screen does not go away with time");
    }
}

#[test]
fn an_approval_needs_no_transcript() {
    let v = verdict(900, None, &[process(7, waiting("permission prompt"), 100)]);
    assert_eq!((v.state, v.kind), (State::WaitingForApproval, Some(StateKind::Permission)));
    assert_eq!(&*v.reason.detail, "registry says `permission prompt`");
}

#[test]
fn the_reason_names_the_call_that_matters() {
    let mut calls = pending("Read", "notes.txt");
    calls.extend(pending("Bash", "cargo test"));
    let transcript = TranscriptWitness { pending: &calls, ..working(0) };
    let v = verdict(900, Some(transcript), &[process(7, waiting("permission prompt"), 100)]);
    assert_eq!(&*v.reason.detail, "registry says `permission prompt` for Bash: cargo test");
}

#[test]
fn dialogs_of_the_client_wait_for_input_and_are_no_approval() {
    for what in ["dialog open", "something new"] {
        let v = verdict(900, Some(turn_ended(0)), &[process(7, waiting(what), 100)]);
        assert_eq!((v.state, v.kind), (State::WaitingForInput, Some(StateKind::Dialog)), "{what}");
    }
}

#[test]
fn waiting_without_a_reason_is_judged_by_the_pending_calls() {
    let calls = pending("Bash", "cargo test");
    let transcript = TranscriptWitness { pending: &calls, ..working(0) };
    let v = verdict(900, Some(transcript), &[process(7, waiting(""), 100)]);
    let expected =
        (State::WaitingForApproval, Some(StateKind::Permission), Source::Registry, Confidence::Inferred);
    assert_eq!(short(&v), expected);
    let v = verdict(900, Some(turn_ended(0)), &[process(7, waiting(""), 100)]);
    assert_eq!((v.state, v.kind), (State::WaitingForInput, Some(StateKind::Dialog)));
}

#[test]
fn an_answered_question_is_work_again_although_its_result_is_not_written_yet() {
    let calls = pending("AskUserQuestion", "Which one?");
    let transcript = TranscriptWitness {
        pending: &calls,
        ..reading(State::WaitingForApproval, Some(StateKind::Question), 0)
    };
    let v = verdict(9_000, Some(transcript), &[process(7, Some(RegistryStatus::Busy), 8_000)]);
    assert_eq!((v.state, v.kind, v.since), (State::Working, None, at(8_000)));
}

#[test]
fn idle_takes_the_end_of_the_turn_from_the_transcript() {
    let processes = [process(7, Some(RegistryStatus::Idle), 60)];
    for kind in [StateKind::TurnEnded, StateKind::Interrupted, StateKind::Error, StateKind::Limit] {
        let v = verdict(9_000, Some(reading(State::WaitingForInput, Some(kind), 0)), &processes);
        assert_eq!((v.state, v.kind, v.since), (State::WaitingForInput, Some(kind), at(60)));
        assert_eq!(&*v.reason.detail, "registry says `idle`; turn ended");
        assert_eq!(v.next, Some(at(600_000)));
    }
}

#[test]
fn escape_before_the_first_token_is_seen_by_the_registry_alone() {
    let v = verdict(9_000, Some(working(0)), &[process(7, Some(RegistryStatus::Idle), 1_400)]);
    assert_eq!((v.state, v.kind), (State::WaitingForInput, Some(StateKind::TurnEnded)));
    assert_eq!(&*v.reason.detail, "registry says `idle`");
}

#[test]
fn a_registry_that_stands_still_is_overtaken_by_the_transcript() {
    for status in [RegistryStatus::Idle, RegistryStatus::Shell] {
        let processes = [process(7, Some(status), 0)];
        let v = verdict(9_000, Some(working(1_501)), &processes);
        assert_eq!(short(&v), (State::Working, None, Source::Transcript, Confidence::Observed));
        assert_eq!((v.pid, v.live), (Some(7), true), "the process is alive all the same");
        let v = verdict(9_000, Some(working(1_500)), &processes);
        assert_eq!(v.state, State::WaitingForInput, "records and status of one moment cross");
    }
}

#[test]
fn the_end_of_an_earlier_turn_is_not_taken_for_this_one() {
    let failed = reading(State::WaitingForInput, Some(StateKind::Error), 0);
    let idle = [process(7, Some(RegistryStatus::Idle), 2_300)];
    let v = verdict(2_320, Some(failed), &idle);
    assert_eq!((v.state, v.kind), (State::WaitingForInput, Some(StateKind::TurnEnded)));
    assert_eq!((&*v.reason.detail, v.next), ("registry says `idle`", Some(at(2_800))));
    let v = verdict(2_800, Some(failed), &idle);
    assert_eq!(v.kind, Some(StateKind::Error), "only a dialog was closed");
    let v = verdict(120, Some(failed), &[process(7, Some(RegistryStatus::Idle), 100)]);
    assert_eq!(v.kind, Some(StateKind::Error), "its own end is told at once");
}

#[test]
fn a_dialog_before_a_call_holds_the_turn_up() {
    let calls = pending("Bash", "cargo test");
    let processes = [process(7, waiting("dialog open"), 300)];
    let v = verdict(400, Some(TranscriptWitness { pending: &calls, ..working(0) }), &processes);
    assert_eq!(
        short(&v),
        (State::WaitingForApproval, Some(StateKind::Dialog), Source::Registry, Confidence::Observed)
    );
    let v = verdict(400, Some(TranscriptWitness { pending: &calls, ..turn_ended(0) }), &processes);
    assert_eq!((v.state, v.kind), (State::WaitingForInput, Some(StateKind::Dialog)), "no turn runs");
}

#[test]
fn only_idle_is_overtaken() {
    let v = verdict(90_000, Some(working(60_000)), &[process(7, waiting("permission prompt"), 0)]);
    assert_eq!(v.state, State::WaitingForApproval, "a subagent works on while another one asks");
    let v = verdict(90_000, Some(working(60_000)), &[process(7, waiting("dialog open"), 0)]);
    assert_eq!(v.kind, Some(StateKind::Dialog), "a menu may be open while the agent works");
    let v = verdict(90_000, Some(turn_ended(60_000)), &[process(7, Some(RegistryStatus::Busy), 0)]);
    assert_eq!(v.state, State::Working, "a stop hook runs after the turn's last record");
}

#[test]
fn a_background_shell_is_quiet() {
    let processes = [process(7, Some(RegistryStatus::Shell), 60)];
    let v = verdict(9_000, Some(turn_ended(0)), &processes);
    assert_eq!((v.state, v.kind), (State::WaitingForInput, Some(StateKind::Background)));
    let interrupted = reading(State::WaitingForInput, Some(StateKind::Interrupted), 0);
    let v = verdict(9_000, Some(interrupted), &processes);
    assert_eq!(v.kind, Some(StateKind::Interrupted), "a killed command passes through `shell`");
    let v = verdict(700_000, Some(turn_ended(0)), &processes);
    assert_eq!((v.state, v.kind), (State::Idle, Some(StateKind::Background)));
}

#[test]
fn a_quiet_process_becomes_idle_after_the_timeout() {
    let processes = [process(7, Some(RegistryStatus::Idle), 60)];
    let v = verdict(599_999, Some(turn_ended(0)), &processes);
    assert_eq!(v.state, State::WaitingForInput);
    let v = verdict(600_000, Some(turn_ended(0)), &processes);
    assert_eq!((v.state, v.kind, v.since, v.next), (State::Idle, None, at(600_000), None));
    assert_eq!(&*v.reason.detail, "registry says `idle`, and nothing happened for 10 min");
    assert!(v.live);
}

#[test]
fn a_resumed_session_waits_for_input_again() {
    let old = TranscriptWitness { by_timeout: true, ..reading(State::Idle, None, -86_400_000) };
    let v = verdict(9_000, Some(old), &[process(7, Some(RegistryStatus::Idle), 0)]);
    assert_eq!((v.state, v.since, v.next), (State::WaitingForInput, at(0), Some(at(600_000))));
}

#[test]
fn a_new_session_without_a_transcript_waits_for_input() {
    let v = verdict(9_000, None, &[process(7, Some(RegistryStatus::Idle), 0)]);
    assert_eq!((v.state, v.kind), (State::WaitingForInput, None));
    assert_eq!(&*v.reason.detail, "registry says `idle`; no transcript yet");
}

#[test]
fn edge_56_a_record_of_another_clock_does_not_overtake_the_registry() {
    let idle = [process(7, Some(RegistryStatus::Idle), 5_000)];
    let ahead = verdict(9_000, Some(working(3_600_000)), &idle);
    assert_eq!((ahead.state, ahead.reason.source), (State::WaitingForInput, Source::Registry));
    let newer = verdict(9_000, Some(working(8_000)), &idle);
    assert_eq!((newer.state, newer.reason.source), (State::Working, Source::Transcript));
}

#[test]
fn edge_32_the_gap_before_the_subagents_report_is_no_end() {
    let background = TranscriptWitness { kind: Some(StateKind::Background), ..working(1_000) };
    let idle = [process(7, Some(RegistryStatus::Idle), 9_000)];
    let v = verdict(9_500, Some(background), &idle);
    assert_eq!((v.state, v.kind, v.next), (State::Working, Some(StateKind::Background), Some(at(10_000))));
    // It stays idle: the subagents were stopped, although the transcript still waits for a notice.
    let v = verdict(10_000, Some(background), &idle);
    assert_eq!((v.state, v.kind), (State::WaitingForInput, Some(StateKind::TurnEnded)));
    // An ordinary turn's end counts at once.
    let v = verdict(9_500, Some(working(8_000)), &idle);
    assert_eq!(v.state, State::WaitingForInput);
}

#[test]
fn a_transcript_without_a_turn_shows_no_end() {
    let empty = reading(State::Idle, None, 0);
    let v = verdict(9_000, Some(empty), &[process(7, Some(RegistryStatus::Idle), 0)]);
    assert_eq!((v.state, v.kind), (State::WaitingForInput, None));
    assert_eq!(&*v.reason.detail, "registry says `idle`; its transcript shows no turn yet");
    let shell = verdict(9_000, Some(empty), &[process(7, Some(RegistryStatus::Shell), 0)]);
    assert_eq!(shell.kind, Some(StateKind::Background));
    // Idle by silence is different: there was a turn, and it has ended.
    let old = TranscriptWitness { by_timeout: true, ..empty };
    let v = verdict(9_000, Some(old), &[process(7, Some(RegistryStatus::Idle), 0)]);
    assert_eq!(v.kind, Some(StateKind::TurnEnded));
}

#[test]
fn a_dead_process_ends_the_session_against_all_other_witnesses() {
    let v = verdict(9_000, Some(working(100)), &[dead(7, Some(RegistryStatus::Busy), 40)]);
    assert_eq!(short(&v), (State::Ended, Some(StateKind::Crashed), Source::Process, Confidence::Observed));
    assert_eq!((v.since, v.pid, v.live), (at(100), None, false));
    assert_eq!(&*v.reason.detail, "process 7 ended unexpectedly; its registry file still says `busy`");
}

#[test]
fn a_living_process_outweighs_the_file_of_a_dead_one() {
    let processes = [dead(7, Some(RegistryStatus::Busy), 5_000), process(8, Some(RegistryStatus::Idle), 100)];
    let v = verdict(9_000, Some(turn_ended(0)), &processes);
    assert_eq!((v.state, v.pid, v.processes), (State::WaitingForInput, Some(8), 1));
}

#[test]
fn a_removed_file_is_an_orderly_end() {
    let left = gone(7, 500, Departure::FileRemoved);
    let v = resolve(&Evidence { gone: Some(&left), ..evidence(9_000, Some(working(0)), &[]) });
    assert_eq!(short(&v), (State::Ended, None, Source::Registry, Confidence::Observed));
    assert_eq!((v.since, &*v.reason.detail), (at(500), "process 7 ended normally"));

    let later = Some(working(60_000));
    let v = resolve(&Evidence { gone: Some(&left), expects_registry: false, ..evidence(61_000, later, &[]) });
    assert_eq!(v.state, State::Working, "a client without a registry went on with it");
}

#[test]
fn a_process_that_moved_on_ends_its_old_session() {
    let moved = gone(7, 500, Departure::MovedOn);
    let v = resolve(&Evidence { gone: Some(&moved), ..evidence(9_000, Some(turn_ended(0)), &[]) });
    assert_eq!((v.state, v.kind), (State::Ended, None));
    assert_eq!(&*v.reason.detail, "process 7 went on with another session");
}

#[test]
fn a_process_that_died_before_its_file_was_cleared_away_has_crashed() {
    let died = gone(7, 500, Departure::FileLeft);
    let v = resolve(&Evidence { gone: Some(&died), ..evidence(9_000, Some(working(0)), &[]) });
    assert_eq!(short(&v), (State::Ended, Some(StateKind::Crashed), Source::Process, Confidence::Observed));
}

#[test]
fn the_newer_of_a_crash_and_an_orderly_end_decides() {
    let crashed = [dead(7, Some(RegistryStatus::Busy), 0)];
    let left = gone(8, 5_000, Departure::FileRemoved);
    let v = resolve(&Evidence { gone: Some(&left), ..evidence(9_000, Some(turn_ended(4_000)), &crashed) });
    assert_eq!((v.state, v.kind, v.since), (State::Ended, None, at(5_000)));
    let earlier = gone(8, -5_000, Departure::FileRemoved);
    let v =
        resolve(&Evidence { gone: Some(&earlier), ..evidence(9_000, Some(turn_ended(-6_000)), &crashed) });
    assert_eq!(v.kind, Some(StateKind::Crashed));
}

#[test]
fn a_session_that_no_process_claims_has_ended() {
    let v = verdict(1_999, Some(working(0)), &[]);
    assert_eq!((v.state, v.next), (State::Working, Some(at(2_000))), "its file may be half written");
    let v = verdict(2_000, Some(working(0)), &[]);
    assert_eq!(short(&v), (State::Ended, None, Source::Registry, Confidence::Inferred));
    assert_eq!((v.since, v.next), (at(0), None));

    let unreadable = Evidence { registry_readable: false, ..evidence(2_000, Some(working(0)), &[]) };
    assert_eq!(resolve(&unreadable).state, State::Working);
    let unexpected = Evidence { expects_registry: false, ..evidence(2_000, Some(working(0)), &[]) };
    assert_eq!(resolve(&unexpected).state, State::Working);
}

#[test]
fn a_process_that_cannot_be_seen_counts_for_as_long_as_it_is_fresh() {
    let far = [InstanceWitness { liveness: Liveness::Unknown, ..process(7, Some(RegistryStatus::Busy), 40) }];
    let v = verdict(9_000, Some(working(0)), &far);
    assert_eq!(short(&v), (State::Working, None, Source::Registry, Confidence::Inferred));
    assert_eq!((v.pid, v.live, v.next), (None, true, Some(at(600_000))));
    let v = verdict(600_000, Some(working(0)), &far);
    assert_eq!(short(&v), (State::Idle, None, Source::Timeout, Confidence::Inferred));
    assert!(!v.live);
}

#[test]
fn an_open_question_of_a_process_that_cannot_be_seen_stays() {
    for (tool, kind) in [("AskUserQuestion", StateKind::Question), ("ExitPlanMode", StateKind::Plan)] {
        let calls = pending(tool, "Which one?");
        let asks = TranscriptWitness { pending: &calls, ..reading(State::WaitingForApproval, Some(kind), 0) };
        let far = |status| [InstanceWitness { liveness: Liveness::Unknown, ..process(7, status, 40) }];
        for status in [None, waiting("input needed"), waiting("permission prompt")] {
            let v = verdict(3_600_000, Some(asks), &far(status.clone()));
            assert_eq!((v.state, v.kind), (State::WaitingForApproval, Some(kind)), "{status:?}");
        }
        let v = verdict(3_600_000, Some(asks), &far(Some(RegistryStatus::Busy)));
        assert_eq!(v.state, State::Idle, "it was answered");
        let guess = TranscriptWitness { by_timeout: true, ..asks };
        assert_eq!(verdict(3_600_000, Some(guess), &far(None)).state, State::Idle);
        // No registry, no hooks.
        let alone = Evidence { expects_registry: false, ..evidence(3_600_000, Some(asks), &[]) };
        assert_eq!(resolve(&alone).state, State::WaitingForApproval);
    }
}

#[test]
fn the_transcript_decides_when_a_status_is_absent_or_unknown() {
    for status in [None, Some(RegistryStatus::Unknown(Arc::from("pondering")))] {
        let processes = [process(7, status, 40)];
        let v = verdict(9_000, Some(working(0)), &processes);
        assert_eq!(short(&v), (State::Working, None, Source::Transcript, Confidence::Observed));
        assert_eq!((v.pid, v.live), (Some(7), true));
        let v = verdict(9_000, None, &processes);
        assert_eq!(short(&v), (State::Idle, None, Source::Process, Confidence::Inferred));
    }
}

#[test]
fn a_turn_that_died_with_an_earlier_process_is_not_the_new_ones() {
    let mut fresh = process(7, None, 10_000);
    fresh.entry.started_at = Some(at(9_950));
    for broken_off in [working(0), guessed_approval()] {
        let v = verdict(10_100, Some(broken_off), &[fresh.clone()]);
        let expected = (State::WaitingForInput, Some(StateKind::TurnEnded), Source::Process);
        assert_eq!((v.state, v.kind, v.reason.source), expected);
        assert_eq!((v.reason.confidence, v.since, v.pid), (Confidence::Inferred, at(9_950), Some(7)));
    }
    let v = verdict(10_900, Some(working(10_500)), &[fresh]);
    assert_eq!((v.state, v.reason.source), (State::Working, Source::Transcript), "its own prompt counts");
}

#[test]
fn the_process_that_needs_the_user_most_decides() {
    let processes = [
        process(7, waiting("permission prompt"), 100),
        process(8, Some(RegistryStatus::Busy), 5_000),
        process(9, Some(RegistryStatus::Idle), 6_000),
    ];
    let v = verdict(9_000, Some(working(0)), &processes);
    assert_eq!((v.state, v.pid, v.processes), (State::WaitingForApproval, Some(7), 3));
    assert!(v.reason.detail.ends_with("; 3 processes run this session"), "{}", v.reason.detail);
    let v = verdict(9_000, Some(working(0)), &processes[1..]);
    assert_eq!((v.state, v.pid), (State::Working, Some(8)));
}

#[test]
fn equal_processes_are_distinguished_in_any_order() {
    let two = [process(7, Some(RegistryStatus::Busy), 100), process(8, Some(RegistryStatus::Busy), 100)];
    let turned = [two[1].clone(), two[0].clone()];
    assert_eq!(verdict(9_000, None, &two), verdict(9_000, None, &turned));
}

#[test]
fn a_question_about_the_past_ignores_live_witnesses() {
    for instance in [dead(7, Some(RegistryStatus::Busy), 40), process(7, waiting("permission prompt"), 40)] {
        let processes = [instance];
        let v = resolve(&Evidence { live: false, ..evidence(900_000, Some(working(0)), &processes) });
        assert_eq!(short(&v), (State::Working, None, Source::Transcript, Confidence::Observed));
        assert_eq!((v.pid, v.live, v.next, v.witnesses.len()), (None, false, None, 1));
    }
}

#[test]
fn every_witness_is_listed_and_the_winner_comes_first() {
    let v = verdict(9_000, Some(turn_ended(0)), &[process(7, Some(RegistryStatus::Idle), 60)]);
    let heard: Vec<(Source, Option<State>, bool)> =
        v.witnesses.iter().map(|w| (w.source, w.state, w.winner)).collect();
    let expected = [
        (Source::Registry, Some(State::WaitingForInput), true),
        (Source::Process, None, false),
        (Source::Transcript, Some(State::WaitingForInput), false),
    ];
    assert_eq!(heard, expected);
    assert_eq!(&*v.witnesses[1].detail, "process 7 runs");
    assert_eq!(&*v.witnesses[2].detail, "turn ended");
}

#[test]
fn a_clock_ahead_of_ours_moves_nothing_into_the_future() {
    let ahead = InstanceWitness { seen_at: at(1_000), ..process(7, Some(RegistryStatus::Busy), 3_600_000) };
    let v = verdict(9_000, Some(working(3_600_000)), &[ahead]);
    assert_eq!((v.state, v.since), (State::Working, at(1_000)));
}

/// The clock was set back after the registry's statement: with a repeated deadline the session would be evaluated
/// twice a second, for an hour.
#[test]
fn a_status_from_before_the_clock_went_back_is_evaluated_once() {
    let [idle, shell] = [RegistryStatus::Idle, RegistryStatus::Shell].map(Some);
    for process in
        [process(7, idle.clone(), 100_000), process(7, shell, 100_000), dead(7, idle.clone(), 100_000)]
    {
        let v = verdict(50_000, Some(turn_ended(0)), std::slice::from_ref(&process));
        assert_eq!(v.next, Some(at(100_500)), "{process:?}");
    }
    let v = verdict(50_000, Some(working(90_000)), &[process(7, idle, 100_000)]);
    assert_eq!((v.state, v.next), (State::WaitingForInput, Some(at(100_500))), "no turn is about to begin");
}
