//! What was learned, through the real program: rules, decisions, and the hook that tells the agent.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::forget::until;
use crate::home::Home;
use crate::program::{Finished, build, watchbill};
use crate::tree::{append, now};
use crate::with_serve::Serve;

pub const SESSION: &str = "dddddddd-0000-4000-8000-000000000004";
pub const LATER: &str = "eeeeeeee-0000-4000-8000-000000000005";

/// The folder of the project. It exists, so that its real path is known.
pub fn work(home: &Home) -> String {
    let folder = home.path().join("work");
    std::fs::create_dir_all(folder.join("src")).unwrap();
    std::fs::write(folder.join("src/log.rs"), "").unwrap();
    folder.canonicalize().unwrap().to_str().unwrap().to_owned()
}

/// Appends a turn: a change of the log, and an answer.
pub fn turn(home: &Home, session: &str, prompt: &str, n: usize) {
    let cwd = work(home);
    let record = |kind: &str, part: &str, message: Value| {
        json!({ "type": kind, "uuid": format!("{session}{n}{part}"), "timestamp": now().to_string(), "cwd": cwd,
            "sessionId": session, "gitBranch": "main", "message": message })
    };
    let edit = json!({ "file_path": format!("{cwd}/src/log.rs"), "old_string": "a", "new_string": "b" });
    let call = json!({ "type": "tool_use", "id": format!("t{session}{n}"), "name": "Edit", "input": edit });
    let result = json!({ "type": "tool_result", "tool_use_id": format!("t{session}{n}"), "content": "done" });
    let assistant = |part: &str, stop: &str, content: Value| json!({ "id": format!("m{n}{part}"), "role": "assistant", "model": "m", "stop_reason": stop, "content": [content] });
    let lines = [
        record("user", "p", json!({ "role": "user", "content": prompt })),
        record("assistant", "c", assistant("c", "tool_use", call)),
        record("user", "r", json!({ "role": "user", "content": [result] })),
        record("assistant", "a", assistant("a", "end_turn", json!({ "type": "text", "text": "Done." }))),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    append(&home.claude(), Path::new(&format!("projects/-work/{session}.jsonl")), &text);
    // The next turn is a later one.
    let written = now();
    while now() == written {}
}

pub const RULE: &str = "No, log lines are always in UTC, never in local time";

/// A home in which the user corrected the agent.
pub fn corrected(config: &str) -> Home {
    let home = Home::empty().configured(config);
    turn(&home, SESSION, "make the log nicer", 0);
    turn(&home, SESSION, RULE, 1);
    turn(&home, SESSION, "remember: the proxy holds port 8080", 2);
    home
}

pub fn memory(home: &Home, words: &[&str]) -> Finished {
    let cwd = work(home);
    home.run_watchbill(&[&["memory", "--project", &cwd], words].concat())
}

pub fn memories(home: &Home, words: &[&str]) -> Vec<Value> {
    let said = memory(home, &[words, &["--json"]].concat());
    assert_eq!((said.code, &*said.err), (0, ""), "{words:?}");
    let list: Value = serde_json::from_str(&said.out).unwrap();
    list["memories"].as_array().unwrap().clone()
}

fn texts(all: &[Value]) -> Vec<&str> {
    let mut texts: Vec<&str> = all.iter().map(|one| one["text"].as_str().unwrap()).collect();
    texts.sort_unstable();
    texts
}

/// What the hook process prints. It waits long: this machine may be busy.
fn hook(home: &Home, session: &str, event: Value, variables: &[(&str, &str)]) -> Finished {
    let mut payload =
        json!({ "session_id": session, "cwd": work(home), "transcript_path": "/nowhere/x.jsonl" });
    payload.as_object_mut().unwrap().extend(event.as_object().unwrap().clone());
    // As the agent runs it: `hook` is the first word.
    let mut command = watchbill(home.path());
    command.args(["hook", "--context", "--within", "60000", "--data-dir"]).arg(home.data());
    command.envs(variables.iter().copied());
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A hook that may tell nothing ends without reading.
    if let Err(error) = child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()) {
        assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
    }
    child.wait_with_output().unwrap().into()
}

fn reads(home: &Home) -> Value {
    let file = format!("{}/src/log.rs", work(home));
    json!({ "hook_event_name": "PostToolUse", "tool_name": "Read", "tool_input": { "file_path": file } })
}

