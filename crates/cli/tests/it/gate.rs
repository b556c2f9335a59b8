//! Nothing that is excluded, private or forgotten leaves: not over `show`, `export`, HTTP or MCP.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;

use serde_json::{Value, json};

use crate::mcp::Agent;
use crate::service::Service;
use crate::tree::{append, transcript};

const SESSION: &str = "cccccccc-0000-4000-8000-000000000003";
const FORGOTTEN: &str = "dddddddd-0000-4000-8000-000000000004";
const INSIDE: &str = "eeeeeeee-0000-4000-8000-000000000005";
const CONFIG: &str = "[store]\nexclude = [\"/home/dev/secret\"]\n";

fn record(session: &str, n: u32, kind: &str, content: &Value) -> Value {
    json!({
        "type": kind, "uuid": format!("{}-{n:012}", &session[..23]), "sessionId": session, "cwd": "/home/dev/x",
        "timestamp": format!("2026-11-20T15:00:{n:02}.000Z"),
        "message": { "id": format!("m{n}"), "role": kind, "content": content },
    })
}

fn call(n: u32, tool: &str, input: &Value) -> Value {
    let block = json!([{ "type": "tool_use", "id": format!("t{n}"), "name": tool, "input": input }]);
    record(SESSION, n, "assistant", &block)
}

fn result(n: u32, call: u32, content: &str) -> Value {
    let block = json!([{ "type": "tool_result", "tool_use_id": format!("t{call}"), "content": content }]);
    record(SESSION, n, "user", &block)
}

/// A session whose every secret is the word S3CRET, beside words that stay.
fn secrets() -> Vec<Value> {
    let read = json!({ "file_path": "/home/dev/secret/key.txt" });
    let long = json!({ "code": format!("{}open('/home/dev/secret/S3CRET')", "x = 1\n".repeat(4_000)) });
    let shell = "<bash-input>cat ../secret/key.txt</bash-input>";
    let mut started = result(17, 16, "the helper is done");
    started["toolUseResult"] = json!({ "agentId": "ab12" });
    vec![
        record(SESSION, 1, "user", &json!("ask <private>S3CRET</private>openly")),
        call(2, "Read", &read),
        result(3, 2, "S3CRET of the file"),
        call(4, "Bash", &json!({ "command": "cat ~/x; cat /home/dev/x/../secret/S3CRET" })),
        result(5, 4, "S3CRET of the command"),
        call(6, "Grep", &json!({ "pattern": "key", "path": "/home/dev" })),
        result(7, 6, "/home/dev/secret/key.txt:1:S3CRET"),
        // Its result stands before it.
        result(8, 9, "S3CRET of an early result"),
        call(9, "Read", &read),
        call(10, "Run", &long),
        record(SESSION, 11, "user", &json!(shell)),
        record(SESSION, 12, "user", &json!("<bash-stdout>S3CRET printed</bash-stdout>")),
        call(13, "Bash", &json!({ "command": "echo <private>S3CRET</private> loud" })),
        result(14, 13, "printed <private>S3CRET</private>plainly"),
        record(SESSION, 15, "assistant", &json!([{ "type": "text", "text": "done <private>S3CRET" }])),
        call(16, "Agent", &json!({ "description": "look", "prompt": "p" })),
        started,
    ]
}

fn write_sessions(root: &Path) {
    transcript(root, SESSION, &secrets());
    transcript(root, FORGOTTEN, &[record(FORGOTTEN, 1, "user", &json!("the G0NEWORD plan"))]);
    let mut inside = record(INSIDE, 1, "user", &json!("the S3CRET plan"));
    inside["cwd"] = json!("/home/dev/secret/plans");
    // A session that has worked there once stays excluded.
    transcript(root, INSIDE, &[inside, record(INSIDE, 2, "user", &json!("S3CRET later"))]);
    let mut within = record(SESSION, 16, "user", &json!("S3CRET of the helper"));
    (within["isSidechain"], within["agentId"]) = (json!(true), json!("ab12"));
    within["cwd"] = json!("/home/dev/secret");
    let helper = format!("projects/-home-dev-x/{SESSION}/subagents/agent-ab12.jsonl");
    append(root, Path::new(&helper), &format!("{within}\n"));
}

fn is_clean(what: &str, text: &str) {
    for word in ["S3CRET", "G0NEWORD", FORGOTTEN, INSIDE] {
        assert!(!text.contains(word), "{what} says {word}: {text}");
    }
}

/// A running service with the sessions; one of them is forgotten.
fn service() -> Service {
    let service = Service::with(CONFIG);
    write_sessions(&service.home.claude());
    service.home.out(&["index"]);
    service.home.out(&["forget", FORGOTTEN, "--yes"]);
    service
}

#[test]
fn show_and_export_leave_out_what_is_excluded_private_or_forgotten() {
    let service = service();
    for words in [
        &["show", SESSION][..],
        &["show", SESSION, "--json"],
        &["export", SESSION],
        &["export", SESSION, "--format", "json"],
    ] {
        let said = service.home.out(words);
        is_clean(&words.join(" "), &said);
        // `show` writes no outputs of tools, except as JSON.
        let outputs = ["plainly", "the helper is done"].into_iter().filter(|_| words != ["show", SESSION]);
        for kept in ["openly", "loud", "Grep", "(excluded)"].into_iter().chain(outputs) {
            assert!(said.contains(kept), "{words:?} keeps {kept}: {said}");
        }
    }
    for (session, why) in [(FORGOTTEN, "you forgot"), (INSIDE, "`exclude`")] {
        for words in [["show", session], ["export", session]] {
            let said = service.home.run_watchbill(&words);
            assert!(said.code == 1 && said.err.contains(why) && said.out.is_empty(), "{}", said.err);
        }
    }
    service.home.out(&["forget", FORGOTTEN, "--again"]);
    assert!(service.home.out(&["show", FORGOTTEN]).contains("G0NEWORD"), "it is remembered again");
}

