//! Transcripts hold the output of any tool: no text in them may control the terminal.

use serde_json::json;
use unicode_width::UnicodeWidthStr;

use crate::program::{run, watchbill};
use crate::tree::{now, transcript};

/// Colours, a window title, a bell, a carriage return, marks of writing direction, C1 controls, a byte order mark.
const HOSTILE: &str = "\x1b[31mX\x1b]0;owned\x07\r\u{202e}Y\u{9b}2J\u{2066}\u{feff}\u{200f}\x08\u{7f}";

fn steers(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// A session and the lines of its transcript, with such text in every place.
fn session() -> (String, Vec<serde_json::Value>) {
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
    let lines = vec![
        common(
            json!({ "type": "user", "uuid": "u1", "message": { "role": "user", "content": format!("p {HOSTILE}\nq {HOSTILE}") } }),
        ),
        json!({ "type": "custom-title", "customTitle": format!("t {HOSTILE}"), "sessionId": session }),
        common(json!({ "type": "assistant", "uuid": "u2", "parentUuid": "u1", "message": {
            "id": "m1", "role": "assistant", "model": format!("m{HOSTILE}"), "usage": usage, "content": [
                { "type": "text", "text": format!("said {HOSTILE} &#x202e;") },
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
    (session, lines)
}

/// The command lines to test; `true` means that the command exits with 0 here.
const ASKED: &[(bool, &[&str])] = &[
    (true, &["roster"]),
    (true, &["roster", "--all"]),
    (true, &["roster", "--all", "--json"]),
    (true, &["why", "h"]),
    (true, &["why", "h", "--json"]),
    (true, &["chain", "h"]),
    (true, &["chain", "h", "--name", HOSTILE]),
    (true, &["chain", "h", "--json"]),
    (true, &["snooze", "h", "1h"]),
    (true, &["put-away", "h"]),
    (false, &["focus", "h"]),
    (false, &["focus", "h", "--json"]),
    (true, &["show", "h"]),
    (true, &["show", "h", "--json"]),
    (true, &["search", "said"]),
    (true, &["search", "said", "--json"]),
    (true, &["index"]),
    (true, &["index", "--json"]),
    (true, &["alerts"]),
    (true, &["alerts", "--json"]),
    (true, &["day", "2026-11-20"]),
    (true, &["day", "2026-11-20", "--json"]),
    (false, &["day", HOSTILE]),
    (true, &["stats", "--by", "project", "--cost"]),
    (true, &["stats", "--by", "model", "--json"]),
    (true, &["stats", "--by", "tool"]),
    (true, &["export", "h"]),
    (true, &["export", "h", "--format", "json"]),
    (false, &["export", "h", "--output", HOSTILE]),
    (true, &["status"]),
    (true, &["status", "--format", "json"]),
    (true, &["status", "--format", "waybar"]),
    (true, &["status", "--format", "tmux"]),
    (false, &["open", HOSTILE]),
    (true, &["hooks", "status"]),
    (true, &["hooks", "status", "--json"]),
    (true, &["hooks", "install", "--dry-run"]),
    (true, &["hooks", "install"]),
    (true, &["hooks", "uninstall", "--dry-run"]),
    (true, &["hooks", "uninstall"]),
    (true, &["doctor"]),
    (true, &["doctor", "--json"]),
    (true, &["summary", "h"]),
    (true, &["summary", "h", "--hand-over"]),
    (true, &["memory", "list", "--all", "--project", HOSTILE]),
    (true, &["memory", "export", "--project", HOSTILE]),
    (true, &["memory", "said", "h"]),
    (false, &["memory", "show", HOSTILE]),
    (true, &["memory", "add", HOSTILE]),
    (true, &["memory", "list"]),
    (true, &["forget", "h", "--dry-run"]),
    (true, &["forget", "h", "--yes", "--json"]),
    (false, &["answer", HOSTILE, "--allow"]),
    (true, &["answers"]),
    (true, &["limits"]),
    (false, &["run", "--cwd", HOSTILE, "prompt"]),
    (false, &["run", "--id", HOSTILE, "prompt"]),
    (false, &["prompt", HOSTILE, "text"]),
    (false, &["queue", HOSTILE]),
    (false, &["interrupt", HOSTILE]),
    (false, &["stop", HOSTILE]),
    (false, &["resume", HOSTILE]),
    (false, &["fork", HOSTILE]),
    (false, &["attach", HOSTILE]),
    (false, &["why", HOSTILE]),
];
/// They print no text of sessions, or do not end by themselves.
const OTHERS: &[&str] = &["watch", "serve", "mcp", "hook", "statusline", "completions", "man", "help"];

#[test]
fn no_command_prints_control_characters_of_transcripts() {
    let home = tempfile::tempdir().unwrap();
    let (session, lines) = session();
    // A file name can hold any character but zero and slash, and these hold all others.
    let root = home.path().join(format!("claude {HOSTILE}"));
    transcript(&root, &session, &lines);
    let (data, config) =
        (home.path().join(format!("data {HOSTILE}")), home.path().join(format!("c{HOSTILE}")));
    std::fs::write(&config, "[timeouts]\n\"idle\\u202e\" = 1\n").unwrap();
    std::fs::write(home.path().join(HOSTILE), "there already").unwrap();
    // The process and the registry must not end a session that only the transcript knows.
    let given = |words: &[&str]| {
        let mut command = watchbill(home.path());
        command.arg("--claude-dir").arg(&root).arg("--data-dir").arg(&data).arg("--config").arg(&config);
        command.args(words);
        command
    };
    for (ends_well, words) in ASKED {
        let output = run(&mut given(words));
        assert_eq!(output.code == 0, *ends_well, "{words:?}: {}", output.err);
        assert!(!(output.out + &output.err).is_empty(), "{words:?}");
        let output = run(&mut given(words));
        for text in [&output.out, &output.err] {
            assert!(!text.contains(steers), "{words:?}: {text:?}");
        }
    }
    let help = run(watchbill(home.path()).arg("--help")).out;
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands = commands.take_while(|line| !line.is_empty());
    let mut known = 0;
    for command in commands.filter(|line| line.starts_with("  ") && !line.starts_with("   ")) {
        let name = command.split_whitespace().next().unwrap();
        let asked = ASKED.iter().any(|(_, words)| words[0] == name);
        assert!(asked || OTHERS.contains(&name), "`{name}` is not looked at");
        known += 1;
    }
    assert!(known > 15, "{help}");
}

#[test]
fn json_escapes_control_characters_and_keeps_them() {
    let home = tempfile::tempdir().unwrap();
    let (session, lines) = session();
    transcript(&home.path().join(".claude"), &session, &lines);
    let output = run(watchbill(home.path()).args(["roster", "--all", "--json"]));
    let roster: serde_json::Value = serde_json::from_str(&output.out).unwrap();
    assert_eq!(roster["sessions"][0]["sessionId"], session);
    assert!(!output.out.contains(steers), "{:?}", output.out);
}

#[test]
fn the_resume_command_names_the_folder_and_has_no_control_characters() {
    let home = tempfile::tempdir().unwrap();
    let (session, lines) = session();
    transcript(&home.path().join(".claude"), &session, &lines);
    let output = run(watchbill(home.path()).args(["focus", "h"]));
    let line = output.out.trim_end();
    assert!(!line.contains(steers), "{line:?}");
    let words = line.replace(" && claude", " ; printf '%s|'").replace("cd ", "printf '%s|' ");
    let read = std::process::Command::new("bash").args(["-c", &words]).output().unwrap();
    let read = String::from_utf8(read.stdout).unwrap();
    assert_eq!(read, format!("/home/{HOSTILE}|--resume|{session}|"), "{line}");
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
        let output = run(watchbill(home.path()).arg("roster").env("COLUMNS", columns.to_string()));
        let rows: Vec<&str> =
            output.out.lines().filter(|line| line.contains(" s0 ") || line.contains("work")).collect();
        for line in output.out.lines() {
            assert!(line.width() <= columns.max(51), "{columns}: {} columns: {line}", line.width());
        }
        assert!(!rows.is_empty());
    }
}
