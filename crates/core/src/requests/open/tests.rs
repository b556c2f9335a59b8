//! The life of a request.

#![allow(clippy::unwrap_used, reason = "a request of the test that cannot be read is a failure")]

mod law;

use super::*;
use crate::requests::request::{FileState, NamedFile, RequestKind};

fn request(id: usize, session: &str, subagent: Option<&str>, at: i64) -> Request {
    Request {
        id: RequestId::new(&id.to_string()),
        via: Via::Hook,
        session: SessionId::new(session),
        subagent: None,
        subagent_id: subagent.map(Arc::from),
        tool: "Bash".into(),
        input: "{}".into(),
        shown: format!("echo {id}").into(),
        summary: format!("Bash: echo {id}").into(),
        kind: RequestKind::Permission,
        always: Vec::new(),
        suggestions: "null".into(),
        mode: None,
        cwd: None,
        project: None,
        opened_at: Timestamp::from_millis(at),
        digest: Digest::of(&id.to_le_bytes()),
        files: None,
        changed: Vec::new(),
        not_compared: Vec::new(),
    }
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn one_open() -> (OpenRequests, Request) {
    let mut all = OpenRequests::default();
    let request = request(1, "s", None, 0);
    assert_eq!(all.ask(request.clone()), []);
    (all, request)
}

fn answer(all: &mut OpenRequests, request: &Request, now: i64) -> Result<bool, AnswerRefusal> {
    all.check(&request.session, &request.id, request.digest, &Decision::Allow)?;
    Ok(all.send(&request.id, at(now)))
}

#[test]
fn an_answer_that_takes_effect_closes_the_request() {
    let (mut all, request) = one_open();
    assert_eq!(answer(&mut all, &request, 1_000), Ok(true));
    assert_eq!(answer(&mut all, &request, 1_001), Err(AnswerRefusal::Answered));
    assert_eq!(
        all.printed(&request.id, at(1_010)),
        [RequestEffect::Outcome(request.id.clone(), AnswerOutcome::Taken)]
    );
    assert_eq!(all.hook_gone(&request.id), [], "its end after the answer says nothing new");
    assert_eq!(all.verdict(&request.session, true, at(1_200)), []);
    let effects = all.verdict(&request.session, false, at(1_300));
    let closed = RequestEffect::Closed(request.session.clone(), request.id.clone(), Closing::Answered);
    assert_eq!(effects, [RequestEffect::Outcome(request.id.clone(), AnswerOutcome::Effect), closed]);
    assert_eq!(answer(&mut all, &request, 1_400), Err(AnswerRefusal::NotOpen));
}

#[test]
fn after_a_change_of_its_file_the_shown_request_cannot_be_answered() {
    let file = |length: u64| {
        let state = FileState { length, modified: at(1), hash: Some(Digest::of(&length.to_le_bytes())) };
        let file = NamedFile { path: "/p/a.sh".into(), state: Some(state) };
        NamedFiles { compared: vec![file], not_compared: vec!["$X".into()] }
    };
    let mut all = OpenRequests::default();
    let before = request(1, "s", None, 0);
    all.ask(before.clone());
    all.note_files(&before.id, file(1));
    assert_eq!(all.asked(&before.session).unwrap().request.digest, before.digest, "the first look");
    all.note_files(&before.id, file(2));
    assert_eq!(answer(&mut all, &before, 10), Err(AnswerRefusal::Changed));
    let now = all.asked(&before.session).unwrap().request;
    assert_eq!(now.changed, ["/p/a.sh".into()]);
    assert_eq!(answer(&mut all, &now, 10), Ok(true));
    all.note_files(&before.id, file(3));
    assert_eq!(all.asked(&before.session).unwrap().request, now, "it was answered");
    assert_eq!(now.not_compared, ["$X".into()]);
}

#[test]
fn a_file_that_came_after_the_first_look_is_a_change() {
    let mut all = OpenRequests::default();
    let before = request(1, "s", None, 0);
    all.ask(before.clone());
    all.note_files(&before.id, NamedFiles::default());
    let state = FileState { length: 1, modified: at(1), hash: None };
    let file = NamedFile { path: "/p/new.sh".into(), state: Some(state) };
    all.note_files(&before.id, NamedFiles { compared: vec![file], ..NamedFiles::default() });
    assert_eq!(answer(&mut all, &before, 10), Err(AnswerRefusal::Changed));
    assert_eq!(all.asked(&before.session).unwrap().request.changed, ["/p/new.sh".into()]);
}

#[test]
fn what_ends_with_its_session_unanswered_expires() {
    let (mut all, request) = one_open();
    let effects = all.session_ended(&request.session);
    assert_eq!(effects[0], RequestEffect::Expired(Arc::new(request.clone())));
    assert_eq!(answer(&mut all, &request, 10), Err(AnswerRefusal::NotOpen));
    let (mut all, request) = one_open();
    answer(&mut all, &request, 10).unwrap();
    assert!(
        !all.session_ended(&request.session).iter().any(|effect| matches!(effect, RequestEffect::Expired(_)))
    );
}

#[test]
fn a_request_that_comes_again_is_counted_until_the_session_ends() {
    let mut all = OpenRequests::default();
    let mut times = |session: &str, id: usize, input: &str, ends: bool| {
        let asks = Request { input: input.into(), ..request(id, session, None, 0) };
        all.ask(asks);
        let times = all.asked(&SessionId::new(session)).unwrap().times;
        if ends {
            all.session_gone(&SessionId::new(session));
        }
        times
    };
    assert_eq!([times("s", 1, "a", false), times("s", 2, "a", false), times("s", 3, "b", false)], [1, 2, 1]);
    assert_eq!(times("t", 4, "a", false), 1, "another session");
    assert_eq!(times("s", 5, "a", true), 3);
    assert_eq!(times("s", 6, "a", false), 1, "a session that begins anew");
    for other in 0..100 {
        times("s", 10 + other, &format!("other {other}"), false);
    }
    assert_eq!(times("s", 200, "a", false), 1, "the memory is bounded");
}

#[test]
fn a_decision_in_the_terminal_releases_the_hook() {
    let (mut all, request) = one_open();
    assert_eq!(all.verdict(&request.session, true, at(100)), [], "of the request before");
    assert_eq!(all.verdict(&request.session, false, at(200)), []);
    assert_eq!(all.verdict(&request.session, false, at(600)), [], "the registry file is late");
    assert_eq!(all.verdict(&request.session, true, at(700)), []);
    let closed = RequestEffect::Closed(request.session.clone(), request.id.clone(), Closing::Elsewhere);
    assert_eq!(all.verdict(&request.session, false, at(800)), [RequestEffect::Release(request.id), closed]);
    assert_eq!(all.deadline(&SessionId::new("s"), at(800)), None);
}

#[test]
fn a_result_closes_the_request_of_its_call_while_a_subagent_asks() {
    for witness in [CallWitness::Hooks, CallWitness::Transcript] {
        let (mut all, first) = one_open();
        let id = first.session.clone();
        assert_eq!(all.take_calls(&id, witness, |_| false), [], "it did not see the call yet");
        all.take_calls(&id, witness, |request| &*request.tool == "Bash");
        all.verdict(&id, true, at(1_000));
        let closed = RequestEffect::Closed(id.clone(), first.id.clone(), Closing::Elsewhere);
        assert_eq!(
            all.take_calls(&id, witness, |_| false),
            [RequestEffect::Release(first.id.clone()), closed]
        );
        let answered = request(2, "s", None, 2_000);
        all.ask(answered.clone());
        all.take_calls(&id, witness, |_| true);
        assert_eq!(answer(&mut all, &answered, 3_000), Ok(true));
        let effects = all.take_calls(&id, witness, |_| false);
        assert_eq!(effects[0], RequestEffect::Outcome(answered.id, AnswerOutcome::Effect));
    }
}

#[test]
fn a_session_that_never_waits_asks_nothing_after_two_seconds() {
    let (mut all, request) = one_open();
    assert_eq!(all.deadline(&request.session, at(0)), Some(at(500)));
    assert_eq!(all.verdict(&request.session, false, at(1_999)), []);
    assert_eq!(all.deadline(&request.session, at(1_999)), Some(at(2_000)));
    assert_eq!(all.verdict(&request.session, false, at(2_000)).len(), 2);
}

#[test]
fn a_hook_that_ends_withdraws_its_request() {
    let (mut all, request) = one_open();
    let closed = RequestEffect::Closed(request.session.clone(), request.id.clone(), Closing::Withdrawn);
    assert_eq!(all.hook_gone(&request.id), [closed]);
    assert_eq!(answer(&mut all, &request, 900), Err(AnswerRefusal::NotOpen));
}

#[test]
fn an_answer_to_a_hook_that_died_is_lost() {
    let (mut all, request) = one_open();
    assert_eq!(answer(&mut all, &request, 900), Ok(true));
    let effects = all.hook_gone(&request.id);
    assert_eq!(effects[0], RequestEffect::Outcome(request.id, AnswerOutcome::Lost));
}

#[test]
fn an_answer_without_effect_fails_after_five_seconds_and_is_not_sent_again() {
    let (mut all, request) = one_open();
    assert_eq!(answer(&mut all, &request, 1_000), Ok(true));
    assert_eq!(all.deadline(&request.session, at(4_000)), Some(at(6_000)));
    assert_eq!(all.verdict(&request.session, true, at(5_999)), []);
    let failed = all.verdict(&request.session, true, at(6_000));
    assert_eq!(failed, [RequestEffect::Outcome(request.id.clone(), AnswerOutcome::NoEffect)]);
    assert_eq!(answer(&mut all, &request, 6_001), Err(AnswerRefusal::Answered));
    // The user decides in the terminal. That is no effect of the answer.
    let closed = RequestEffect::Closed(request.session.clone(), request.id.clone(), Closing::Elsewhere);
    assert_eq!(all.verdict(&request.session, false, at(9_000)), [closed]);
}

#[test]
fn the_end_of_the_session_or_of_watchbill_says_nothing_of_an_answer_on_its_way() {
    for is_printed in [false, true] {
        for ends in [OpenRequests::session_ended, |all: &mut OpenRequests, _: &SessionId| all.release_all()] {
            let (mut all, request) = one_open();
            assert_eq!(answer(&mut all, &request, 1_000), Ok(true));
            if is_printed {
                all.printed(&request.id, at(1_010));
            }
            let closed = RequestEffect::Closed(request.session.clone(), request.id, Closing::Answered);
            assert_eq!(ends(&mut all, &request.session), [closed]);
        }
    }
}

#[test]
fn a_card_that_showed_something_else_is_refused() {
    let (all, request) = one_open();
    let checked = all.check(&request.session, &request.id, Digest::of(b"another"), &Decision::Allow);
    assert_eq!(checked.unwrap_err(), AnswerRefusal::Changed);
}

#[test]
fn a_refused_attempt_is_told_of_the_request_that_is_asked_and_of_no_later_one() {
    let (mut all, first) = one_open();
    all.note_refused(&first.session, "an agent started it");
    assert_eq!(
        all.asked(&first.session).and_then(|asked| asked.refused).as_deref(),
        Some("an agent started it")
    );
    assert_eq!(answer(&mut all, &first, 10), Ok(true), "it decides nothing");
    all.ask(request(2, "s", None, 20));
    assert_eq!(all.asked(&first.session).and_then(|asked| asked.refused), None);
}

#[test]
fn the_next_request_of_a_turn_closes_the_one_before_and_a_subagents_does_not() {
    let (mut all, first) = one_open();
    assert_eq!(all.ask(request(2, "s", Some("a"), 10)), []);
    let effects = all.ask(request(3, "s", None, 20));
    assert_eq!(effects[0], RequestEffect::Release(first.id));
    let open: Vec<_> = all.of(&first.session).iter().map(|one| one.request.id.to_string()).collect();
    assert_eq!(open, ["2", "3"], "oldest first");
}

#[test]
fn a_host_says_itself_when_its_requests_are_over() {
    let mut all = OpenRequests::default();
    let of_host = |id| Request { via: Via::Host, ..request(id, "s", None, 0) };
    all.ask(of_host(1));
    all.ask(of_host(2));
    all.ask(of_host(1));
    assert_eq!(all.of(&SessionId::new("s")).len(), 2, "an agent may ask several things at once, each once");
    assert_eq!(all.verdict(&SessionId::new("s"), false, at(60_000)), [], "no other witness closes them");
    let first = of_host(1);
    assert_eq!(answer(&mut all, &first, 10), Ok(true));
    assert_eq!(all.undelivered(&first.id), [RequestEffect::Outcome(first.id.clone(), AnswerOutcome::Lost)]);
    assert_eq!(answer(&mut all, &first, 20), Ok(true), "what was not delivered can be answered again");
    all.printed(&first.id, at(30));
    let closed = all.closed(&first.id);
    assert_eq!(closed.first(), Some(&RequestEffect::Outcome(first.id.clone(), AnswerOutcome::Effect)));
    assert_eq!(all.closed(&first.id), []);
    let withdrawn = all.closed(&of_host(2).id);
    assert!(withdrawn.contains(&RequestEffect::Closed(
        SessionId::new("s"),
        of_host(2).id,
        Closing::Elsewhere
    )));
    assert!(all.of(&SessionId::new("s")).is_empty());
}

#[test]
fn what_a_host_closes_with_the_agents_end_expires_unless_it_was_answered() {
    for (answers, expires) in [(false, true), (true, false)] {
        let mut all = OpenRequests::default();
        let request = Request { via: Via::Host, ..request(1, "s", None, 0) };
        all.ask(request.clone());
        if answers {
            answer(&mut all, &request, 10).unwrap();
        }
        let effects = all.closed_by_end(&request.id);
        let expired = effects.contains(&RequestEffect::Expired(Arc::new(request.clone())));
        assert_eq!(expired, expires, "{effects:?}");
        assert!(effects.iter().any(|effect| matches!(effect, RequestEffect::Closed(..))), "{effects:?}");
        assert_eq!(all.closed_by_end(&request.id), []);
    }
}
