//! Sessions of our own: the fold of their events, their rank among the witnesses, and the guard of a resume.

use std::sync::Arc;

use proptest::prelude::*;
use watchbill_core::evidence::registry::{Liveness, RegistryEntry, RegistryStatus};
use watchbill_core::evidence::{Evidence, InstanceWitness, TranscriptWitness, Verdict, resolve};
use watchbill_core::ids::{Instance, SessionId};
use watchbill_core::own::resume::{Holder, may_resume};
use watchbill_core::own::{OwnWay, OwnWitness};
use watchbill_core::roster::row::Source;
use watchbill_core::session::snapshot::{from_bytes, to_bytes};
use watchbill_core::session::state::{Confidence, State, StateKind, Timeouts};
use watchbill_core::time::Timestamp;
use watchbill_drive::fold::{HostState, OwnFold};
use watchbill_protocol::own::event::{NO_REACTION, OwnTokens, OwnWhat, PromptPlace};

fn at(offset: i64) -> Timestamp {
    Timestamp::from_millis(1_795_188_000_000 + offset)
}

fn init() -> OwnWhat {
    OwnWhat::Init {
        session: "s".into(),
        model: Some("m-1".into()),
        mode: Some("default".into()),
        version: None,
        pid: Some(7),
        models: Vec::new(),
        modes: Vec::new(),
        commands: Vec::new(),
    }
}

fn prompt(id: &str, place: PromptPlace) -> OwnWhat {
    OwnWhat::Prompt { id: id.into(), text: "Mend the\nbuild".into(), images: 0, place }
}

fn ask(id: &str, kind: &str) -> OwnWhat {
    let request = serde_json::json!({
        "id": id, "digest": "", "kind": kind, "tool": "Bash", "input": null, "shown": "", "summary": "Bash: rm -r x",
        "openedAt": "", "answerable": "stream", "progress": "",
    });
    OwnWhat::Request { request: Box::new(serde_json::from_value(request).unwrap()) }
}

fn closes(id: &str) -> OwnWhat {
    OwnWhat::RequestClosed { request: id.into(), by: "answered".into() }
}

fn uses(id: &str, tool: &str, target: &str) -> OwnWhat {
    let (tool, target) = (tool.into(), target.into());
    OwnWhat::ToolUse { id: id.into(), tool, input: serde_json::Value::Null, target, parent: None }
}

fn result(id: &str) -> OwnWhat {
    OwnWhat::ToolResult { id: id.into(), text: String::new(), failed: false }
}

fn writes() -> OwnWhat {
    OwnWhat::Text { block: "b".into(), delta: "x".into() }
}

fn fails(text: &str, cause: &str) -> OwnWhat {
    OwnWhat::Error { text: text.into(), cause: cause.into(), record: None }
}

fn retry() -> OwnWhat {
    OwnWhat::Retry { attempt: 1, of: None, wait_ms: None, cause: "429".into() }
}

fn compaction(done: bool) -> OwnWhat {
    OwnWhat::Compaction { done, trigger: None, before: None }
}

fn ends(reason: &str) -> OwnWhat {
    let tokens = OwnTokens { input: 10, output: 5, cache_read: 1, cache_write: 2 };
    OwnWhat::TurnEnd { reason: reason.into(), tokens: Some(tokens), prompts: Vec::new() }
}

fn ended(asked: bool, code: Option<i32>) -> OwnWhat {
    OwnWhat::SessionEnded { asked, code, signal: None, words: Some("boom".into()) }
}

fn folded(facts: &[(i64, OwnWhat)]) -> OwnFold {
    let mut fold = OwnFold::new(OwnWay::Stream, at(0));
    for (when, fact) in facts {
        fold.take(at(*when), fact);
    }
    fold
}

fn told(fold: &OwnFold) -> (State, Option<StateKind>, i64) {
    let reading = fold.witness().reading.unwrap();
    (reading.state, reading.kind, reading.since.as_millis() - at(0).as_millis())
}