fn context_of(said: &Finished) -> String {
    assert_eq!((said.code, &*said.err), (0, ""));
    if said.out.is_empty() {
        return String::new();
    }
    assert_eq!(said.out.lines().count(), 1, "one line of JSON");
    let output: Value = serde_json::from_str(&said.out).unwrap();
    output["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned()
}

#[test]
fn the_rules_find_a_correction_and_a_note_and_the_user_decides() {
    let home = corrected("");
    let all = memories(&home, &["list"]);
    assert_eq!(texts(&all), [RULE, "the proxy holds port 8080"]);
    let at = memories(&home, &["at", &format!("{}/src/log.rs", work(&home))]);
    assert_eq!((texts(&at), &at[0]["kind"]), (vec![RULE], &json!("correction")));
    let id = at[0]["id"].as_str().unwrap();
    let shown: Value = serde_json::from_str(&memory(&home, &["why", &id[..8], "--json"]).out).unwrap();
    assert_eq!(shown["evidence"][0]["sessionId"], SESSION);
    assert_eq!(memory(&home, &["reject", &id[..8]]).code, 0);
    turn(&home, LATER, "look at the log", 0);
    turn(&home, LATER, RULE, 1);
    assert_eq!(texts(&memories(&home, &["list"])), ["the proxy holds port 8080"], "a rejected one stays so");
    assert_eq!(memories(&home, &["list", "--all"]).len(), 2);
    assert_eq!(memory(&home, &["edit", &id[..8], "log lines are in UTC"]).code, 0);
    assert_eq!(texts(&memories(&home, &["list"])), ["log lines are in UTC", "the proxy holds port 8080"]);
    assert_eq!(memory(&home, &["add", "the staging host sleeps at night"]).code, 0);
    assert_eq!(memories(&home, &["list"]).len(), 3);
    assert!(memory(&home, &["export"]).out.contains("- the staging host sleeps at night (note, "));
    let refused = memory(&home, &["add", "the key is ghp_0123456789abcdefghijklmnopqrstuvwxyz"]);
    assert!(refused.code == 1 && refused.err.contains("secret"), "{}", refused.err);
    assert_eq!(memory(&home, &["forget", &id[..8]]).code, 0);
    assert_eq!(memories(&home, &["list", "--all"]).len(), 2);
}

#[test]
fn forgetting_a_session_forgets_what_it_taught() {
    let home = corrected("");
    assert_eq!(memories(&home, &["list"]).len(), 2);
    home.out(&["forget", "--yes", SESSION]);
    assert_eq!(memories(&home, &["list", "--all"]), Vec::<Value>::new());
}

#[test]
fn a_summary_and_a_hand_over_are_made_by_rules() {
    let home = corrected("");
    let summary = home.json(&["summary", &SESSION[..8], "--json"]);
    assert_eq!(
        (&summary["request"], &summary["completed"]),
        (&json!("make the log nicer"), &json!("changed src/log.rs"))
    );
    assert!(summary["learned"].as_array().unwrap().contains(&json!(RULE)));
    let text = home.out(&["summary", SESSION, "--hand-over"]);
    assert!(
        text.starts_with("# Hand-over\n") && text.contains("## Files in work\n\n- src/log.rs\n"),
        "{text}"
    );
}

#[test]
fn a_file_brings_its_memory_once_in_a_session_and_the_list_of_what_was_said_shows_it() {
    let home = corrected("[memory]\ncontext = \"files\"\n");
    let serve = Serve::of(&home);
    assert_eq!(memories(&home, &["list"]).len(), 2);
    let first = context_of(&hook(&home, LATER, reads(&home), &[]));
    assert!(
        first.starts_with("<watchbill-context ")
            && first.contains(&format!("src/log.rs: the user said: {RULE}")),
        "{first}"
    );
    assert_eq!(context_of(&hook(&home, LATER, reads(&home), &[])), "", "once");
    until("what was printed to be noted", || {
        let said = home.json(&["memory", "said", LATER, "--json"]);
        said["lines"][0]["printed"] == true
    });
    let compact = json!({ "hook_event_name": "SessionStart", "source": "compact" });
    assert_eq!(
        context_of(&hook(&home, LATER, compact, &[])),
        first,
        "byte for byte what a compaction has removed"
    );
    let start = json!({ "hook_event_name": "SessionStart", "source": "startup" });
    let prompt =
        json!({ "hook_event_name": "UserPromptSubmit", "prompt": "which port does the proxy hold?" });
    for event in [start, prompt] {
        assert_eq!(context_of(&hook(&home, "other", event, &[])), "", "not with `files`");
    }
    let mut subagent = reads(&home);
    subagent["agent_id"] = json!("a1");
    assert_eq!(context_of(&hook(&home, "other", subagent, &[])), "");
    for variable in [("WATCHBILL_MEMORY", "off"), ("CLAUDE_CODE_ENTRYPOINT", "sdk-cli")] {
        assert_eq!(context_of(&hook(&home, "other", reads(&home), &[variable])), "", "{variable:?}");
    }
    assert_eq!(memory(&home, &["pause", "1h"]).code, 0);
    assert_eq!(context_of(&hook(&home, "other", reads(&home), &[])), "");
    assert_eq!(memory(&home, &["pause", "--off"]).code, 0);
    assert_ne!(context_of(&hook(&home, "other", reads(&home), &[])), "");
    drop(serve);
}

#[test]
fn with_all_the_start_and_prompts_are_told_too_and_nothing_comes_back_as_a_memory() {
    let home = corrected("[memory]\ncontext = \"all\"\n");
    let serve = Serve::of(&home);
    assert_eq!(memories(&home, &["list"]).len(), 2);
    let prompt =
        json!({ "hook_event_name": "UserPromptSubmit", "prompt": "which port does the proxy hold?" });
    let told = context_of(&hook(&home, LATER, prompt, &[]));
    assert!(told.contains("the proxy holds port 8080"), "{told}");
    let start = json!({ "hook_event_name": "SessionStart", "source": "startup" });
    assert!(context_of(&hook(&home, "third", start, &[])).contains("the proxy holds port 8080"));
    turn(&home, LATER, "go on", 0);
    turn(&home, LATER, &format!("No, read this again:\n{told}"), 1);
    turn(&home, LATER, &format!("remember: {told}"), 2);
    let all = memories(&home, &["list", "--all"]);
    assert_eq!(
        texts(&all),
        [RULE, "No, read this again:", "the proxy holds port 8080"],
        "the user's words, without the block"
    );
    assert!(all.iter().all(|one| one["sessions"] == 1), "nothing that was told counts as evidence");
    let hits = home.json(&["search", "--json", "\"they are no instructions\""]);
    assert_eq!(hits["hits"], json!([]), "{hits}");
    drop(serve);
}

#[test]
fn a_resumed_session_is_told_once_what_others_changed_since_and_nothing_otherwise() {
    let home = Home::empty().configured("[memory]\ncontext = \"all\"\n");
    turn(&home, SESSION, "make the log nicer", 0);
    let serve = Serve::of(&home);
    let resumed = |session: &str| {
        let event = json!({ "hook_event_name": "SessionStart", "source": "resume" });
        context_of(&hook(&home, session, event, &[]))
    };
    memories(&home, &["list"]);
    assert_eq!(resumed(SESSION), "", "nothing has changed");
    turn(&home, LATER, "shorten the log", 0);
    memories(&home, &["list"]);
    until("the change to be learned", || !resumed(SESSION).is_empty());
    let said = home.json(&["memory", "said", SESSION, "--json"]);
    assert_eq!(said["lines"][0]["line"], "since the last turn here, another session changed src/log.rs");
    assert_eq!(resumed(SESSION), "", "once");
    assert_eq!(resumed(LATER), "", "its own change");
    turn(&home, SESSION, "go on", 1);
    memories(&home, &["list"]);
    assert_eq!(resumed(SESSION), "", "nothing since");
    drop(serve);
}

#[test]
fn a_resumed_session_is_told_of_another_branch() {
    let home = Home::empty().configured("[memory]\ncontext = \"all\"\n");
    let head = format!("{}/.git/HEAD", work(&home));
    std::fs::create_dir_all(Path::new(&head).parent().unwrap()).unwrap();
    std::fs::write(&head, "ref: refs/heads/main\n").unwrap();
    turn(&home, SESSION, "make the log nicer", 0);
    let serve = Serve::of(&home);
    let resumed = || {
        let event = json!({ "hook_event_name": "SessionStart", "source": "resume" });
        context_of(&hook(&home, SESSION, event, &[]))
    };
    memories(&home, &["list"]);
    assert_eq!(resumed(), "");
    std::fs::write(&head, "ref: refs/heads/fix\n").unwrap();
    let mut told = String::new();
    until("the session to be stored", || {
        told = resumed();
        !told.is_empty()
    });
    assert!(told.contains("the branch was main at the last turn here, and is fix"), "{told}");
    assert_eq!(resumed(), "", "once");
    drop(serve);
}

#[test]
fn without_a_holder_or_with_one_that_hangs_the_hook_prints_nothing() {
    let home = corrected("[memory]\ncontext = \"all\"\n");
    assert_eq!(context_of(&hook(&home, LATER, reads(&home), &[])), "");
    let listener = home.pretend_holder();
    let mut command = home.command(&["hook", "--context"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let payload =
        json!({ "session_id": LATER, "cwd": "/x", "hook_event_name": "UserPromptSubmit", "prompt": "a b c" });
    child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &*output.stdout), (Some(0), &b""[..]));
    drop(listener);
    for payload in ["", "{", "[]", "{\"session_id\": 7}"] {
        let mut child = home
            .command(&["hook", "--context"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(payload.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), &*output.stdout), (Some(0), &b""[..]), "{payload}");
    }
}

#[test]
fn the_hook_is_installed_and_undone_apart() {
    let home = corrected("");
    let settings = home.claude().join("settings.json");
    home.out(&["hooks", "install"]);
    let before = std::fs::read_to_string(&settings).unwrap();
    let said = home.out(&["hooks", "install", "--context"]);
    assert!(
        said.contains("memory.context") && said.contains("undo: watchbill hooks uninstall --context"),
        "{said}"
    );
    let both: Value = serde_json::from_str(&std::fs::read_to_string(&settings).unwrap()).unwrap();
    let groups = both["hooks"]["PostToolUse"].as_array().unwrap();
    let ours =
        groups.iter().find(|group| group["matcher"] == "Read|Edit|Write|MultiEdit|NotebookEdit").unwrap();
    assert_eq!((&ours["hooks"][0]["timeout"], &ours["hooks"][0]["async"]), (&json!(1), &Value::Null));
    assert!(ours["hooks"][0]["command"].as_str().unwrap().contains(" --context"));
    home.out(&["hooks", "uninstall", "--context"]);
    assert_eq!(std::fs::read_to_string(&settings).unwrap(), before);
}

#[test]
fn a_preview_tells_no_agent_and_shows_each_place() {
    let home = corrected("");
    let json = |words: &[&str]| -> Value {
        serde_json::from_str(&memory(&home, &[&["try", "--json"], words].concat()).out).unwrap()
    };
    let all = json(&[]);
    let told = all["start"][0].as_str().unwrap();
    assert!(told.starts_with("the proxy holds port 8080 ("), "{all}");
    assert_eq!(all["files"][0]["path"], "src/log.rs");
    assert!(all["files"][0]["lines"][0].as_str().unwrap().contains(RULE), "{all}");
    assert_eq!(all.get("prompt"), None);
    let asked = json(&["--prompt", "which port has the proxy of ours?"]);
    assert!(asked["prompt"][0].as_str().unwrap().contains("8080"), "{asked}");
    assert_eq!(json(&["--prompt", "paint the button blue, please"])["prompt"], json!([]));
    let other = json(&["--file", &format!("{}/src/other.rs", work(&home))]);
    assert_eq!(other["files"], json!([]));
    let text = memory(&home, &["try"]).out;
    assert!(
        text.starts_with("`memory.context` is off") && text.contains("when it reads or changes src/log.rs"),
        "{text}"
    );
    assert!(memory(&home, &["said", SESSION]).out.contains("nothing was said"));
}

#[test]
fn doctor_and_the_status_of_the_hooks_say_whether_an_agent_is_told() {
    let says = |home: &Home, wanted: &str| {
        let doctor = home.out(&["doctor"]);
        assert!(doctor.contains(wanted), "{wanted}: {doctor}");
    };
    let home = corrected("[memory]\ncontext = \"files\"\n");
    says(
        &home,
        "`memory.context` is files, but no hook tells it; `watchbill hooks install --context` installs it",
    );
    assert!(!home.out(&["hooks", "status"]).contains("what was learned"));
    home.out(&["hooks", "install", "--context"]);
    says(&home, "agents are told what was learned: files");
    assert!(home.out(&["hooks", "status"]).contains("with the hook that tells the agent what was learned"));
    let off = home.configured("");
    says(&off, "is installed and tells nothing: `memory.context` is off");
    let file = off.claude().join("settings.json");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replacen('{', r#"{"enabledPlugins": {"claude-mem@tools": true},"#, 1))
        .unwrap();
    says(&off, "settings.json: claude-mem");
}

/// The questions that an endpoint was sent.
pub type Asked = std::sync::Arc<std::sync::Mutex<Vec<String>>>;

/// An endpoint that gives each question the same answer. Returns its address, and what it was sent.
pub fn endpoint(text: &'static str) -> (String, Asked) {
    endpoint_when(text, || {})
}

/// The same. It answers when `wait` returns.
pub fn endpoint_when(text: &'static str, wait: impl Fn() + Send + 'static) -> (String, Asked) {
    use std::io::Read as _;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    let seen = Asked::default();
    let kept = std::sync::Arc::clone(&seen);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
            let body = loop {
                let read = stream.read(&mut piece).unwrap();
                bytes.extend_from_slice(&piece[..read]);
                let request = String::from_utf8_lossy(&bytes).into_owned();
                let Some((head, body)) = request.split_once("\r\n\r\n") else { continue };
                let head = head.to_lowercase();
                let length = head.split("content-length: ").nth(1).unwrap().lines().next().unwrap();
                if body.len() >= length.trim().parse().unwrap() {
                    break body.to_owned();
                }
            };
            kept.lock().unwrap().push(body);
            wait();
            let answer = json!({ "choices": [{ "message": { "content": text } }],
                "usage": { "prompt_tokens": 300, "completion_tokens": 40 } });
            let answer = answer.to_string();
            let head =
                format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", answer.len());
            let _ = stream.write_all((head + &answer).as_bytes());
        }
    });
    (base, seen)
}

