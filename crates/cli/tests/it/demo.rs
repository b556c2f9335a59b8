//! The text and the JSON of every command on the demo, which never changes.

use serde_json::Value;

use crate::program::{run, run_watchbill, watchbill};

/// Sessions of the demo: one that waits, and one of a work chain.
const ASKS: &str = "09c2f561-3530-4e1a-b026-e91495aac3dd";
const CHAINED: &str = "ae01586e";
/// A session of the demo with a subagent at work.
const REVIEWS: &str = "8c8de607";

fn demo(words: &[&str]) -> String {
    let output = run_watchbill(&[&["--demo"], words].concat());
    assert_eq!((output.code, output.err.as_str()), (0, ""), "{words:?}");
    output.out
}

/// JSON with one value a line, so that a diff shows the place.
fn json(words: &[&str]) -> Value {
    let out = demo(words);
    assert_eq!(out.lines().count(), 1, "one line of JSON");
    serde_json::from_str(&out).expect("JSON")
}

#[test]
fn the_roster_as_text_at_four_widths() {
    for columns in ["40", "80", "120", "200"] {
        let home = tempfile::tempdir().unwrap();
        let output = run(watchbill(home.path()).args(["--demo", "roster"]).env("COLUMNS", columns));
        let widest = output.out.lines().map(unicode_width::UnicodeWidthStr::width).max();
        assert!(widest <= columns.parse().ok(), "{widest:?} columns of {columns}");
        insta::assert_snapshot!(format!("roster_{columns}"), output.out);
    }
}

#[test]
fn timelines_fit_a_narrow_terminal() {
    for session in [CHAINED, REVIEWS, ASKS] {
        for words in [&[][..], &["--from", "1", "--limit", "2"]] {
            for columns in [40, 50] {
                let home = tempfile::tempdir().unwrap();
                let mut show = watchbill(home.path());
                let show = show.args(["--demo", "show", session]).args(words);
                let shown = run(show.env("COLUMNS", columns.to_string())).out;
                for line in shown.lines() {
                    let wide = unicode_width::UnicodeWidthStr::width(line);
                    assert!(wide <= columns, "{wide} columns of {columns}: {line}");
                }
            }
        }
    }
}

#[test]
fn the_roster_in_colour() {
    insta::assert_snapshot!(demo(&["--color", "always", "roster"]).replace('\x1b', "␛"));
}

#[test]
fn colours_appear_only_on_terminals_or_by_option() {
    let home = tempfile::tempdir().unwrap();
    for (words, coloured) in [
        (&["--demo", "roster"][..], false),
        (&["--demo", "--color", "never", "roster"], false),
        (&["--demo", "--color", "always", "roster"], true),
        (&["--demo", "roster", "--color=always"], true),
        (&["--demo", "--color", "always", "roster", "--json"], false),
    ] {
        assert_eq!(run(watchbill(home.path()).args(words)).out.contains('\x1b'), coloured, "{words:?}");
    }
}