#[test]
fn a_turn_is_told_from_the_prompt_to_its_end() {
    let mut fold = folded(&[]);
    assert_eq!(told(&fold), (State::Idle, None, 0));
    fold.take(at(1), &prompt("a", PromptPlace::Queued));
    assert_eq!((fold.queued(), fold.goal.as_deref()), (1, Some("Mend the build")));
    fold.take(at(2), &prompt("a", PromptPlace::Started));
    assert_eq!((fold.queued(), told(&fold)), (0, (State::Working, None, 2)));
    fold.take(at(3), &init());
    fold.take(at(4), &OwnWhat::TurnStart);
    assert_eq!(told(&fold), (State::Working, None, 2), "the turn began with its prompt");
    fold.take(at(5), &uses("c", "Bash", "ls"));
    fold.take(at(6), &ask("r", "permission"));
    assert_eq!(told(&fold), (State::WaitingForApproval, Some(StateKind::Permission), 6));
    fold.take(at(7), &closes("r"));
    assert_eq!(told(&fold), (State::Working, None, 7));
    assert_eq!(fold.calls.len(), 1);
    fold.take(at(8), &result("c"));
    fold.take(at(9), &ends("completed"));
    assert_eq!(told(&fold), (State::WaitingForInput, Some(StateKind::TurnEnded), 9));
    assert_eq!((fold.calls.len(), fold.tokens.unwrap().output), (0, 5));
    assert_eq!((fold.model.as_deref(), fold.pid()), (Some("m-1"), Some(7)));
}

#[test]
fn each_end_of_a_turn_has_its_kind_and_its_words() {
    let cases = [
        ("completed", StateKind::TurnEnded, "the turn has ended"),
        ("interrupted", StateKind::Interrupted, "the user interrupted the turn"),
        ("limit", StateKind::Limit, "out of credit"),
        ("login", StateKind::Error, "out of credit"),
        ("error", StateKind::Error, "out of credit"),
        ("a new word", StateKind::Error, "out of credit"),
    ];
    for (reason, kind, detail) in cases {
        let fold = folded(&[(1, OwnWhat::TurnStart), (2, fails("out of credit", "api")), (3, ends(reason))]);
        let reading = fold.witness().reading.unwrap();
        assert_eq!((reading.kind, &*reading.detail), (Some(kind), detail), "{reason}");
    }
}

#[test]
fn retries_and_compactions_are_kinds_of_work_and_pass() {
    let mut fold = folded(&[(1, OwnWhat::TurnStart), (2, retry())]);
    assert_eq!(told(&fold), (State::Working, Some(StateKind::Retrying), 1));
    fold.take(at(3), &writes());
    assert_eq!(told(&fold), (State::Working, None, 1));
    fold.take(at(4), &compaction(false));
    assert_eq!(told(&fold).1, Some(StateKind::Compacting));
    fold.take(at(5), &compaction(true));
    assert_eq!(told(&fold), (State::Working, None, 1));
}

#[test]
fn an_end_says_who_ended_it() {
    let asked = folded(&[(1, init()), (2, ended(true, Some(143)))]);
    assert_eq!(told(&asked), (State::Ended, None, 2));
    let alone = folded(&[(1, init()), (2, ended(false, Some(0)))]);
    assert_eq!(told(&alone), (State::Ended, None, 2));
    let failed = folded(&[(1, init()), (2, ended(false, Some(1)))]);
    assert_eq!(told(&failed), (State::Ended, Some(StateKind::Crashed), 2));
    let words = failed.witness().reading.unwrap().detail;
    assert_eq!(&*words, "the agent ended with exit code 1: boom");
    let mut lost = folded(&[(1, init()), (2, OwnWhat::TurnStart)]);
    lost.set_host(HostState::Gone);
    assert_eq!(told(&lost), (State::Ended, Some(StateKind::Crashed), 2));
    assert!(!lost.is_live() && lost.pid().is_none());
    lost.set_host(HostState::GoneWithMachine);
    assert_eq!(&*lost.witness().reading.unwrap().detail, "it ended with the machine");
}

#[test]
fn an_agent_that_ends_before_it_is_ready_has_failed_whatever_its_code() {
    let ends = |words: Option<&str>| {
        let words = words.map(str::to_owned);
        let end = OwnWhat::SessionEnded { asked: false, code: Some(0), signal: None, words };
        let fold = folded(&[(1, OwnWhat::Started { pid: 7 }), (2, fails("held elsewhere", "api")), (3, end)]);
        (told(&fold), fold.witness().reading.unwrap().detail)
    };
    let (state, detail) = ends(Some("It runs in the background."));
    assert_eq!(state, (State::Ended, Some(StateKind::Crashed), 3));
    assert_eq!(&*detail, "the agent ended before it was ready, with exit code 0: It runs in the background.");
    assert!(ends(None).1.ends_with(": held elsewhere"), "its last error stands for its last words");
    let again = [
        (1, init()),
        (2, ended(false, Some(0))),
        (3, OwnWhat::Started { pid: 8 }),
        (4, ended(false, Some(0))),
    ];
    assert_eq!(told(&folded(&again)), (State::Ended, Some(StateKind::Crashed), 4));
}

