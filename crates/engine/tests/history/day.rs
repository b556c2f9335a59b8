//! A day as a running engine stored it: waits are what happened.

use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use jiff::tz::TimeZone;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_engine::clock::ManualClock;
use watchbill_engine::handle::{real_sources, start_in};
use watchbill_history::query::alerts::alerts;
use watchbill_protocol::alert::PastAlertEnd;
use watchbill_protocol::day::{Day, DayDoing};

use super::thread::settings;
use crate::wait::until;

fn at(secs: i64) -> Timestamp {
    Timestamp::parse("2026-11-20T15:00:00.000Z").unwrap() + Millis::from_secs(secs)
}

fn line(kind: &str, secs: i64, message: &str) -> String {
    format!(
        r#"{{"type":"{kind}","uuid":"u{secs}","sessionId":"s","cwd":"/home/dev/work","timestamp":"{}","message":{message}}}"#,
        at(secs)
    ) + "\n"
}

/// A turn that asks a question after ten seconds, gets the answer half a minute later, and ends.
fn turn() -> [(i64, String); 4] {
    let say = |id: &str, content: &str, stop: &str| {
        format!(
            r#"{{"id":"{id}","role":"assistant","model":"m","content":[{content}],"stop_reason":{stop}}}"#
        )
    };
    let question = r#"{"type":"tool_use","id":"t1","name":"AskUserQuestion","input":{"questions":[{"question":"Which?","options":[{"label":"a"}]}]}}"#;
    let answer = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a"}]}"#;
    let done = r#"{"type":"text","text":"done"}"#;
    [
        (0, line("user", 0, r#"{"role":"user","content":"go"}"#)),
        (10, line("assistant", 10, &say("m1", question, "null"))),
        (40, line("user", 40, answer)),
        (52, line("assistant", 52, &say("m2", done, r#""end_turn""#))),
    ]
}

#[test]
fn a_wait_is_as_long_as_it_was_to_the_second() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let project = root.join("claude/projects/p");
    std::fs::create_dir_all(&project).unwrap();
    let mut transcript = std::fs::File::create(project.join("s.jsonl")).unwrap();
    let clock = ManualClock::new(at(0));
    let engine =
        start_in(settings(&root), real_sources(), Arc::new(clock.clone()), None, Arc::default()).unwrap();
    let date = at(0).day(&TimeZone::system());
    let shown = |day: &Day| -> Vec<DayDoing> {
        day.chains.iter().flat_map(|chain| &chain.stretches).map(|stretch| stretch.doing).collect()
    };
    let mut told = None;
    for (step, (secs, line)) in turn().into_iter().enumerate() {
        transcript.write_all(line.as_bytes()).unwrap();
        let wanted = [DayDoing::Working, DayDoing::Waiting, DayDoing::Working, DayDoing::YourTurn];
        let began = Instant::now();
        // A second passes with each second, so that what needs to last a second does.
        until("the stretch is stored", || {
            clock.set(at(secs) + Millis(i64::try_from(began.elapsed().as_millis()).unwrap()));
            told = engine.day(Some(&date)).ok();
            told.as_ref().is_some_and(|day| shown(day) == wanted[..=step])
        });
    }
    engine.stop();
    let day = told.unwrap();
    assert_eq!((day.waits, day.waited_for_you, day.longest), (1, 30.0, 30.0), "{day:#?}");
    assert_eq!(day.worked, 22.0, "before the question, and after it");
    assert_eq!(day.you.iter().map(|deed| deed.answer).collect::<Vec<_>>(), [false, true]);
    let stretch = &day.chains[0].stretches[1];
    assert_eq!((&*stretch.from, stretch.state_kind.as_deref()), (&*at(10).to_string(), Some("question")));
    let place = engine.byte_at("s", &stretch.from).unwrap();
    let alerts = alerts(&settings(&root), at(60), &[]).unwrap();
    let [alert] = &*alerts else { panic!("{alerts:#?}") };
    assert_eq!(
        (&*alert.need, alert.about.as_deref(), alert.became),
        ("question", Some("Which?"), PastAlertEnd::WentOn)
    );
    assert_eq!((&*alert.at, alert.until.as_deref()), (&*at(10).to_string(), Some(&*at(40).to_string())));
    assert_eq!(place, Some(turn()[0].1.len() as u64), "where the question begins");
}