pub const FOUND: &str = "<think>hm</think>{\"memories\":[\
    {\"type\":\"gotcha\",\"text\":\"Local times in the log break the nightly merge of both hosts.\",\"importance\":\"high\",\
     \"file\":\"src/log.rs\",\"evidence\":[\"a1\"]},\
    {\"type\":\"decision\",\"text\":\"The invented file is never there.\",\"importance\":\"high\",\"file\":\"src/none.rs\",\
     \"evidence\":[\"a1\"]}]}";

fn json_of(finished: &Finished) -> Value {
    serde_json::from_str(&finished.out)
        .unwrap_or_else(|error| panic!("{error}: {} {}", finished.out, finished.err))
}

#[test]
fn a_model_is_tried_on_earlier_sessions_and_nothing_is_stored() {
    build("watchbill-model-client");
    let (base, seen) = endpoint(FOUND);
    let home = corrected(&format!("[model]\nbase_url = \"{base}\"\nname = \"small\"\n"));
    turn(&home, LATER, "mend <private>the bank</private> it", 0);
    let tried = json_of(&memory(&home, &["try", "--model", "--json"]));
    assert_eq!(tried["turns"].as_array().unwrap().len(), 4, "{tried}");
    assert_eq!((&tried["tokensIn"], &tried["tokensOut"]), (&json!(1200), &json!(160)));
    let turn = &tried["turns"][0];
    assert_eq!((&turn["sessionId"], &turn["found"][0]["path"]), (&json!(LATER), &json!("src/log.rs")));
    assert_eq!(turn["refused"][0], "names a file that the turn does not have");
    let seen = seen.lock().unwrap().clone();
    assert!(seen[0].contains("Edit src/log.rs ok") && !seen[0].contains("the bank"), "{}", seen[0]);
    assert!(seen.iter().all(|body| !body.contains("old_string")), "no contents of files");
    let listed = json_of(&memory(&home, &["list", "--all", "--json"]));
    assert!(!listed.to_string().contains("nightly merge"), "{listed}");
    let text = memory(&home, &["try", "--model", "--sessions", "1"]).out;
    assert!(
        text.contains("gotcha  src/log.rs: Local times") && text.contains("nothing was stored"),
        "{text}"
    );
}

#[test]
fn a_trial_without_a_model_or_beyond_its_limit_says_so() {
    build("watchbill-model-client");
    let home = corrected("");
    let refused = memory(&home, &["try", "--model"]);
    assert!(refused.err.contains("no model is chosen"), "{}", refused.err);
    let (base, seen) = endpoint(FOUND);
    let config = format!("[model]\nbase_url = \"{base}\"\nname = \"small\"\ndaily_tokens = 1200\n");
    let home = corrected(&config);
    let tried = json_of(&memory(&home, &["try", "--model", "--json"]));
    assert_eq!(tried["stoppedBy"], "model.daily_tokens");
    assert_eq!((seen.lock().unwrap().len(), &tried["tokensToday"]), (1, &json!(340)));
    memory(&home, &["try", "--model", "--json"]);
    assert_eq!(seen.lock().unwrap().len(), 1, "the limit is that of a day, not of a trial");
    let away = corrected("[model]\nbase_url = \"http://127.0.0.1:9/v1\"\nname = \"small\"\n");
    let tried = memory(&away, &["try", "--model"]).out;
    assert!(tried.contains("no answer: there is no server at this address"), "{tried}");
}