#[test]
fn an_agent_that_does_not_react_to_an_interrupt_is_told_until_it_does_something() {
    let mut fold = folded(&[(1, OwnWhat::TurnStart), (2, fails("it does not react", NO_REACTION))]);
    assert_eq!(told(&fold), (State::Working, None, 1));
    assert_eq!(&*fold.witness().reading.unwrap().detail, "it does not react");
    fold.take(at(3), &writes());
    assert_ne!(&*fold.witness().reading.unwrap().detail, "it does not react");
    fold.take(at(4), &ends("interrupted"));
    fold.take(at(5), &fails("too late", NO_REACTION));
    assert_eq!(told(&fold).0, State::WaitingForInput);
}

#[test]
fn an_agent_that_starts_again_has_not_ended() {
    let fold = folded(&[
        (1, init()),
        (2, ended(false, Some(1))),
        (3, OwnWhat::Started { pid: 8 }),
        (4, OwnWhat::TurnStart),
    ]);
    assert_eq!(told(&fold), (State::Working, None, 4));
    assert_eq!(fold.pid(), Some(8));
}

#[test]
fn a_host_that_runs_after_the_end_has_resumed_the_session() {
    let mut fold = folded(&[(1, init()), (2, OwnWhat::TurnStart), (3, ended(true, Some(143)))]);
    assert!(!fold.is_live());
    fold.set_host(HostState::Runs);
    assert!(fold.is_live());
    assert_eq!(told(&fold), (State::WaitingForInput, Some(StateKind::Interrupted), 3));
    fold.set_host(HostState::Gone);
    assert_eq!(told(&fold), (State::Ended, None, 3), "nothing happened since, so it ended as before");
    // A host that was killed leaves no end; the next one says which prompts are in doubt.
    let lost = folded(&[(1, prompt("a", PromptPlace::Started)), (2, prompt("a", PromptPlace::Unknown))]);
    assert_eq!(told(&lost), (State::WaitingForInput, Some(StateKind::Interrupted), 2));
}

#[test]
fn a_clear_begins_a_conversation_with_a_title_of_its_own() {
    let mut fold = folded(&[(1, init()), (2, prompt("a", PromptPlace::Started)), (3, ends("completed"))]);
    fold.take(at(4), &OwnWhat::Moved { session: "t".into() });
    assert_eq!(fold.session, Some(SessionId::new("t")));
    assert_eq!((fold.goal.as_deref(), fold.tokens), (None, None));
}

fn process(pid: u32, status: Option<RegistryStatus>, status_at: i64, liveness: Liveness) -> InstanceWitness {
    let instance = Instance { pid, proc_start: Some(Arc::from("4711")) };
    let entry = RegistryEntry {
        started_at: Some(at(-1_000)),
        status,
        status_at: Some(at(status_at)),
        ..RegistryEntry::unregistered(instance, SessionId::new("s"))
    };
    InstanceWitness { entry, liveness, seen_at: at(status_at) }
}

fn verdict(
    now: i64,
    own: &OwnWitness,
    instances: &[InstanceWitness],
    transcript: Option<TranscriptWitness<'_>>,
) -> Verdict {
    resolve(&Evidence {
        now: at(now),
        transcript,
        instances,
        gone: None,
        registry_readable: true,
        expects_registry: true,
        hooks: None,
        own: Some(own),
        status_file: None,
        child: None,
        live: true,
        timeouts: Timeouts::default(),
    })
}

fn short(verdict: &Verdict) -> (State, Option<StateKind>, Source) {
    (verdict.state, verdict.kind, verdict.reason.source)
}