#[test]
fn the_roster_as_json() {
    let shown = json(&["roster", "--json"]);
    let all = json(&["roster", "--json", "--all"]);
    let ids = |roster: &Value| -> Vec<String> {
        roster["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|s| s["sessionId"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(ids(&all).len(), ids(&shown).len() + 1, "--all shows the superseded one too");
    assert!(ids(&shown).iter().all(|id| ids(&all).contains(id)));
    insta::assert_json_snapshot!(shown);
}

#[test]
fn without_live_evidence_only_transcripts_decide_states() {
    let roster = json(&["roster", "--json", "--no-live"]);
    for session in roster["sessions"].as_array().unwrap() {
        let source = session["stateReason"]["source"].as_str().unwrap();
        assert!(matches!(source, "transcript" | "timeout"), "{source}");
        assert!(session.get("pid").is_none(), "a process is live evidence");
    }
}

#[test]
fn why_as_text_and_json() {
    insta::assert_snapshot!(demo(&["why", ASKS]));
    insta::assert_json_snapshot!(json(&["why", ASKS, "--json"]));
}

#[test]
fn the_chain_as_text_and_json() {
    insta::assert_snapshot!(demo(&["chain", CHAINED]));
    let chain = json(&["chain", CHAINED, "--json"]);
    let by_chain_id = json(&["chain", chain["workChainId"].as_str().unwrap(), "--json"]);
    assert_eq!(chain, by_chain_id, "a chain is found by its own id too");
    insta::assert_json_snapshot!(chain);
}

#[test]
fn text_shows_local_times_and_json_shows_utc() {
    let home = tempfile::tempdir().unwrap();
    let output = |words: &[&str]| {
        run(watchbill(home.path()).arg("--demo").args(words).env("TZ", "JST-9").env("COLUMNS", "60")).out
    };
    let why = output(&["why", ASKS]);
    assert!(why.contains("since 2026-11-21 00:30:18") && why.contains("\n  2026-11-21 00:30:18\n"), "{why}");
    let chain = output(&["chain", CHAINED]);
    assert!(chain.contains("  2026-11-21 00:30:23 – 00:30:29  superseded\n"), "{chain}");
    for text in [&why, &chain] {
        let widest = text.lines().map(unicode_width::UnicodeWidthStr::width).max();
        assert!(!text.contains("T15:") && !text.contains('Z') && widest <= Some(60), "{text}");
    }
    let narrow = run(watchbill(home.path()).args(["--demo", "why", ASKS]).env("COLUMNS", "40")).out;
    let widest = narrow.lines().map(unicode_width::UnicodeWidthStr::width).max();
    assert!(narrow.contains("\n  since 2026-11-20 15:30:18") && widest <= Some(40), "{narrow}");
    for words in [["why", ASKS, "--json"], ["chain", CHAINED, "--json"]] {
        assert!(output(&words).contains("\"2026-11-20T15:30:"), "{words:?}");
    }
}

#[test]
fn the_timeline_as_text_and_json() {
    insta::assert_snapshot!(demo(&["show", CHAINED]));
    insta::assert_snapshot!("what_a_subagent_does_stands_below_its_call", demo(&["show", REVIEWS]));
    insta::assert_json_snapshot!(json(&["show", ASKS, "--json"]));
}

#[test]
fn from_and_limit_choose_a_part_of_the_timeline() {
    let whole = json(&["show", CHAINED, "--json"]);
    let items = whole["items"].as_array().unwrap();
    assert_eq!(whole["total"], items.len());
    assert!(items.len() > 5);
    for (words, range) in [
        (vec!["--limit", "2"], items.len() - 2..items.len()),
        (vec!["--from", "0", "--limit", "3"], 0..3),
        (vec!["--from", "4"], 4..items.len()),
        (vec!["--from", "999"], items.len()..items.len()),
        (vec!["--limit", "0"], items.len()..items.len()),
    ] {
        let part = json(&[&["show", CHAINED, "--json"], words.as_slice()].concat());
        assert_eq!(part["items"].as_array().unwrap(), &items[range.clone()], "{words:?}");
        assert_eq!(part["from"], range.start, "{words:?}");
    }
    insta::assert_snapshot!(demo(&["show", CHAINED, "--from", "1", "--limit", "2"]));
}

#[test]
fn the_status_in_every_form() {
    let forms = ["plain", "json", "waybar", "tmux"];
    let lines = forms.map(|form| demo(&["status", "--format", form]));
    assert!(lines.iter().all(|line| line.lines().count() == 1));
    assert_eq!(demo(&["status"]), lines[0]);
    insta::assert_snapshot!(lines.concat());
}

#[test]
fn doctor_as_text_and_json() {
    let text: String =
        demo(&["doctor"]).lines().filter(|line| !line.starts_with("fs.")).map(|l| format!("{l}\n")).collect();
    insta::assert_snapshot!(text.replace(env!("CARGO_PKG_VERSION"), "[version]"));
    let mut doctor = json(&["doctor", "--json"]);
    doctor["limits"] = Value::Null;
    doctor["versions"]["watchbill"] = Value::Null;
    insta::assert_json_snapshot!(doctor);
}

#[test]
fn a_look_at_the_past_uses_files_alone() {
    let then = json(&["roster", "--json", "--all", "--at", "2026-11-20T15:30:10Z"]);
    let ids: Vec<&str> =
        then["sessions"].as_array().unwrap().iter().filter_map(|s| s["sessionId"].as_str()).collect();
    assert!(!ids.is_empty() && !ids.contains(&ASKS), "it began later: {ids:?}");
    assert_eq!(then["generatedAt"], "2026-11-20T15:30:10.000Z");
    assert!(!then.to_string().contains("\"registry\""));
}
