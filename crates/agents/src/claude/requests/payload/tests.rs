//! Requests from payloads, whole and broken.

#![allow(clippy::unwrap_used, reason = "a payload of the test that cannot be read is a failure")]

use serde_json::json;

use super::*;

fn read(payload: &Value) -> Option<Request> {
    read_request(RequestId::new("r1"), payload.to_string().as_bytes(), None, Timestamp::from_millis(5))
}

fn payload(tool: &str, input: Value) -> Value {
    json!({ "session_id": "s", "cwd": "/home/dev/work", "hook_event_name": "PermissionRequest",
        "permission_mode": "default", "tool_name": tool, "tool_input": input })
}

#[test]
fn a_command_is_shown_whole_and_drawn() {
    let request =
        read(&payload("Bash", json!({ "command": "ls\n\u{202e}tac", "description": "Lists" }))).unwrap();
    assert_eq!(request.kind, RequestKind::Permission);
    assert_eq!(&*request.shown, "ls\n⟨U+202E⟩tac");
    assert_eq!(&*request.summary, "Bash: ls⏎⟨U+202E⟩tac");
}

#[test]
fn an_input_with_more_than_a_command_is_shown_as_json() {
    let input = json!({ "command": "ls", "dangerouslyDisableSandbox": true });
    let request = read(&payload("Bash", input)).unwrap();
    assert!(request.shown.contains("dangerouslyDisableSandbox"), "nothing is left out");
}

#[test]
fn questions_need_every_part() {
    let whole = json!({ "questions": [{ "question": "Which colour?", "header": "Colour", "multiSelect": true,
        "options": [{ "label": "Red", "description": "The red one" }, { "label": "Blue" }] }] });
    let request = read(&payload("AskUserQuestion", whole)).unwrap();
    let RequestKind::Questions(questions) = &request.kind else { panic!("{:?}", request.kind) };
    assert_eq!((questions[0].options.len(), questions[0].several), (2, true));
    assert_eq!(&*request.summary, "asks: Which colour?");
    let same = json!({ "question": "A?", "options": [] });
    for odd in [
        json!({}),
        json!({ "questions": [] }),
        json!({ "questions": [{ "question": "A?" }] }),
        json!({ "questions": [{ "question": "A?", "options": [{ "name": "x" }] }] }),
        json!({ "questions": [same, same] }),
    ] {
        assert_eq!(read(&payload("AskUserQuestion", odd)).unwrap().kind, RequestKind::Unknown);
    }
}

#[test]
fn a_rule_says_what_it_allows_and_where_it_is_kept() {
    let mut asked = payload("Bash", json!({ "command": "npm test" }));
    asked["permission_suggestions"] = json!([
        { "type": "addRules", "behavior": "allow", "destination": "localSettings",
          "rules": [{ "toolName": "Bash", "ruleContent": "npm run *" }, { "toolName": "Read" }] },
        { "type": "addDirectories", "directories": ["/srv"], "destination": "session" },
    ]);
    let request = read(&asked).unwrap();
    let shown: Vec<_> = request.always.iter().map(|one| format!("{} in {}", one.rule, one.place)).collect();
    assert_eq!(
        shown,
        [
            "Bash(npm run *) in /home/dev/work/.claude/settings.local.json",
            "Read in /home/dev/work/.claude/settings.local.json",
            "work in /srv in this session",
        ]
    );
    // After `cd` the agent still writes where its project is.
    asked["cwd"] = json!("/home/dev/work/sub");
    let bytes = asked.to_string();
    let request = read_request(
        RequestId::new("r"),
        bytes.as_bytes(),
        Some("/home/dev/work"),
        Timestamp::from_millis(0),
    );
    assert_eq!(&*request.unwrap().always[0].place, "/home/dev/work/.claude/settings.local.json");
    asked["permission_suggestions"][0]["destination"] = json!("somewhere");
    assert!(read(&asked).unwrap().always.is_empty(), "one rule that cannot be told hides all");
}

#[test]
fn a_command_of_nothing_cannot_be_allowed() {
    for input in [json!({}), json!({ "command": "" }), json!({ "command": " \n" })] {
        assert_eq!(read(&payload("Bash", input)).unwrap().kind, RequestKind::Unknown);
    }
    assert_eq!(
        read(&payload("mcp__a__b", json!({}))).unwrap().kind,
        RequestKind::Permission,
        "a tool without input"
    );
}

#[test]
fn other_events_and_broken_bytes_are_no_requests() {
    let mut other = payload("Bash", json!({}));
    other["hook_event_name"] = json!("PreToolUse");
    assert!(read(&other).is_none());
    for bytes in [&b""[..], b"{", b"[]", b"null", b"\xff{}"] {
        assert!(read_request(RequestId::new("r"), bytes, None, Timestamp::from_millis(0)).is_none());
    }
}

#[test]
fn the_digest_follows_every_byte() {
    let one = read(&payload("Bash", json!({ "command": "ls" }))).unwrap();
    let other = read(&payload("Bash", json!({ "command": "ls\u{200b}" }))).unwrap();
    assert_ne!(one.digest, other.digest);
}

#[test]
fn a_skill_of_a_server_is_shown_with_its_name_its_server_and_its_version() {
    let mut asked = payload("Skill", json!({ "skill": "docs:deploy" }));
    asked["tool_kind"] = json!("mcp_skill");
    asked["mcp_server"] = json!({ "name": "docs", "source": "project" });
    asked["mcp_skill"] = json!({ "name": "docs:deploy", "version": "sha256:ab", "uri": "skill://deploy",
        "server_description": "Deploys\nskill x of the MCP server y \u{202e}" });
    let request = read(&asked).unwrap();
    assert_eq!(&*request.summary, "Skill: skill docs:deploy of the MCP server docs");
    assert_eq!(request.kind, RequestKind::Permission);
    let begins = "skill docs:deploy of the MCP server docs\nversion: sha256:ab\naddress: skill://deploy\n\
        the server says: Deploys skill x of the MCP server y ⟨U+202E⟩\n\n{";
    assert!(request.shown.starts_with(begins), "{}", request.shown);
    // Without its fields it is shown as a skill without a name, and never as an ordinary tool.
    for field in ["mcp_server", "mcp_skill"] {
        let mut partly = asked.clone();
        partly.as_object_mut().unwrap().remove(field);
        assert!(read(&partly).unwrap().shown.contains("without a name"), "{field}");
    }
    let mut browser = payload("mcp__browser__open", json!({ "url": "x" }));
    browser["tool_kind"] = json!("browser");
    assert_eq!(&*read(&browser).unwrap().summary, "mcp__browser__open: x");
}
