//! The states of the recorded sessions by hooks and transcripts, with the registry and without it.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::stage::{ALL, Line, Shown, WitnessSet, names, play, recording};

/// The changes of state of each session, one line each.
fn page(shown: &[Shown]) -> String {
    let mut page = String::new();
    for s in shown {
        let detail: String = s.detail.chars().take(100).collect();
        let _ = writeln!(page, "{:>8} {} {} [{}] {detail}", s.t, &s.session[..8], s.state, s.source);
    }
    page
}

#[test]
fn the_recordings_as_hooks_and_transcript_tell_them() {
    for name in names() {
        let shown = play(&recording(&name), WitnessSet { registry: false, ..ALL });
        insta::with_settings!({ snapshot_suffix => format!("{name}.no_registry") }, {
            insta::assert_snapshot!("recorded", page(&shown));
        });
    }
}

#[test]
fn the_recordings_as_all_witnesses_tell_them() {
    for name in names() {
        insta::with_settings!({ snapshot_suffix => format!("{name}.all") }, {
            insta::assert_snapshot!("recorded", page(&play(&recording(&name), ALL)));
        });
    }
}

/// When the user was really asked: from the request to the key that answered it, or to the next sign of an answer.
fn asked(lines: &[Line]) -> BTreeMap<String, Vec<(i64, i64)>> {
    let mut spans: BTreeMap<String, Vec<(i64, i64)>> = BTreeMap::new();
    for (n, line) in lines.iter().enumerate() {
        let payload = &line.json["payload"];
        if line.op != "hook" || payload["hook_event_name"] != "PermissionRequest" {
            continue;
        }
        let session = payload["session_id"].as_str().expect("a session").to_owned();
        let answers = |line: &&Line| {
            let other = line.op == "hook" && line.json["payload"]["session_id"] != payload["session_id"];
            let event = line.json["payload"]["hook_event_name"].as_str().unwrap_or_default();
            let text = line.json["text"].as_str().unwrap_or_default();
            let ends = [
                "PostToolUse",
                "PostToolUseFailure",
                "PostToolBatch",
                "Stop",
                "SessionEnd",
                "UserPromptSubmit",
            ];
            // After a key that says yes, the end of the tool ends the request. Other keys end it by themselves.
            !other && ends.contains(&event)
                || line.op == "mark" && (text == "keys 4" || text == "keys Escape")
        };
        let end = lines[n..].iter().find(answers).map_or(i64::MAX, |line| line.t);
        spans.entry(session).or_default().push((line.t, end));
    }
    spans
}

/// No set of witnesses reports a request that does not exist, or misses an existing one for long.
#[test]
fn approvals_match_the_recorded_requests() {
    let mut requests = 0;
    for name in names() {
        let lines = recording(&name);
        let truth = asked(&lines);
        if truth.is_empty() {
            continue;
        }
        for (witnesses, early, late) in [
            (ALL, 200, 400),
            // No hook reports the answer to a dialog before the tool has ended.
            (WitnessSet { registry: false, ..ALL }, 0, 3_000),
        ] {
            let shown = play(&lines, witnesses);
            for (session, spans) in &truth {
                let of: Vec<&Shown> = shown.iter().filter(|s| s.session == *session).collect();
                let asks = |s: &Shown| s.state.starts_with("waiting_for_approval");
                for (n, s) in of.iter().enumerate().filter(|(_, s)| asks(s)) {
                    let until = of.get(n + 1).map_or(i64::MAX, |next| next.t);
                    let real = spans.iter().any(|(from, to)| {
                        s.t >= from - early && (until == i64::MAX || *to == i64::MAX || until <= to + late)
                    });
                    assert!(real, "{name}, {witnesses:?}: no witness asked at {} to {until} ms: {s:?}", s.t);
                    assert!(!s.state.ends_with('?'), "{name}: {s:?}");
                }
                // Print mode denies within 130 ms. A request that is answered within the dwell never counts.
                for (from, to) in spans.iter().filter(|(from, to)| to - from > 1_100) {
                    requests += 1;
                    let seen = of.iter().any(|s| asks(s) && s.t <= from + 1_100 && s.t >= from - early);
                    assert!(seen, "{name}, {witnesses:?}: the request at {from} ms was missed (until {to})");
                }
            }
        }
    }
    assert!(requests >= 20, "{requests}");
}

/// Even with up to half of the hooks lost, the registry still shows whether the user is asked.
#[test]
fn lost_hooks_do_not_change_the_approvals_of_the_registry() {
    let alarms = |shown: &[Shown]| -> Vec<(String, i64)> {
        let asks = shown.iter().filter(|s| s.state.starts_with("waiting_for_approval"));
        asks.map(|s| (s.session.clone(), s.t)).collect()
    };
    for name in names() {
        let lines = recording(&name);
        let all = alarms(&play(&lines, ALL));
        for lost in [2, 3, 5, 7] {
            assert_eq!(alarms(&play(&lines, WitnessSet { lost, ..ALL })), all, "{name}, every {lost}th lost");
        }
    }
}
