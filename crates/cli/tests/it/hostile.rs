//! Transcripts hold whatever any tool has printed: none of it may steer the terminal.

use serde_json::json;
use unicode_width::UnicodeWidthStr;

use crate::program::{run, watchbill};
use crate::tree::{now, transcript};

/// Colours, a window title, a bell, a return, another direction of writing, C1 controls, a byte order mark.
const HOSTILE: &str = "\x1b[31mX\x1b]0;owned\x07\r\u{202e}Y\u{9b}2J\u{2066}\u{feff}\u{200f}\x08\u{7f}";

fn steers(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[test]
fn nothing_in_a_transcript_steers_the_terminal() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join(".claude");
    let session = format!("h{HOSTILE}");
    let at = now().to_string();
    let common = |mut record: serde_json::Value| {
        for (key, value) in [
            ("timestamp", at.clone()),
            ("cwd", format!("/home/{HOSTILE}")),
            ("gitBranch", format!("b{HOSTILE}")),
            ("version", format!("2.{HOSTILE}")),
            ("sessionId", session.clone()),
        ] {
            record[key] = value.into();
        }
        record
    };
    let usage = json!({ "input_tokens": 1, "output_tokens": 1 });
    let lines = [
        common(
            json!({ "type": "user", "uuid": "u1", "message": { "role": "user", "content": format!("p {HOSTILE}\nq {HOSTILE}") } }),
        ),
        json!({ "type": "custom-title", "customTitle": format!("t {HOSTILE}"), "sessionId": session }),
        common(json!({ "type": "assistant", "uuid": "u2", "parentUuid": "u1", "message": {
            "id": "m1", "role": "assistant", "model": format!("m{HOSTILE}"), "usage": usage, "content": [
                { "type": "text", "text": format!("said {HOSTILE}") },
                { "type": "tool_use", "id": "t1", "name": format!("Tool{HOSTILE}"), "input": { "command": format!("ls {HOSTILE}") } },
            ] } })),
        common(
            json!({ "type": "user", "uuid": "u3", "parentUuid": "u2", "message": { "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": format!("out {HOSTILE}") } ] } }),
        ),
        common(json!({ "type": "assistant", "uuid": "u4", "parentUuid": "u3", "message": {
            "id": "m2", "role": "assistant", "usage": usage, "content": [
                { "type": "tool_use", "id": "t2", "name": "Bash", "input": { "command": format!("rm {HOSTILE}") } } ] } })),
        json!({ "type": format!("new-{HOSTILE}") }),
    ];
    transcript(&root, &session, &lines);
    for words in [
        &["roster"][..],
        &["roster", "--all"],
        &["why", "h"],
        &["chain", "h"],
        &["show", "h"],
        &["status"],
        &["status", "--format", "tmux"],
        &["doctor"],
    ] {
        let said = run(watchbill(home.path()).args(words));
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{words:?}");
        assert!(!said.out.is_empty());
        assert!(!said.out.contains(steers), "{words:?}: {:?}", said.out);
    }
}

#[test]
fn titles_of_every_script_keep_the_columns() {
    let home = tempfile::tempdir().unwrap();
    for (n, title) in [
        "a very long title that goes on and on and on and will not fit into any column that there is"
            .repeat(3),
        "日本語のとても長いタイトルは幅が二倍です日本語のとても長いタイトルは幅が二倍です".to_owned(),
        "שלום עולם זהו כותרת ארוכה מאוד שלא תיכנס בשום עמודה שיש כאן בכלל".to_owned(),
        "👩‍👩‍👧‍👦 family 🏳️‍🌈 flags 🇩🇪🇫🇷 and skin 👍🏽 all the way to the end of the column".to_owned(),
        "e\u{301}\u{302}\u{303} combining marks o\u{308}\u{304} everywhere a\u{30a} in this title n\u{303}"
            .to_owned(),
    ]
    .into_iter()
    .enumerate()
    {
        let session = format!("s{n}");
        let prompt = json!({
            "type": "user", "uuid": format!("{session}-1"), "message": { "role": "user", "content": "x" },
            "timestamp": now().to_string(), "cwd": "/home/dev/x", "sessionId": session,
        });
        let title = json!({ "type": "custom-title", "customTitle": title, "sessionId": session });
        transcript(&home.path().join(".claude"), &session, &[prompt, title]);
    }
    for columns in [40, 80, 120, 200] {
        let said = run(watchbill(home.path()).arg("roster").env("COLUMNS", columns.to_string()));
        let rows: Vec<&str> =
            said.out.lines().filter(|line| line.contains(" s0 ") || line.contains("work")).collect();
        for line in said.out.lines() {
            assert!(line.width() <= columns.max(51), "{columns}: {} columns: {line}", line.width());
        }
        assert!(!rows.is_empty());
    }
}