fn transcript_ended(since: i64) -> TranscriptWitness<'static> {
    TranscriptWitness {
        state: State::WaitingForInput,
        kind: Some(StateKind::TurnEnded),
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

#[test]
fn a_session_without_a_process_is_live_while_its_host_runs() {
    let own = folded(&[]).witness();
    let v = verdict(60_000, &own, &[], None);
    assert_eq!(short(&v), (State::Idle, None, Source::Stream));
    assert!(v.live && v.pid.is_none());
    // After a resume the transcript is there, and no registry file yet.
    let v = verdict(60_000, &own, &[], Some(transcript_ended(-90_000)));
    assert_eq!(short(&v), (State::Idle, None, Source::Stream));
}

#[test]
fn the_host_is_ahead_of_the_registry_which_wins_only_when_it_is_newer() {
    let own = folded(&[(0, init()), (1_000, OwnWhat::TurnStart)]).witness();
    let old = [process(7, Some(RegistryStatus::Idle), 900, Liveness::Alive)];
    let v = verdict(1_500, &own, &old, None);
    assert_eq!((short(&v), v.pid), ((State::Working, None, Source::Stream), Some(7)));
    let just_now = [process(7, Some(RegistryStatus::Idle), 3_000, Liveness::Alive)];
    assert_eq!(short(&verdict(3_000, &own, &just_now, None)).2, Source::Stream);
    let newer = [process(7, Some(RegistryStatus::Idle), 3_001, Liveness::Alive)];
    assert_eq!(short(&verdict(3_001, &own, &newer, None)).2, Source::Registry);
    let own = folded(&[(0, init()), (1_000, ask("r", "plan"))]).witness();
    let v = verdict(9_000, &own, &[process(7, Some(RegistryStatus::Busy), 8_000, Liveness::Alive)], None);
    assert_eq!(short(&v), (State::WaitingForApproval, Some(StateKind::Plan), Source::Stream));
    assert_eq!(&*v.ask.unwrap().target, "Bash: rm -r x");
}

#[test]
fn background_work_shows_by_the_registry_alone() {
    let own = folded(&[(0, init()), (900, OwnWhat::TurnStart), (1_000, ends("completed"))]).witness();
    let v = verdict(1_500, &own, &[process(7, Some(RegistryStatus::Shell), 1_050, Liveness::Alive)], None);
    assert_eq!(short(&v), (State::WaitingForInput, Some(StateKind::Background), Source::Registry));
}

#[test]
fn an_ended_turn_becomes_idle_and_says_when_to_look_again() {
    let own = folded(&[(0, init()), (900, OwnWhat::TurnStart), (1_000, ends("completed"))]).witness();
    let v = verdict(2_000, &own, &[], None);
    assert_eq!(short(&v), (State::WaitingForInput, Some(StateKind::TurnEnded), Source::Stream));
    assert_eq!(v.next, Some(at(601_000)));
    let v = verdict(601_000, &own, &[], None);
    assert_eq!((short(&v), v.since), ((State::Idle, None, Source::Stream), at(601_000)));
    assert!(v.live);
}

#[test]
fn an_ended_session_stays_ended_unless_another_process_goes_on_with_it() {
    let own = folded(&[(0, init()), (1_000, ended(true, Some(143)))]).witness();
    let left = [process(7, Some(RegistryStatus::Busy), 900, Liveness::Dead)];
    let v = verdict(9_000, &own, &left, Some(transcript_ended(1_200)));
    assert_eq!((short(&v), v.live), ((State::Ended, None, Source::Stream), false));
    let resumed = [process(8, Some(RegistryStatus::Busy), 5_000, Liveness::Alive)];
    let v = verdict(9_000, &own, &resumed, Some(transcript_ended(1_200)));
    assert_eq!((short(&v), v.pid), ((State::Working, None, Source::Registry), Some(8)));
}

#[test]
fn a_person_who_resumed_it_in_a_terminal_is_believed() {
    let own = folded(&[(0, init()), (1_000, ends("completed"))]).witness();
    let other = [process(8, Some(RegistryStatus::Busy), 900, Liveness::Alive)];
    assert_eq!(short(&verdict(1_500, &own, &other, None)), (State::Working, None, Source::Registry));
}

#[test]
fn a_terminal_leaves_the_state_to_the_others() {
    let mut fold = OwnFold::new(OwnWay::Pty, at(0));
    fold.take(at(1), &OwnWhat::Started { pid: 7 });
    let own = fold.witness();
    let busy = [process(7, Some(RegistryStatus::Busy), 900, Liveness::Alive)];
    assert_eq!(short(&verdict(1_000, &own, &busy, None)), (State::Working, None, Source::Registry));
    let v = verdict(1_000, &own, &[], None);
    assert_eq!((short(&v), v.live, v.pid), ((State::Idle, None, Source::Pty), true, Some(7)));
    fold.take(at(2_000), &ended(false, Some(0)));
    assert_eq!(short(&verdict(2_000, &fold.witness(), &[], None)), (State::Ended, None, Source::Pty));
}

#[test]
fn a_terminal_without_a_prompt_waits_for_nobody() {
    let mut fold = OwnFold::new(OwnWay::Pty, at(0));
    fold.take(at(1), &OwnWhat::Started { pid: 7 });
    let own = fold.witness();
    let idle = [process(7, Some(RegistryStatus::Idle), 900, Liveness::Alive)];
    let v = verdict(1_000, &own, &idle, None);
    assert_eq!((short(&v), v.live), ((State::Idle, None, Source::Registry), true));
    let after_a_turn = verdict(1_000, &own, &idle, Some(transcript_ended(800)));
    assert_eq!(short(&after_a_turn), (State::WaitingForInput, Some(StateKind::TurnEnded), Source::Registry));
    let dialog = RegistryStatus::Waiting("dialog open".into());
    let v = verdict(1_000, &own, &[process(7, Some(dialog), 900, Liveness::Alive)], None);
    assert_eq!(short(&v), (State::WaitingForInput, Some(StateKind::Dialog), Source::Registry));
}

#[test]
fn a_resume_is_refused_while_a_process_has_the_session() {
    let other = |pid, liveness| process(pid, Some(RegistryStatus::Idle), 0, liveness);
    assert_eq!(may_resume(&[], false), Ok(()));
    assert_eq!(
        may_resume(&[other(7, Liveness::Dead)], false),
        Ok(()),
        "registry files of dead processes lie"
    );
    let both = [other(7, Liveness::Dead), other(8, Liveness::Alive), other(9, Liveness::Unknown)];
    assert_eq!(may_resume(&both, false), Err(Holder::Process(8)));
    let mut background = both.clone();
    background[1].entry.job = Some("43eb2880".into());
    assert_eq!(may_resume(&background, false), Err(Holder::Background));
    background[1].liveness = Liveness::Unknown;
    assert_eq!(may_resume(&background, false), Err(Holder::OutOfSight(9)));
    background[1].liveness = Liveness::Dead;
    assert_eq!(may_resume(&background, false), Err(Holder::OutOfSight(9)));
    assert_eq!(may_resume(&[other(9, Liveness::Unknown)], false), Err(Holder::OutOfSight(9)));
    assert_eq!(may_resume(&[other(7, Liveness::Alive)], true), Err(Holder::Own));
}

fn any_fact() -> impl Strategy<Value = OwnWhat> {
    let id = prop::sample::select(vec!["a", "b", "c"]);
    let places = prop::sample::select(vec![PromptPlace::Queued, PromptPlace::Started, PromptPlace::Done]);
    prop_oneof![
        Just(init()),
        (id.clone(), places).prop_map(|(id, place)| prompt(id, place)),
        Just(OwnWhat::TurnStart),
        Just(writes()),
        id.clone().prop_map(|id| uses(id, "T", "x")),
        id.clone().prop_map(result),
        id.clone().prop_map(|id| ask(id, "permission")),
        id.prop_map(closes),
        Just(retry()),
        any::<bool>().prop_map(compaction),
        Just(ends("completed")),
        Just(OwnWhat::Moved { session: "t".into() }),
        Just(OwnWhat::Started { pid: 9 }),
        any::<bool>().prop_map(|asked| ended(asked, Some(0))),
        Just(OwnWhat::Ending { left: Vec::new() }),
    ]
}

proptest! {
    /// Any order of facts gives a state, an open request is the only cause of an approval, and nothing is left of an
    /// ended session.
    #[test]
    fn any_order_of_facts_is_consistent(facts in prop::collection::vec(any_fact(), 0..40)) {
        let mut fold = OwnFold::new(OwnWay::Stream, at(0));
        for (when, fact) in facts.into_iter().enumerate() {
            fold.take(at(i64::try_from(when).unwrap()), &fact);
            let reading = fold.witness().reading.unwrap();
            let asks = fold.ask_ids().next().is_some();
            prop_assert_eq!(reading.state == State::WaitingForApproval, asks && fold.is_live());
            if reading.state == State::Ended {
                prop_assert!(!fold.is_live() && fold.pid().is_none() && fold.queued() == 0);
            }
            prop_assert!(reading.since <= fold.last_at());
        }
    }

    /// A fold that was kept and is read at another time is that of the same facts, none of them later than that time.
    #[test]
    fn a_kept_fold_is_the_same_fold(facts in prop::collection::vec(any_fact(), 0..40), now in 0_i64..40) {
        let (mut told, mut clamped) = (folded(&[]), folded(&[]));
        for (when, fact) in (0..).zip(facts) {
            told.take(at(when), &fact);
            clamped.take(at(when).min(at(now)), &fact);
        }
        let mut kept: OwnFold = from_bytes(&to_bytes(&told)).unwrap();
        prop_assert_eq!(&kept, &told);
        kept.not_after(at(now));
        prop_assert_eq!(kept, clamped);
    }
}
