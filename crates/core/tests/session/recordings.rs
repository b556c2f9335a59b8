//! The fold over transcripts of the real client: the recorded sessions go through the states that the driver saw.

#![allow(clippy::disallowed_methods, reason = "the core reads no files, its tests do")]
#![allow(clippy::expect_used, reason = "a broken fixture should fail loudly")]

use std::collections::BTreeMap;
use std::path::PathBuf;

use watchbill_agents::claude::records::parse_line;
use watchbill_core::chain::lineage::BeganBy;
use watchbill_core::ids::SessionId;
use watchbill_core::session::state::Timeouts;
use watchbill_core::session::{Effect, SessionFold, SubagentFold};
use watchbill_core::time::Timestamp;
use watchbill_core::transcript::record::Record;

/// One append to a transcript: milliseconds from the start, session, whole lines.
struct Append {
    t: i64,
    session: String,
    text: String,
}

fn recording(name: &str) -> Vec<Append> {
    appends(name, false)
}

fn appends(name: &str, of_subagents: bool) -> Vec<Append> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/recordings");
    let text = std::fs::read_to_string(folder.join(format!("{name}.ndjson"))).expect("the recording");
    text.lines()
        .filter_map(|line| {
            let op: serde_json::Value = serde_json::from_str(line).expect("an operation");
            let path = op["path"].as_str().unwrap_or_default();
            let wanted = op["op"] == "append"
                && path.starts_with("projects/")
                && path.contains("/subagents/") == of_subagents;
            wanted.then(|| Append {
                t: op["t"].as_i64().expect("a time"),
                session: path.rsplit('/').next().expect("a file").trim_end_matches(".jsonl").to_owned(),
                text: op["text"].as_str().expect("lines").to_owned(),
            })
        })
        .collect()
}

fn each_record(text: &str, mut f: impl FnMut(&Record<'_>)) {
    for line in text.lines() {
        parse_line(line.as_bytes(), &mut |record, _| f(&record));
    }
}

type Folds = BTreeMap<String, (SessionFold, Vec<Effect>)>;

fn fold_of<'a>(folds: &'a mut Folds, session: &str) -> &'a mut (SessionFold, Vec<Effect>) {
    folds
        .entry(session.to_owned())
        .or_insert_with(|| (SessionFold::new(SessionId::new(session), Timeouts::default()), Vec::new()))
}

/// Reads every transcript of a recording as if the program had been started afterwards.
fn cold(appends: &[Append]) -> Folds {
    let mut folds = Folds::new();
    for append in appends {
        let (fold, out) = fold_of(&mut folds, &append.session);
        each_record(&append.text, |record| fold.apply(record, out));
    }
    folds
}

/// Reads a recording as it was written, and advances the clock every half second and at each append.
fn live(appends: &[Append]) -> (Folds, Timestamp) {
    // A record is written after its time. So the recording began no earlier than any record shows.
    let mut began = i64::MIN;
    for append in appends {
        each_record(&append.text, |record| {
            began = began.max(record.envelope.at.map_or(began, |at| at.as_millis() - append.t));
        });
    }
    let mut folds = Folds::new();
    let mut now = began;
    for append in appends {
        while now <= began + append.t {
            for (fold, out) in folds.values_mut() {
                fold.advance(Timestamp::from_millis(now), out);
            }
            now += 500;
        }
        let (fold, out) = fold_of(&mut folds, &append.session);
        fold.advance(Timestamp::from_millis(began + append.t), out);
        each_record(&append.text, |record| fold.apply(record, out));
    }
    (folds, Timestamp::from_millis(now))
}

/// The states that the only session of a recording went through, as words.
fn path(name: &str) -> Vec<String> {
    let folds = cold(&recording(name));
    let mut stories = folds.into_values().map(|(_, out)| {
        out.iter()
            .map(|Effect::Transition { to, kind, .. }| match kind {
                Some(kind) => format!("{} {}", to.as_str(), kind.as_str()),
                None => to.as_str().to_owned(),
            })
            .collect()
    });
    let story = stories.next().expect("a session");
    assert_eq!(stories.next(), None::<Vec<String>>, "{name} has one session");
    story
}

