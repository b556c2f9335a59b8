//! Past alerts over a real store, and the rows of an engine.

#![allow(clippy::unwrap_used, reason = "a store of the test that cannot be used is a failure")]

use watchbill_core::history::rows::{Batch, BatchOrigin, BatchStatus, Ended};
use watchbill_core::ids::SessionId;
use watchbill_store::tables::answers::AnswerRow;
use watchbill_store::tables::sessions::SessionRow;
use watchbill_store::tables::transitions::TransitionRow;

use super::*;

/// So many seconds after the span began. It is 1,000 seconds long.
fn at(secs: i64) -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000) + Millis::from_secs(secs)
}

/// The states of `sketch` (`10 ask Bash: ls`), answers at these times, and a turn of this origin.
fn alerts_for(
    sketch: &[&str],
    answered: &[i64],
    turn: Option<(BatchOrigin, i64, i64)>,
    shown: &[TrackedSession],
) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), OpenMode::WriteOrRead).unwrap();
    let mut step = store.step().unwrap();
    let (mut last, mut since) = ("working", 0);
    let mut rows = Vec::new();
    for line in sketch {
        let mut words = line.splitn(3, ' ');
        let secs: i64 = words.next().unwrap().parse().unwrap();
        let (state, kind) = match words.next().unwrap() {
            "ask" | "guess" => ("waiting_for_approval", Some("permission")),
            "question" => ("waiting_for_approval", Some("question")),
            "error" => ("waiting_for_input", Some("error")),
            "turn" => ("waiting_for_input", Some("turn_ended")),
            state => (state, None),
        };
        (last, since) = (state, secs);
        rows.push(TransitionRow {
            at: at(secs),
            state: state.to_owned(),
            kind: kind.map(str::to_owned),
            source: "registry".to_owned(),
            detail: words.next().unwrap_or_default().to_owned(),
            confidence: if line.contains("guess") { "inferred" } else { "observed" }.to_owned(),
        });
    }
    let session = SessionRow {
        session_id: "s".into(),
        state: Some(last.into()),
        state_since: Some(at(since)),
        active_at: Some(at(999)),
        ..SessionRow::default()
    };
    step.put_session(&session).unwrap();
    let key = step.session_key(&SessionId::new("s")).unwrap();
    for row in &rows {
        step.add_transition(key, row, row.at).unwrap();
    }
    if let Some((origin, began, ended)) = turn {
        let ended = Some(Ended { status: BatchStatus::Completed, at: at(ended), error: None });
        let turn = Batch {
            id: "p".into(),
            origin: Some(origin),
            started_at: Some(at(began)),
            ended,
            ..Batch::default()
        };
        step.merge_batch(key, None, &turn).unwrap();
    }
    for secs in answered {
        let answer = AnswerRow {
            request_id: secs.to_string(),
            session_id: "s".into(),
            tool: "Bash".into(),
            shown: String::new(),
            decision: format!("allowed at {secs}"),
            surface: "window".into(),
            at: at(*secs),
            outcome: "effect".into(),
            outcome_at: None,
        };
        step.put_answer(&answer).unwrap();
    }
    step.commit().unwrap();
    let secs = |time: &str| Timestamp::parse(time).unwrap().since(at(0)).0 / 1_000;
    let alerts = alerts_of(&store, &(at(0)..at(1_000)), shown).unwrap();
    let in_words = |alert: &PastAlert| {
        let until = alert.until.as_deref().map(|until| secs(until).to_string()).unwrap_or_default();
        let about = alert.about.as_deref().map(|about| format!(" {about}")).unwrap_or_default();
        let answer = alert.answer.as_deref().map(|answer| format!(", {answer}")).unwrap_or_default();
        format!("{}{about} {}-{until} {:?}{answer}", alert.need, secs(&alert.at), alert.became)
    };
    alerts.iter().map(in_words).collect()
}

#[test]
fn only_what_was_seen_is_told() {
    type Case = (&'static str, &'static [&'static str], &'static [i64], &'static [&'static str]);
    let cases: &[Case] = &[
        ("a guess is no need", &["10 guess", "50 working"], &[], &[]),
        (
            "a need goes on while it is only less certain",
            &["10 guess", "20 ask asks: A", "30 guess", "50 working"],
            &[],
            &["approval A 20-50 WentOn"],
        ),
        (
            "an answer is of the need before it, not of the next one",
            &["10 ask", "20 working", "22 question", "40 working"],
            &[23],
            &["question 22-40 WentOn, allowed at 23 (window)", "approval 10-20 WentOn"],
        ),
        (
            "an answer takes effect at once, or the state is a little old",
            &["10 ask", "20 working"],
            &[24],
            &["approval 10-20 WentOn, allowed at 24 (window)"],
        ),
        (
            "one of two answers is not chosen",
            &["10 ask", "40 working"],
            &[20, 30],
            &["approval 10-40 WentOn"],
        ),
        (
            "an error has no answer",
            &["10 error asks: B", "40 working"],
            &[20],
            &["error asks: B 10-40 WentOn"],
        ),
        (
            "a failure is no answer",
            &["10 ask", "20 error E"],
            &[],
            &["error E 20- Unseen", "approval 10-20 Stopped"],
        ),
        ("nothing tells that it is open", &["10 ask asks: A"], &[], &["approval A 10- Unseen"]),
        ("the session ended", &["10 ask", "30 ended"], &[], &["approval 10-30 Ended"]),
        ("it began before the span", &["-5 ask asks: A", "30 turn"], &[], &[]),
    ];
    for (name, sketch, answered, told) in cases {
        assert_eq!(alerts_for(sketch, answered, None, &[]), *told, "{name}");
    }
    let asked = ["10 ask"];
    let turn = |origin, ended| Some((origin, 5, ended));
    let of = |sketch: &[&str], turn| alerts_for(sketch, &[], turn, &[]);
    assert_eq!(
        of(&asked, turn(BatchOrigin::Human, 400)),
        ["approval 10- Unseen"],
        "the transcript tells no answer"
    );
    assert_eq!(of(&["10 error", "20 idle"], turn(BatchOrigin::Human, 10)), ["error 10-20 Stopped"]);
    assert_eq!(of(&["10 error", "20 idle"], turn(BatchOrigin::Program, 10)), [""; 0], "a program's session");
}

#[test]
fn a_running_engine_tells_what_is_open_and_since_when() {
    let shown = |kind: &str| -> TrackedSession {
        serde_json::from_value(serde_json::json!({
            "sessionId": "s", "source": "watcher", "agent": "claude", "status": "waiting",
            "state": "waiting_for_approval", "stateKind": kind, "group": "needs_you", "stateSince": at(600).to_string(),
            "stateReason": { "source": "registry", "detail": "asks: B", "confidence": "observed" },
            "hasPendingToolUse": false, "lastActivityAt": at(600).to_string(), "workChainId": "c",
            "compactionCount": 0, "segmentCount": 1,
        }))
        .unwrap()
    };
    let of = |kind| alerts_for(&["10 ask asks: A"], &[], None, &[shown(kind)]);
    assert_eq!(of("permission"), ["approval B 600- Open"]);
    assert_eq!(of("question"), ["approval A 10- Unseen"]);
}
