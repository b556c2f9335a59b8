//! Storing and finding, over transcripts of the real client and handwritten ones.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::home::Home;
use crate::program::{run, watchbill};
use crate::tree::{act, append, recording, transcript};

const PAGER: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const OTHER: &str = "bbbbbbbb-0000-4000-8000-000000000002";

/// A home with two sessions; only the first speaks of a pager.
fn with_sessions() -> Home {
    let home = Home::empty();
    transcript(
        &home.claude(),
        PAGER,
        &[
            json!({"type": "user", "uuid": "11111111-0000-4000-8000-000000000001", "timestamp": "2026-11-20T15:00:00.000Z", "cwd": "/home/dev/api-server", "sessionId": PAGER, "promptId": "p1", "message": {"role": "user", "content": "The pager skips rows when parseLine fails. 検索も直して"}}),
            json!({"type": "assistant", "uuid": "11111111-0000-4000-8000-000000000002", "timestamp": "2026-11-20T15:00:05.000Z", "sessionId": PAGER, "message": {"id": "m1", "model": "claude-opus-4-6", "role": "assistant", "usage": {"input_tokens": 10, "output_tokens": 20, "cache_read_input_tokens": 30, "cache_creation_input_tokens": 40}, "content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "grep -n cursor src/pager.rs"}}]}, "requestId": "r1"}),
            json!({"type": "user", "uuid": "11111111-0000-4000-8000-000000000003", "timestamp": "2026-11-20T15:00:07.000Z", "sessionId": PAGER, "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "12: let cursor = page.next();"}]}}),
            json!({"type": "assistant", "uuid": "11111111-0000-4000-8000-000000000004", "timestamp": "2026-11-20T15:00:09.000Z", "sessionId": PAGER, "message": {"id": "m2", "model": "claude-opus-4-6", "role": "assistant", "usage": {"input_tokens": 1, "output_tokens": 2}, "content": [{"type": "text", "text": "The pager counted the header twice; <b>fixed</b>."}]}, "requestId": "r2"}),
        ],
    );
    transcript(
        &home.claude(),
        OTHER,
        &[
            json!({"type": "user", "uuid": "22222222-0000-4000-8000-000000000001", "timestamp": "2026-11-21T09:00:00.000Z", "cwd": "/home/dev/site", "sessionId": OTHER, "promptId": "p2", "message": {"role": "user", "content": "Translate the notes"}}),
        ],
    );
    home
}

/// The sessions of the hits.
pub fn found(home: &Home, words: &[&str]) -> Vec<String> {
    let answer = home.json(&[&["search", "--json"], words].concat());
    let hits = answer["hits"].as_array().unwrap();
    hits.iter().map(|hit| hit["sessionId"].as_str().unwrap().to_owned()).collect()
}

/// Removes the times and paths of this run.
fn steady(home: &Home, mut value: Value) -> Value {
    let text = |value: &Value| value.to_string().replace(home.path().to_str().unwrap(), "[home]");
    if let Some(answer) = value.as_object_mut() {
        for key in ["tookMs", "seconds", "exportedAt"] {
            answer.entry(key).and_modify(|listing| *listing = Value::String("[time]".to_owned()));
        }
    }
    serde_json::from_str(&text(&value)).unwrap()
}

#[test]
fn search_needs_no_index_before() {
    let home = with_sessions();
    let text = home.out(&["search", "pager"]);
    insta::assert_snapshot!("found_as_text", text);
    insta::assert_snapshot!(
        "found_in_colour",
        home.out(&["--color", "always", "search", "pager", "header"]).replace('\x1b', "␛")
    );
    let mut answer = steady(&home, home.json(&["search", "--json", "pager"]));
    for hit in answer["hits"].as_array_mut().unwrap() {
        assert!(hit["score"].as_f64().is_some());
        hit["score"] = Value::Null;
    }
    insta::assert_json_snapshot!("found_as_json", answer);
}

#[test]
fn a_hyphen_as_the_file_of_an_export_is_standard_output() {
    let home = with_sessions();
    let words = ["export", PAGER, "--format", "json"];
    let untimed = |words: &[&str]| steady(&home, home.json(words));
    let plain = untimed(&words);
    for hyphen in [&["-o", "-"][..], &["--output", "-"], &["-o-"], &["--output=-"]] {
        assert_eq!(untimed(&[&words[..], hyphen].concat()), plain, "{hyphen:?}");
    }
    assert!(!home.path().join("-").exists());
    assert_eq!(home.out(&[&words[..], &["-o", "./-"]].concat()), "", "a file may be called so all the same");
    assert!(home.path().join("-").exists());
}

#[test]
fn forget_reports_when_no_session_matches() {
    let home = with_sessions();
    home.out(&["index"]);
    for how in [&["--yes"][..], &["--dry-run"], &[]] {
        let words = [&["forget", "--before", "2020-01-01"], how].concat();
        assert_eq!(home.out(&words), "Nothing to forget.\n", "{how:?}");
    }
    let report = home.json(&["forget", "--before", "2020-01-01", "--yes", "--json"]);
    assert_eq!((&report["sessions"], &report["dryRun"]), (&json!([]), &json!(true)));
}

/// "Nothing found" would mislead if a folder could not be read.
#[test]
fn a_missing_folder_is_reported_as_by_the_roster() {
    let home = Home::empty();
    let roster = home.json(&["--claude-dir", "none", "roster", "--json"]);
    let path = roster["problems"][0]["path"].as_str().unwrap();
    let detail = roster["problems"][0]["detail"].as_str().unwrap();
    for words in [&["index"][..], &["search", "pager"], &["search", "--json", "pager"], &["stats", "--json"]]
    {
        let output = home.run_watchbill(&[&["--claude-dir", "none"], words].concat());
        assert_eq!((output.code, output.err.trim()), (0, &*format!("WARN {path}: {detail}")), "{words:?}");
        assert!(!output.out.is_empty(), "{words:?}");
    }
}

#[test]
fn a_search_with_too_many_words_or_bytes_is_refused_at_once() {
    let home = with_sessions();
    assert_eq!(home.run_watchbill(&["search", &"pager ".repeat(64)]).code, 0);
    for query in ["pager ".repeat(65), "p".repeat(4097), format!("\"{}\"", "pager ".repeat(20_000))] {
        let refused = home.run_watchbill(&["search", &query]);
        assert_eq!((refused.code, &*refused.out), (1, ""), "{}", refused.err);
        assert!(refused.err.contains("at most 64 words and 4096 bytes"), "{}", refused.err);
    }
}

#[test]
fn search_filters_narrow_the_result() {
    let home = with_sessions();
    let all = found(&home, &["pager"]).len();
    assert!(all >= 3, "a prompt, a command, an answer: {all}");
    assert_eq!(found(&home, &["pager", "--project", "api-SERVER"]).len(), all);
    assert_eq!(found(&home, &["pager", "--project", "site"]).len(), 0);
    assert_eq!(
        found(&home, &["pager", "--project", "/home/dev/api-server/"]).len(),
        all,
        "as Tab completes it"
    );
    assert_eq!(found(&home, &["pager", "--project", "/home/dev/api/"]).len(), 0);
    assert_eq!(found(&home, &["pager", "--role", "prompt"]).len(), 1);
    assert_eq!(found(&home, &["pager", "--tool", "Bash"]).len(), 1);
    assert_eq!(found(&home, &["pager", "--chain", &PAGER[..6]]).len(), all);
    assert_eq!(found(&home, &["pager", "--chain", OTHER]).len(), 0);
    assert_eq!(found(&home, &["pager", "--since", "2026-11-20T15:00:06Z"]).len(), 1);
    assert_eq!(found(&home, &["pager", "--limit", "1"]).len(), 1);
    for (words, code) in [
        (&["search", "x", "--chain", "nobody"][..], 1),
        (&["search", "x", "--since", "yesterday"], 2),
        (&["stats", "--since", "yesterday"], 2),
        (&["forget", "--before", "yesterday"], 2),
        (&["roster", "--at", "yesterday"], 2),
        (&["search", "x", "--role", "nobody"], 2),
        (&["search"], 2),
        (&["search", ""], 2),
        (&["search", " ", "\t"], 2),
        (&["search", "x", "--limit", "0"], 2),
    ] {
        let output = home.run_watchbill(words);
        assert_eq!((output.code, output.out.as_str()), (code, ""), "{words:?}: {}", output.err);
        assert!(code == 2 || output.err.lines().count() == 1, "{words:?}: {}", output.err);
    }
}

#[test]
fn every_recording_is_stored_and_each_text_is_found_in_its_chain() {
    let home = Home::empty();
    for name in ["06c-compact-auto-midturn", "07b-subagent-background", "06e-clear"] {
        for (_, operation) in &recording(name).operations {
            act(&home.claude(), operation);
        }
    }
    let answer = home.json(&["search", "--json", "--limit", "500", "files"]);
    let hits = answer["hits"].as_array().unwrap();
    assert!(hits.iter().any(|hit| hit.get("agentId").is_some()), "a subagent's text is found as its own");
    for hit in hits {
        let parts = hit["snippetParts"].as_array().unwrap();
        let whole: String = parts.iter().map(|part| part["text"].as_str().unwrap()).collect();
        assert_eq!(whole, hit["snippet"].as_str().unwrap());
        assert!(parts.iter().any(|part| part["found"] == json!(true)), "{hit}");
        let chain = home.json(&["chain", hit["sessionId"].as_str().unwrap(), "--json"]);
        assert_eq!(hit["workChainId"], chain["workChainId"], "the same piece of work as everywhere else");
    }
}

#[test]
fn search_finds_other_scripts_name_parts_and_phrases_and_accepts_any_input() {
    let home = with_sessions();
    for words in ["parse line", "parseLine", "\"skips rows\"", "pag*", "検索", "PAGER", "src/pager.rs"] {
        assert!(found(&home, &[words]).iter().any(|id| id == PAGER), "{words}");
    }
    for words in ["\"rows skips\"", "pager translate", "検検", "NEAR(", "\"", "* OR", "-", "a:b"] {
        assert!(found(&home, &["--", words]).is_empty(), "{words}");
    }
    assert_eq!(home.out(&["search", "unheard-of"]), "Nothing found.\n");
}

#[test]
fn search_reads_only_new_records_and_finds_them() {
    let home = with_sessions();
    let report = home.json(&["index", "--json"]);
    assert_eq!((&report["files"], &report["skipped"]), (&json!(2), &json!(0)));
    let again = home.json(&["index", "--json"]);
    assert_eq!((&again["skipped"], &again["records"]), (&json!(2), &json!(0)));
    assert!(found(&home, &["kumquat"]).is_empty());
    let line = json!({"type": "user", "uuid": "22222222-0000-4000-8000-000000000009", "timestamp": "2026-11-21T09:01:00.000Z", "sessionId": OTHER, "message": {"role": "user", "content": "Eat a kumquat"}});
    append(
        &home.claude(),
        &Path::new("projects/-home-dev-x").join(format!("{OTHER}.jsonl")),
        &format!("{line}\n"),
    );
    let answer = home.json(&["search", "--json", "--as-stored", "kumquat"]);
    assert_eq!((&answer["hits"], &answer["index"]), (&json!([]), &json!("behind")));
    assert_eq!(found(&home, &["kumquat"]), [OTHER]);
    assert_eq!(found(&home, &["translate"]), [OTHER], "and the rest is there once");
    assert_eq!(home.json(&["index", "--json", "--full"])["skipped"], json!(0));
    assert_eq!(found(&home, &["translate"]), [OTHER]);
}

#[test]
fn doctor_and_search_work_before_and_after_the_first_index() {
    let home = with_sessions();
    let answer = home.json(&["search", "--json", "--as-stored", "pager"]);
    assert_eq!(answer["index"], json!("absent"));
    assert!(home.out(&["search", "--as-stored", "pager"]).contains("watchbill index"));
    assert!(home.out(&["doctor"]).contains("no history is stored yet"));
    assert!(!home.data().exists(), "looking makes nothing");
    home.out(&["index"]);
    let doctor = home.json(&["doctor", "--json"]);
    let store = &doctor["store"];
    assert_eq!((&store["sessions"], &store["filesBehind"]), (&json!(2), &json!(0)));
    assert!(store["texts"].as_u64().unwrap() >= 5 && store["bytes"].as_u64().unwrap() > 0);
    assert!(home.out(&["doctor"]).contains("everything that is there is stored"));
    let schema = home.out(&["doctor", "--schema"]);
    assert!(schema.contains("CREATE TABLE sessions") && schema.contains("-- "), "with its comments");
}

#[test]
fn the_same_size_is_printed_in_the_same_words() {
    let home = Home::empty();
    let words = "word ".repeat(320_000);
    let line = json!({"type": "user", "uuid": "1", "timestamp": "2026-11-20T15:00:00.000Z", "sessionId": PAGER, "message": {"role": "user", "content": words}});
    transcript(&home.claude(), PAGER, &[line]);
    home.out(&["index"]);
    let doctor = home.out(&["doctor"]);
    assert!(doctor.contains("1 session in 1 file, 2 MB\n"), "{doctor}");
    assert!(doctor.contains("to keep this one file (2 MB) would take about "), "{doctor}");
}

#[test]
fn stats_count_each_request_once() {
    let home = with_sessions();
    insta::assert_snapshot!("stats_by_day", home.out(&["stats"]));
    insta::assert_snapshot!("stats_by_tool", home.out(&["stats", "--by", "tool"]));
    insta::assert_snapshot!("stats_by_project", home.out(&["stats", "--by", "project"]));
    let narrow = run(watchbill(home.path())
        .arg("--data-dir")
        .arg(home.data())
        .args(["stats", "--by", "project"])
        .env("COLUMNS", "63"));
    insta::assert_snapshot!("stats_by_project_narrow", narrow.out);
    for by in ["day", "project", "model", "tool"] {
        let output = run(watchbill(home.path())
            .arg("--data-dir")
            .arg(home.data())
            .args(["stats", "--by", by])
            .env("COLUMNS", "40"));
        assert!(output.out.lines().all(|line| line.chars().count() <= 40), "{}", output.out);
        insta::assert_snapshot!(format!("stats_by_{by}_in_40_columns"), output.out);
    }
    insta::assert_json_snapshot!("stats_by_model_as_json", home.json(&["stats", "--by", "model", "--json"]));
    let later = home.json(&["stats", "--json", "--since", "2026-11-21T00:00:00Z"]);
    assert_eq!(later["rows"], json!([]));
    assert_eq!(later["total"]["requests"], json!(0));
}

#[test]
fn costs_are_by_list_prices_and_models_without_one_are_named() {
    let home = with_sessions();
    let other = json!({"type": "assistant", "uuid": "11111111-0000-4000-8000-000000000009", "timestamp": "2026-11-20T15:00:05.000Z", "sessionId": OTHER, "requestId": "r9",
        "message": { "id": "m9", "role": "assistant", "model": "new-1", "usage": { "output_tokens": 7 }, "content": [] }});
    let file = home.claude().join("projects/-home-dev-x").join(format!("{OTHER}.jsonl"));
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{text}{other}\n")).unwrap();
    let stats = home.json(&["stats", "--cost", "--by", "model", "--json"]);
    // 11 of input, 22 of output, 40 written into the cache, 30 read from it: 5, 25, 6.25 and 0.5 dollars a million.
    let usd = (11.0 * 5.0 + 22.0 * 25.0 + 40.0 * 6.25 + 30.0 * 0.5) / 1e6;
    let known = |key: &str| {
        let rows = stats["rows"].as_array().unwrap();
        rows.iter().find(|row| row["key"] == key).unwrap()["cost"].clone()
    };
    assert!((known("claude-opus-4-6")["usd"].as_f64().unwrap() - usd).abs() < 1e-12, "{stats:#}");
    assert_eq!(known("new-1"), json!({ "usd": 0.0, "by": "list", "unpricedTokens": 7 }));
    assert_eq!(
        (&stats["total"]["cost"]["unpricedTokens"], &stats["unpriced"]),
        (&json!(7), &json!(["new-1"]))
    );
    assert!(stats["prices"][0]["date"].is_string() && stats["prices"][0]["source"].is_string());
    insta::assert_snapshot!("stats_with_costs", home.out(&["stats", "--cost"]));

    std::fs::write(home.path().join("own.toml"), "[prices]\nown = [\"new-1 0 1000000 0 0\"]\n").unwrap();
    let config = home.path().join("own.toml");
    let stats = home.json(&["--config", config.to_str().unwrap(), "stats", "--cost", "--json"]);
    assert_eq!((stats["total"]["cost"].get("unpricedTokens"), stats.get("unpriced")), (None, None));
    assert!(stats["total"]["cost"]["usd"].as_f64().unwrap() > 7.0);
    assert_eq!(home.json(&["stats", "--json"])["total"].get("cost"), None, "only when asked");
}

#[test]
fn an_ambiguous_or_empty_id_forgets_no_session() {
    let home = with_sessions();
    let alike = PAGER.replace("000001", "000009");
    let line = json!({"type": "user", "uuid": "9", "sessionId": alike, "timestamp": "2026-11-20T15:00:00.000Z", "message": {"role": "user", "content": "alike"}});
    transcript(&home.claude(), &alike, &[line]);
    home.out(&["index"]);
    let refused = |words: &[&str], named: &[&str]| {
        let output = home.run_watchbill(words);
        assert_eq!((output.code, output.out.as_str(), output.err.lines().count()), (1, "", 1), "{words:?}");
        assert!(named.iter().all(|name| output.err.contains(name)), "{words:?}: {}", output.err);
    };
    refused(&["forget", "aaaa", "--yes"], &[PAGER, &alike]);
    refused(&["search", "x", "--chain", "aaaa"], &[PAGER, &alike]);
    for session in [PAGER, &alike] {
        home.out(&["forget", session, "--yes"]);
    }
    refused(&["forget", "--again", "aaaa"], &[PAGER, &alike]);
    // The only session left, or an empty id because a script did not fill it in.
    refused(&["forget", "", "--yes"], &["no session was named"]);
    refused(&["forget", "--again", ""], &["no session was named"]);
    assert_eq!(found(&home, &["translate"]), [OTHER]);
}

#[test]
fn a_file_without_records_does_not_count_as_unread() {
    let home = with_sessions();
    let file = home.claude().join("projects/-home-dev-x").join("eeeeeeee-0000-4000-8000-000000000005.jsonl");
    std::fs::write(file, b"\xff no record\n{\"type\":").unwrap();
    assert!(home.out(&["index"]).contains("2 lines or files could not be read"));
    let doctor = home.out(&["doctor"]);
    assert!(
        doctor.contains("everything that is there is stored") && doctor.contains("malformed_line"),
        "{doctor}"
    );
}

#[test]
fn stats_omit_the_key_when_it_is_not_known() {
    let home = Home::empty();
    let answer = json!({ "id": "m", "role": "assistant", "usage": { "output_tokens": 7 }, "content": [] });
    let line = json!({"type": "assistant", "uuid": "11111111-0000-4000-8000-000000000001", "timestamp": "2026-11-20T15:00:05.000Z", "sessionId": PAGER, "requestId": "r", "message": answer});
    transcript(&home.claude(), PAGER, &[line]);
    home.out(&["index"]);
    let stats = home.json(&["stats", "--by", "model", "--json"]);
    assert_eq!(stats["rows"][0]["tokens"]["output"], 7);
    for row in [&stats["rows"][0], &stats["total"]] {
        assert_eq!(row.get("key"), None, "{stats}");
    }
    assert!(home.out(&["stats", "--by", "model"]).contains("\nnot known "));
}

#[test]
fn a_chain_is_written_as_a_document() {
    let home = Home::empty();
    for (_, operation) in &recording("07a-subagent-foreground").operations {
        act(&home.claude(), operation);
    }
    let roster = home.json(&["roster", "--json", "--all"]);
    let session = roster["sessions"][0]["sessionId"].as_str().unwrap().to_owned();
    let demo = home.out(&["--demo", "export", "ae01586e"]);
    let steady_lines = demo.lines().filter(|line| !line.starts_with("- Exported"));
    insta::assert_snapshot!("exported_as_markdown", steady_lines.collect::<Vec<_>>().join("\n"));
    let exported = home.json(&["export", &session, "--format", "json"]);
    let shown = home.json(&["show", &session, "--json", "--from", "0", "--limit", "1000"]);
    assert_eq!(exported["items"], shown["items"], "the document has what `show` shows");
    assert_eq!(exported["chain"], home.json(&["chain", &session, "--json"]));
    let file = home.path().join("chain.md");
    let path = file.to_str().unwrap();
    assert_eq!(home.out(&["export", &session, "--output", path]), "");
    assert_eq!(
        std::fs::read_to_string(&file).unwrap().lines().next(),
        home.out(&["export", &session]).lines().next()
    );
    let again = home.run_watchbill(&["export", &session, "--output", path]);
    assert_eq!((again.code, again.err.lines().count()), (1, 1), "{}", again.err);
    assert!(again.err.contains("there already"), "{}", again.err);
}

#[test]
fn an_unusable_data_folder_is_reported_and_left_unchanged() {
    let home = with_sessions();
    std::fs::create_dir_all(home.path().join("blocked")).unwrap();
    std::fs::write(home.data(), "a file where the folder should be").unwrap();
    for words in [&["index"][..], &["stats"], &["forget", "--yes", PAGER]] {
        let output = home.run_watchbill(words);
        assert_eq!((output.code, output.out.as_str()), (1, ""), "{words:?}");
        assert!(output.err.lines().all(|line| !line.contains("panicked")), "{}", output.err);
    }
    assert_eq!(std::fs::read_to_string(home.data()).unwrap(), "a file where the folder should be");
}

#[test]
fn a_missing_folder_does_not_count_as_an_unreadable_file() {
    let home = Home::empty();
    let nowhere = home.path().join("nowhere");
    let output = home.run_watchbill(&["index", "--json", "--claude-dir", nowhere.to_str().unwrap()]);
    assert_eq!(
        (output.code, output.err.lines().count()),
        (0, 1),
        "it is named, and that is all: {}",
        output.err
    );
    assert_eq!(serde_json::from_str::<Value>(&output.out).unwrap()["problems"], json!(0));
}

#[test]
fn every_command_refuses_an_unknown_or_ambiguous_session_in_the_same_words() {
    let home = with_sessions();
    for n in 3..9 {
        let id = PAGER.replace("000001", &format!("00000{n}"));
        let line = json!({"type": "user", "uuid": n.to_string(), "sessionId": id, "timestamp": "2026-11-20T15:00:00.000Z", "message": {"role": "user", "content": "alike"}});
        transcript(&home.claude(), &id, &[line]);
    }
    home.out(&["index"]);
    let begin = &PAGER[..20];
    for (asked, words) in [
        ("", "watchbill: no session was named; `watchbill roster --all` lists them\n"),
        (" ", "watchbill: no session was named; `watchbill roster --all` lists them\n"),
        (
            "nobody",
            "watchbill: no session or work chain begins with `nobody`; `watchbill roster --all` lists them\n",
        ),
        (begin, "watchbill: `aaaaaaaa-0000-4000-8` begins several sessions: "),
    ] {
        for command in [
            &["why", asked][..],
            &["chain", asked],
            &["chain", asked, "--name", "x"],
            &["chain", OTHER, "--join", asked],
            &["show", asked],
            &["export", asked],
            &["focus", asked],
            &["open", asked],
            &["snooze", asked, "1h"],
            &["put-away", asked],
            &["forget", "--dry-run", asked],
            &["search", "x", "--chain", asked],
        ] {
            let output = home.run_watchbill(command);
            assert_eq!((output.code, output.out.as_str()), (1, ""), "{command:?}: {}", output.err);
            // Commands that read only the store say "stored".
            let err = output
                .err
                .replace("no stored session begins", "no session or work chain begins")
                .replace("stored session", "session");
            assert!(err.starts_with(words), "{command:?}: {err}");
            assert!(asked != begin || err.ends_with(", …; name one of them\n"), "{command:?}: {err}");
        }
        assert!(
            asked == "nobody"
                || asked == begin
                || home.run_watchbill(&["forget", "--again", asked]).err == words
        );
    }
}

#[test]
fn the_demo_keeps_no_history() {
    for words in [&["--demo", "search", "x"][..], &["--demo", "index"], &["--demo", "stats"]] {
        let output = run(watchbill(Home::empty().path()).args(words));
        assert_eq!((output.code, output.err.lines().count()), (1, 1), "{words:?}");
    }
}

#[test]
fn a_forgotten_session_leaves_no_byte_and_is_not_stored_again() {
    let home = with_sessions();
    home.out(&["index"]);
    let stored = |word: &str| {
        let read = |path: PathBuf| std::fs::read(path).unwrap_or_default();
        let bytes = ["watchbill.db", "watchbill.db-wal"].map(|name| read(home.data().join(name))).concat();
        bytes.windows(word.len()).any(|window| window == word.as_bytes())
    };
    assert!(stored("header"));
    let refused = home.run_watchbill(&["forget", PAGER]);
    assert_eq!((refused.code, refused.out.as_str()), (1, ""), "there is no terminal to ask in");
    assert!(refused.err.contains("--yes"), "{}", refused.err);
    let would = home.json(&["forget", "--json", "--dry-run", &PAGER[..5]]);
    assert_eq!((&would["sessions"], &would["dryRun"]), (&json!([PAGER]), &json!(true)));
    assert_eq!(found(&home, &["header"]), [PAGER], "only said");
    insta::assert_snapshot!("forgotten", home.out(&["forget", "--yes", PAGER]).split(';').next().unwrap());
    assert!(!stored("header"), "no byte of it is left in the files");
    assert!(found(&home, &["header"]).is_empty(), "nor is it read again");
    assert_eq!(home.json(&["index", "--json", "--full"])["files"], json!(1), "it is not even looked at");
    assert!(found(&home, &["header"]).is_empty());
    assert_eq!(home.json(&["doctor", "--json"])["store"]["filesBehind"], json!(0), "it is not waited for");
    assert_eq!(home.json(&["search", "--json", "--as-stored", "header"])["index"], "current");
    home.out(&["forget", "--again", &PAGER[..5]]);
    assert_eq!(found(&home, &["header"]), [PAGER]);
    let before = home.json(&["forget", "--json", "--yes", "--before", "2026-11-20T23:00:00Z"]);
    assert_eq!(before["sessions"], json!([PAGER]));
    for words in [&["forget", "nobody", "--yes"][..], &["forget", "--again", "nobody"]] {
        let output = home.run_watchbill(words);
        assert_eq!((output.code, output.err.lines().count()), (1, 1), "{words:?}: {}", output.err);
    }
    assert_eq!(home.run_watchbill(&["forget"]).code, 2, "all of it is nothing one says by saying nothing");
}

/// All files of the data folder, as text.
fn stored_bytes(home: &Home) -> String {
    let files = std::fs::read_dir(home.data()).unwrap().map(|entry| entry.unwrap().path());
    let bytes: Vec<u8> =
        files.filter(|path| path.is_file()).flat_map(|path| std::fs::read(path).unwrap()).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn no_byte_of_private_or_excluded_text_is_stored() {
    let home = Home::empty();
    let p = |word: &str| format!("open {word} <private>SECRET {word}</private>");
    let user = |n: u8, cwd: &str, session: &str, text: &str| json!({"type": "user", "uuid": format!("11111111-0000-4000-8000-0000000000{n:02}"), "timestamp": "2026-11-20T15:00:00.000Z", "cwd": cwd, "sessionId": session, "message": {"role": "user", "content": text}});
    let answer = |n: u8, content: Value| json!({"type": "assistant", "uuid": format!("11111111-0000-4000-8000-0000000000{n:02}"), "timestamp": "2026-11-20T15:00:05.000Z", "sessionId": PAGER, "requestId": format!("r{n}"), "message": {"id": format!("m{n}"), "model": "claude-opus-4-6", "role": "assistant", "content": content}});
    transcript(
        &home.claude(),
        PAGER,
        &[
            user(1, "/home/dev/api", PAGER, "<private>SECRET as a whole</private>"),
            user(2, "/home/dev/api", PAGER, &p("goal")),
            answer(3, json!([{"type": "text", "text": p("answer")}])),
            json!({"type": "summary", "summary": p("summary"), "leafUuid": "11111111-0000-4000-8000-000000000003"}),
            json!({"type": "ai-title", "aiTitle": p("title"), "sessionId": PAGER}),
            json!({"type": "custom-title", "customTitle": p("name"), "sessionId": PAGER}),
            answer(
                4,
                json!([{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": p("command")}}]),
            ),
            answer(
                5,
                json!([{"type": "tool_use", "id": "t2", "name": "AskUserQuestion", "input": {"questions": [{"question": p("question")}]}}]),
            ),
        ],
    );
    transcript(
        &home.claude(),
        OTHER,
        &[
            user(6, "/home/dev/secret/app", OTHER, "HIDDEN goal"),
            json!({"type": "custom-title", "customTitle": "HIDDEN title", "sessionId": OTHER}),
        ],
    );
    let settings = home.path().join("settings.toml");
    std::fs::write(&settings, "[store]\nexclude = ['/home/dev/secret/**']\n").unwrap();
    home.out(&["--config", settings.to_str().unwrap(), "index", "--json"]);
    home.out(&["--config", settings.to_str().unwrap(), "roster", "--all", "--json"]);
    let doctor = |options: &[&str]| home.out(&[options, &["doctor"]].concat());
    let listing = doctor(&["--config", settings.to_str().unwrap()]);
    assert!(
        listing
            .contains("  everything that is there is stored, except what `exclude` leaves out of 1 file\n"),
        "{listing}"
    );
    let listing = doctor(&[]);
    assert!(
        listing.contains("  1 file not yet read to the end")
            && listing.contains("  `exclude` has changed since the history was stored"),
        "{listing}"
    );
    let stored = stored_bytes(&home);
    assert!(stored.contains("open title"), "what is public is there");
    for never in ["SECRET", "HIDDEN"] {
        let at = stored.find(never);
        assert_eq!(at.map(|at| stored[at..].chars().take(60).collect::<String>()), None);
    }
    // Without the rule, everything is stored.
    home.out(&["index"]);
    assert_eq!(found(&home, &["hidden"]), [OTHER, OTHER], "title and prompt");
    let listing = doctor(&[]);
    assert!(
        listing.contains("  everything that is there is stored\n") && !listing.contains("exclude"),
        "{listing}"
    );
}

#[test]
fn show_and_export_report_a_transcript_that_is_gone() {
    let home = with_sessions();
    assert!(!found(&home, &["pager"]).is_empty());
    std::fs::remove_dir_all(home.claude().join("projects")).unwrap();
    assert!(!found(&home, &["pager"]).is_empty(), "what is stored stays");
    for words in [["show", "aaaaaaaa"], ["export", "aaaaaaaa"]] {
        let output = home.run_watchbill(&words);
        assert_eq!(output.code, 1);
        assert!(
            output.err.contains("session aaaaaaaa-0000-4000-8000-000000000001 has no transcript"),
            "{}",
            output.err
        );
    }
    assert!(home.run_watchbill(&["show", "cccc"]).err.contains("no session or work chain begins with"));
}
