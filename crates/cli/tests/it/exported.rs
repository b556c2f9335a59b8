//! The content of an exported document, without private text.

use std::path::Path;

use serde_json::{Value, json};

use crate::program::{run, watchbill};
use crate::tree::{append, transcript};

const SESSION: &str = "aaaaaaaa-0000-4000-8000-000000000001";

/// A record of the session.
fn record(n: u32, kind: &str, content: &Value) -> Value {
    json!({
        "type": kind, "uuid": format!("11111111-0000-4000-8000-{n:012}"), "sessionId": SESSION, "cwd": "/home/dev/x",
        "timestamp": format!("2026-11-20T15:00:{n:02}.000Z"),
        "message": { "id": format!("m{n}"), "role": kind, "content": content },
    })
}

fn call(n: u32, tool: &str, input: &Value) -> Value {
    let id = format!("t{n}");
    record(n, "assistant", &json!([{ "type": "tool_use", "id": id, "name": tool, "input": input }]))
}

fn result(n: u32, call: u32, content: &str) -> Value {
    let id = format!("t{call}");
    record(n, "user", &json!([{ "type": "tool_result", "tool_use_id": id, "content": content }]))
}

/// The output of a command.
fn out(home: &Path, words: &[&str]) -> String {
    let said = run(watchbill(home).args(["--data-dir", "data"]).args(words));
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{words:?}");
    said.out
}

/// The document as Markdown and as JSON.
fn documents(home: &Path) -> (String, Value) {
    let markdown = out(home, &["export", SESSION]);
    (markdown, serde_json::from_str(&out(home, &["export", SESSION, "--format", "json"])).unwrap())
}

#[test]
fn an_export_omits_private_text_and_keeps_all_other_text() {
    let home = tempfile::tempdir().unwrap();
    let escaped = |line: Value| line.to_string().replace("<private>", "\\u003cprivate\\u003e");
    let mut started = result(7, 6, "checked <private>S3CRET</private>");
    started["toolUseResult"] = json!({ "agentId": "ab12" });
    let lines = [
        record(1, "user", &json!("ask <private>S3CRET</private>openly")),
        record(
            2,
            "assistant",
            &json!([{ "type": "thinking", "thinking": "hm <private>S3CRET</private>well" }]),
        ),
        call(3, "Bash", &json!({ "command": "echo <private>S3CRET\nS3CRET</private> out loud" })),
        result(4, 3, "printed <PRIVATE>S3CRET</private>plainly"),
        call(5, "Bash", &json!({ "command": "left <private>S3CRET", "more": "S3CRET" })),
        call(6, "Agent", &json!({ "description": "check <private>S3CRET</private>", "prompt": "p" })),
        started,
        record(8, "user", &json!("<private>S3CRET as a whole</private>")),
        // Its turn is private too.
        record(14, "assistant", &json!([{ "type": "text", "text": "S3CRET is done" }])),
        call(15, "Bash", &json!({ "command": "cat S3CRET" })),
        result(16, 15, "S3CRET"),
        record(17, "user", &json!("and now")),
        record(9, "assistant", &json!([{ "type": "text", "text": "done <private>S3CRET never closed" }])),
        json!({ "type": "custom-title", "customTitle": "tidy <private>S3CRET</private>up", "sessionId": SESSION }),
    ];
    let root = home.path().join(".claude");
    let path = transcript(&root, SESSION, &lines);
    // No client writes tags in this form, but another program may.
    let line = escaped(call(10, "Bash", &json!({ "command": "escaped <private>S3CRET</private>away" })));
    append(&root, &path, &format!("{line}\n"));
    let within = [
        record(11, "user", &json!("within <private>S3CRET</private>all")),
        call(12, "Bash", &json!({ "command": "deeper <private>S3CRET</private>down" })),
        result(13, 12, "deepest <private>S3CRET</private>of all"),
    ];
    let path = format!("projects/-home-dev-x/{SESSION}/subagents/agent-ab12.jsonl");
    for mut line in within {
        line["isSidechain"] = json!(true);
        line["agentId"] = json!("ab12");
        append(&root, Path::new(&path), &format!("{line}\n"));
    }
    // The user's own name for the chain is cleaned too.
    out(home.path(), &["chain", SESSION, "--name", "mine <private>S3CRET</private>"]);

    let (markdown, exported) = documents(home.path());
    let shown = out(home.path(), &["show", SESSION, "--json"]);
    for text in [&markdown, &exported.to_string(), &shown] {
        let told = text.replace("(private)", "");
        assert!(!told.contains("S3CRET") && !told.contains("rivate") && told.len() < text.len(), "{text}");
        for public in [
            "mine",
            "ask openly",
            "hm well",
            "echo  out loud",
            "printed plainly",
            "left ",
            "escaped away",
            "check ",
            "checked ",
            "within all",
            "deeper down",
            "deepest of all",
            "done",
        ] {
            assert!(text.contains(public), "{public}: {text}");
        }
    }
    let prompts =
        |of: &Value| of["items"].as_array().unwrap().iter().filter(|item| item["kind"] == "prompt").count();
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!((prompts(&shown), prompts(&exported)), (2, 2), "a wholly private prompt is left out");
}

#[test]
fn an_export_marks_tool_texts_that_are_cut() {
    let home = tempfile::tempdir().unwrap();
    let long = "said at length ".repeat(2_000);
    // Dropped control characters are no loss, although they make a cut text shorter.
    let coloured = "\u{1b}[1mloud\u{1b}[0m ".repeat(2_000);
    let enough = "…".repeat(16 * 1024 / 3);
    let lines = [
        call(1, "Bash", &json!({ "command": long })),
        result(2, 1, "short"),
        call(3, "Bash", &json!({ "command": "short" })),
        result(4, 3, &long),
        call(5, "Bash", &json!({ "command": "short" })),
        result(6, 5, &coloured),
        call(7, "Bash", &json!({ "command": "short" })),
        result(8, 7, &enough),
        call(9, "Bash", &json!({ "command": "short" })),
    ];
    transcript(&home.path().join(".claude"), SESSION, &lines);
    let (markdown, exported) = documents(home.path());
    let shown: Value = serde_json::from_str(&out(home.path(), &["show", SESSION, "--json"])).unwrap();
    let whole = (&Value::Null, &Value::Null);
    let cut = json!(true);
    for items in [&exported["items"], &shown["items"]] {
        let items = items.as_array().unwrap();
        let marks: Vec<_> = items.iter().map(|item| (&item["inputCut"], &item["outputCut"])).collect();
        let (input, output) = ((&cut, &Value::Null), (&Value::Null, &cut));
        assert_eq!(marks, [input, output, output, whole, whole]);
        assert!(items[4].get("inputCut").is_none(), "what is not so is absent");
    }
    let marks: Vec<&str> = markdown.lines().filter(|line| line.contains("16 KiB")).collect();
    let of = |what: &str| format!("*Only the first 16 KiB of the {what} are here.*");
    assert_eq!(marks, [of("input"), of("output"), of("output")], "{markdown}");
    let below = format!("…\n```\n\n{}\n", of("input"));
    assert!(markdown.contains(&below), "it stands outside of what it is said of");
}