fn all() -> Vec<String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/recordings");
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .expect("the recordings")
        .filter_map(|entry| Some(entry.ok()?.path().file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    names
}

#[test]
fn live_and_cold_agree_on_every_recording() {
    let names = all();
    assert!(names.len() > 25, "the recordings are there");
    for name in names {
        let appends = recording(&name);
        let mut cold = cold(&appends);
        let (mut live, now) = live(&appends);
        for (session, (fold, out)) in &mut cold {
            let (other, other_out) = live.get_mut(session).expect("the same sessions");
            fold.advance(now, out);
            other.advance(now, other_out);
            assert_eq!(fold.reading(), other.reading(), "{name} {session}");
            assert_eq!(fold.facts(), other.facts(), "{name} {session}");
            assert_eq!(fold.lineage(), other.lineage(), "{name} {session}");
            assert_eq!(fold.pending_tools(), other.pending_tools(), "{name} {session}");
        }
    }
}

const TURN: [&str; 2] = ["working", "waiting_for_input turn_ended"];
const GUESSED: &str = "waiting_for_approval permission";

#[test]
fn the_states_are_those_that_the_driver_saw() {
    for (name, story) in [
        ("04a-permission-approve", &["working", GUESSED, "working", "waiting_for_input turn_ended"][..]),
        (
            "04b-permission-deny",
            &["working", GUESSED, "working", "waiting_for_input interrupted", TURN[0], TURN[1]],
        ),
        ("04f-escape-while-tool-runs", &["working", GUESSED, "working", "waiting_for_input interrupted"]),
        (
            "04i-exitplanmode",
            &["working", "waiting_for_approval plan", "working", "waiting_for_input turn_ended"],
        ),
        ("04j-idle-70s", &TURN),
        ("05c-auto-mode", &TURN),
        ("06a-compact-manual", &[TURN[0], TURN[1], TURN[0], TURN[1], TURN[0], TURN[1]]),
        ("06c-compact-auto-midturn", &[TURN[0], TURN[1], TURN[0], TURN[1]]),
        // The agent closes the killed turn itself when it is resumed.
        ("06f-kill9-while-tool-runs", &["working", GUESSED, TURN[0], TURN[1], TURN[0], TURN[1]]),
        ("07b-subagent-background", &["working", "working background", TURN[0], TURN[1]]),
        ("07e-background-bash", &[TURN[0], TURN[1], TURN[0], TURN[1]]),
        ("07f-parallel-tools", &["working", GUESSED, TURN[0], TURN[1]]),
    ] {
        assert_eq!(path(name), story, "{name}");
    }
}

#[test]
fn errors_of_every_sort_end_their_turns() {
    let story = path("05a-api-errors");
    let ends: Vec<_> = story.iter().filter(|state| *state != "working").map(String::as_str).collect();
    let (over, error) = ("waiting_for_input turn_ended", "waiting_for_input error");
    assert_eq!(ends, [error, over, error, error, error, over, over, over, over, over]);
}

#[test]
fn facts_and_segments_of_real_files() {
    let folds = cold(&recording("06a-compact-manual"));
    let (fold, _) = folds.values().next().expect("a session");
    let facts = fold.facts();
    assert_eq!(facts.goal.as_deref(), Some("first @@hello"));
    assert_eq!(facts.summary.as_deref(), Some("Hello from the stub."));
    assert_eq!(facts.permission_mode.as_deref(), Some("default"));
    assert_eq!(fold.cwd().map(|cwd| &**cwd), Some("/home/dev/work"));
    assert_eq!(facts.queued_prompts, 0);
    assert_eq!(fold.lineage().segments.len(), 2);
    assert_eq!(fold.lineage().segments[0].boundary.and_then(|b| b.pre_tokens), Some(15_052));
    assert!(fold.pending_tools().is_empty());

    let folds = cold(&recording("06e-clear"));
    let began: Vec<_> = folds.values().map(|(fold, _)| fold.lineage().began_by).collect();
    assert_eq!(began.iter().flatten().collect::<Vec<_>>(), [&BeganBy::Clear], "one of the two, by /clear");
    let cleared = folds.values().find(|(fold, _)| fold.lineage().began_by.is_some()).expect("it");
    let root = folds.values().find(|(fold, _)| fold.lineage().began_by.is_none()).expect("the other");
    assert_eq!(cleared.0.lineage().process_sessions, [root.0.lineage().session.clone()]);

    for (name, tasks, agents) in [("07b-subagent-background", 0, 1), ("07e-background-bash", 0, 0)] {
        let folds = cold(&recording(name));
        let facts = folds.values().next().expect("a session").0.facts().clone();
        assert_eq!((facts.background_tasks, facts.subagents_running), (tasks, 0), "{name}");
        assert_eq!(facts.subagents_launched, agents, "{name}");
    }
}

#[test]
fn a_real_subagent_ends_by_its_own_file() {
    let mut fold = SubagentFold::new("ace5e060ad7ce26f4");
    let mut ran = false;
    let silence = Timeouts::default().idle;
    for append in appends("07b-subagent-background", true) {
        each_record(&append.text, |record| {
            fold.apply(record);
            ran |= fold.last_activity().is_some_and(|at| fold.is_running(at, silence));
        });
    }
    let last = fold.last_activity().expect("records");
    assert!(ran && !fold.is_running(last, silence));
    assert_eq!(fold.ledger().len(), 2, "two requests");
}