/// The sessions of one chain: a forgotten one, one that may be seen, and one in an excluded folder.
const SEEN: &str = "ffffffff-0000-4000-8000-000000000006";

#[test]
fn a_chain_names_no_session_that_is_excluded_or_forgotten() {
    let service = service();
    let goes_on = |from: &str, to: &str| json!({ "type": "continued-in", "sessionId": from, "continuedInSessionId": to });
    let claude = service.home.claude();
    transcript(&claude, FORGOTTEN, &[goes_on(FORGOTTEN, SEEN)]);
    transcript(&claude, SEEN, &[record(SEEN, 1, "user", &json!("openly")), goes_on(SEEN, INSIDE)]);
    let chain = format!("/api/sessions/{SEEN}/chain");
    crate::forget::until("the chain to be known", || {
        service.home.run_watchbill(&["chain", SEEN]).out.matches(" → ").count() == 2
            && service.get(&chain).status == 200
    });
    let said = service.get(&chain).body;
    assert!(said.contains(&format!("\"head\":\"{SEEN}\"")), "{said}");
    is_clean("the chain", &said);
    for path in ["/api/sessions?all=true", &format!("/api/sessions/{SEEN}")] {
        let said = service.get(path).body;
        assert!(said.contains(SEEN), "{said}");
        is_clean(path, &said);
    }
    is_clean("an export", &service.home.out(&["export", SEEN, "--format", "json"]));
    let (described, failed) = Agent::of(&service.home).tool("describe_session", json!({"session": SEEN}));
    assert!(!failed && described.contains("segment 0"), "{described}");
    is_clean("a description", &described);
}

#[test]
fn http_leaves_out_what_is_excluded_private_or_forgotten() {
    let service = service();
    let rows = service.get("/api/sessions?all=true");
    assert!(rows.body.contains(SESSION), "{}", rows.body);
    is_clean("the roster", &rows.body);
    let timeline = service.get(&format!("/api/sessions/{SESSION}/timeline"));
    assert!(timeline.body.contains("openly"), "{}", timeline.body);
    is_clean("the timeline", &timeline.body);
    for session in [FORGOTTEN, INSIDE] {
        for part in ["", "/chain", "/timeline"] {
            let said = service.get(&format!("/api/sessions/{session}{part}"));
            assert_eq!(said.status, 404, "{session}{part}: {}", said.body);
        }
    }
    let mut stream = TcpStream::connect(service.address).unwrap();
    write!(stream, "GET /events HTTP/1.1\r\n{}\r\n{}\r\n\r\n", service.host(), service.bearer()).unwrap();
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let mut next = || lines.by_ref().find(|line| line.starts_with("data: ")).unwrap();
    is_clean("the snapshot of the events", &next());
    let now = crate::tree::now();
    for session in [FORGOTTEN, INSIDE, SESSION] {
        let mut later = record(session, 40, "user", &json!("a later prompt"));
        later["timestamp"] = json!(now.to_string());
        transcript(&service.home.claude(), session, &[later]);
    }
    loop {
        let event = next();
        is_clean("an event", &event);
        if event.contains(SESSION) {
            break;
        }
    }
}

#[test]
fn an_agent_is_told_nothing_that_is_excluded_private_or_forgotten() {
    let service = service();
    let now = crate::tree::now();
    for session in [FORGOTTEN, INSIDE, SESSION] {
        let mut later = record(session, 40, "user", &json!("a later prompt"));
        later["timestamp"] = json!(now.to_string());
        transcript(&service.home.claude(), session, &[later]);
    }
    let ask = |agent: &mut Agent| {
        let (timeline, _) = agent.tool("read_session_timeline", json!({"session": SESSION}));
        assert!(timeline.contains("openly"), "{timeline}");
        is_clean("the timeline", &timeline);
        let (listed, _) = agent.tool("list_sessions_now", json!({}));
        assert!(listed.contains(SESSION), "{listed}");
        is_clean("the list", &listed);
        for tool in ["read_session_timeline", "describe_session"] {
            for session in [FORGOTTEN, INSIDE] {
                let (text, failed) = agent.tool(tool, json!({"session": &session[..20]}));
                assert!(failed, "{text}");
                is_clean(tool, &text);
            }
        }
        assert!(!agent.tool("describe_session", json!({"session": SESSION})).1);
    };
    ask(&mut Agent::of(&service.home));
    // Without excluded folders the running program is asked.
    std::fs::write(service.home.path().join("config.toml"), "").unwrap();
    let (listed, _) = Agent::of(&service.home).tool("list_sessions_now", json!({}));
    assert!(listed.contains(SESSION) && !listed.contains(FORGOTTEN), "{listed}");
    std::fs::write(service.home.path().join("config.toml"), CONFIG).unwrap();
    ask(&mut Agent::of(&service.home));
}
