//! Earlier sessions that go on as sessions of your own: in another agent, and in their own branch only.

use std::path::Path;
use std::sync::Arc;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use watchbill_engine::handle::start;
use watchbill_engine::router::Router;
use watchbill_engine::router::access::Face;
use watchbill_settings::{CommandLineOptions, Configuration};

use crate::forget::until;
use crate::own::{CODEX, Place};
use crate::own_ended::host_of;
use crate::program::run;
use crate::tree::{append, transcript};
use crate::with_serve::Serve;

pub const EARLIER: &str = "aaaaaaaa-0000-4000-8000-000000000001";

/// A session of a terminal that ended, with a compaction in it.
pub fn earlier_session(place: &Place, branch: &str) {
    let cwd = place.work();
    let record = |n: u32, kind: &str, more: Value| {
        let mut record = json!({
            "type": kind, "uuid": format!("11111111-0000-4000-8000-00000000000{n}"), "sessionId": EARLIER,
            "timestamp": format!("2026-11-20T15:00:0{n}.000Z"), "cwd": cwd, "gitBranch": branch,
        });
        record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        record
    };
    let user = |content: &str| json!({ "message": { "role": "user", "content": content } });
    let said = |block: Value| json!({ "message": { "id": "m", "role": "assistant", "content": [block] } });
    let call =
        json!({ "type": "tool_use", "id": "t", "name": "Bash", "input": { "command": "make -k all" } });
    let boundary = json!({ "subtype": "compact_boundary", "content": "x", "compactMetadata": { "trigger": "auto", "preTokens": 9000 } });
    let mut summary = user("The build was mended.");
    summary.as_object_mut().unwrap().insert("isCompactSummary".to_owned(), true.into());
    let records = [
        record(1, "user", user("Before the compaction")),
        record(2, "system", boundary),
        record(3, "user", summary),
        record(4, "user", user("Now run it <private>hidden</private>")),
        record(5, "assistant", said(call)),
        record(6, "assistant", said(json!({ "type": "text", "text": "It runs." }))),
        record(
            7,
            "assistant",
            said(json!({ "type": "text", "text": format!("It is ghp_{}", "a1".repeat(18)) })),
        ),
    ];
    transcript(&place.home.claude(), EARLIER, &records);
}

#[test]
fn another_agent_goes_on_and_is_told_what_was_said() {
    let place = Place::new();
    earlier_session(&place, "HEAD");
    let words = ["fork", EARLIER, "--agent", "claude", "Go on."];
    let shown = place.say(&[&words[..], &["--preview"]].concat());
    assert_eq!((shown.code, &*shown.err), (0, ""));
    let block = shown.out.strip_suffix("\n\nGo on.\n").unwrap();
    for said in [
        "Summary of what came before:\n  The build was mended.",
        "User:\n  Now run it",
        "Tool Bash:\n  make -k all",
        "Assistant:\n  It runs.",
    ] {
        assert!(block.contains(said), "{said}: {block}");
    }
    assert!(
        !["Before the compaction", "hidden", "ghp_"].iter().any(|left_out| block.contains(left_out)),
        "{block}"
    );
    assert!(place.noted("starts").is_empty() && place.rows().len() == 1, "a preview starts nothing");
    let small = place.say(&[&words[..], &["--preview", "--budget", "240"]].concat());
    assert!(small.out.contains("It runs.") && !small.out.contains("mended"), "{}", small.out);
    let row = place.json(&[&words[..], &["--json"]].concat());
    assert_ne!(row["sessionId"], EARLIER);
    until("the prompt to arrive", || !place.noted("received").is_empty());
    let log = std::fs::read(place.home.data().join("own").join(row["ownId"].as_str().unwrap()).join("log"))
        .unwrap();
    assert!(String::from_utf8_lossy(&log).contains("The build was mended."), "the agent got the block");
    let refused = place.say(&["resume", EARLIER, "--agent", "claude"]);
    assert_eq!(refused.code, 2, "a change of the agent needs a prompt: {}", refused.err);
}

/// Starts a session with a prompt, waits for the end of the turn, and gives the session's id.
fn begin(place: &Place, words: &[&str]) -> String {
    let own = place.json(words)["ownId"].as_str().unwrap().to_owned();
    until("the turn to end", || row_of(place, &own)["stateKind"] == "turn_ended");
    own
}

fn row_of(place: &Place, own: &str) -> Value {
    place.rows().into_iter().find(|row| row["ownId"] == own).unwrap_or_default()
}

/// Ends a session so that what was said in it is stored.
fn end(place: &Place, own: &str, agent: &str) {
    if agent == "codex" {
        assert_eq!(place.say(&["stop", own]).code, 0);
        return;
    }
    // The stand-in writes no transcript. What its host has counts where it was killed.
    let pid = row_of(place, own)["pid"].as_i64().unwrap();
    kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), Signal::KILL).unwrap();
    let summary = place.home.data().join("own").join(own).join("summary");
    until("the end of the session", || summary.exists());
}

#[test]
fn a_change_of_the_agent_goes_on_with_the_work_chain() {
    for with_serve in [false, true] {
        let place = Place::new();
        place.program("codex", CODEX);
        earlier_session(&place, "HEAD");
        let mut serve = with_serve.then(|| Serve::of(&place.home));
        let chain_id = place.rows()[0]["workChainId"].clone();
        let mut sessions = vec![EARLIER.to_owned()];
        for (n, agent) in ["codex", "claude", "codex"].into_iter().enumerate() {
            let last = sessions.last().unwrap().clone();
            let told = format!("say number {n}");
            let own = begin(&place, &["resume", &last, "--agent", agent, "--json", &told]);
            end(&place, &own, agent);
            sessions.push(own);
        }
        let check = |place: &Place| {
            let last = sessions.last().unwrap();
            let rows = place.rows();
            assert_eq!(rows.len(), sessions.len());
            for (n, session) in sessions.iter().enumerate() {
                let row = rows.iter().find(|row| row["sessionId"] == **session).unwrap();
                assert_eq!(row["workChainId"], chain_id, "{n}");
                let by = sessions.get(n + 1).map_or(Value::Null, |by| json!(by));
                assert_eq!(row["supersededBy"], by, "{n}");
                if n > 0 {
                    assert_eq!(row["goal"], format!("say number {}", n - 1), "the user's words alone");
                }
                let chain = place.json(&["chain", session, "--json"]);
                assert_eq!(chain["head"], **last, "{n}");
                let of: Vec<_> =
                    chain["segments"].as_array().unwrap().iter().map(|one| &one["sessionId"]).collect();
                assert_eq!(of[1..], sessions.iter().collect::<Vec<_>>(), "the first was compacted");
                let links = chain["links"].as_array().unwrap().iter();
                let switched =
                    links.filter(|link| link["reason"] == "switched" && link["confidence"] == "proven");
                assert_eq!(switched.count(), 3, "{chain}");
            }
            let shown = place.say(&["show", EARLIER]).out;
            assert_eq!(shown.matches("told what was said before, 1 kB").count(), 3, "{shown}");
            assert_eq!(shown.matches("say number 0").count(), 1, "{shown}");
            for said in
                ["It runs.", "say number 0", "say number 1", "say number 2", "It lay in the haystack."]
            {
                assert!(shown.contains(said), "{said}: {shown}");
            }
            let block = place.say(&["resume", EARLIER, "--agent", "claude", "--preview", "Go on."]).out;
            assert!(!block.contains("say number"), "it goes on with the session that was named: {block}");
            let block = place.say(&["resume", last, "--agent", "claude", "--preview", "Go on."]).out;
            let at = |said: &str| block.find(said).unwrap_or_else(|| panic!("{said}: {block}"));
            assert!(at("It runs.") < at("say number 0") && at("say number 1") < at("say number 2"));
        };
        check(&place);
        serve = serve.map(|serve| {
            serve.end(Signal::TERM);
            Serve::of(&place.home)
        });
        check(&place);
        // The user goes back to one of them.
        let back = &sessions[1];
        assert_eq!(place.say(&["prompt", back, "--wait", "say more"]).code, 0);
        let is_head = |session: &String| {
            place.rows().iter().any(|row| row["sessionId"] == **session && row["superseded"].is_null())
        };
        until("it to be a head again", || is_head(back));
        assert!(is_head(&sessions[3]) && !is_head(&sessions[2]) && !is_head(&sessions[0]));
        assert_eq!(place.json(&["chain", back, "--json"])["head"], **back);
        drop(serve);
    }
}

#[test]
fn the_window_changes_the_agent_of_a_session_that_runs() {
    let place = Place::new();
    std::fs::create_dir_all(place.home.claude()).unwrap();
    place.program("codex", CODEX);
    // The engine of the window runs in this process, whose program is in another folder than the host.
    let host = std::env::current_exe().unwrap().with_file_name("watchbill-host");
    let _ = std::fs::remove_file(&host);
    let built = Path::new(env!("CARGO_BIN_EXE_watchbill")).with_file_name("watchbill-host");
    std::fs::hard_link(built, &host).unwrap();
    let given = CommandLineOptions {
        roots: vec![place.home.claude().into()],
        data_dir: Some(place.home.data()),
        config: Some(place.home.path().join("config.toml")),
    };
    let settings = Configuration::open(&given, &|_| None).unwrap().settings();
    let engine = start((*settings).clone()).unwrap();
    let router = Router::new(engine, None);
    let ask = |request: Value| {
        let request = serde_json::from_value(request).unwrap();
        let reply = router.answer(&Face::Window { refusal: None }, request, Arc::new(|| true));
        serde_json::to_value(reply.unwrap_or_else(|error| panic!("{error:?}"))).unwrap()
    };
    until("the engine to run", || place.home.data().join("run/engine.sock").exists());
    let before = begin(&place, &["run", "--agent", "codex", "--json", "say this"]);
    let id = "0b0b0b0b-0000-4000-8000-00000000000b";
    let call = json!({ "id": id, "sessionId": before, "agent": "claude", "fork": false, "anyBranch": false, "budget": 24_000 });
    let planned = ask(json!({ "request": "own_switch", "call": call }));
    let context = planned["context"].as_str().unwrap();
    assert!(context.contains("say this") && context.contains("It lay in the haystack."), "{context}");
    assert_eq!(place.rows().len(), 1, "nothing is started yet");
    let mut spec = planned["spec"].clone();
    spec["command"] = json!([place.home.path().join("bin/claude")]);
    let mut nowhere = spec.clone();
    nowhere["cwd"] = json!("/nowhere");
    let request = serde_json::from_value(json!({ "request": "own_start", "spec": nowhere })).unwrap();
    assert!(router.answer(&Face::Window { refusal: None }, request, Arc::new(|| true)).is_err());
    assert_ne!(
        row_of(&place, &before)["state"],
        "ended",
        "nothing is stopped for a session that cannot start"
    );
    assert_eq!(ask(json!({ "request": "own_start", "spec": spec })), Value::Null);
    assert_eq!(row_of(&place, &before)["state"], "ended", "it was ended first");
    until("the row of the new one", || row_of(&place, &before)["supersededBy"] == id);
    let text = format!("{context}\n\nsay more");
    ask(
        json!({ "request": "own_command", "session": id, "command": { "do": "prompt", "id": id, "text": text, "when": "queue" } }),
    );
    until("the turn to end", || row_of(&place, id)["stateKind"] == "turn_ended");
    let (before, row) = (row_of(&place, &before), row_of(&place, id));
    assert_eq!((&row["goal"], &row["workChainId"]), (&json!("say more"), &before["workChainId"]));
    assert_eq!(before["supersededBy"], id);
}

#[test]
fn what_was_said_before_any_number_of_changes_of_the_agent_is_told() {
    let place = Place::new();
    place.program("codex", CODEX);
    earlier_session(&place, "HEAD");
    let mut last = EARLIER.to_owned();
    for (n, agent) in ["codex", "claude", "claude"].into_iter().enumerate() {
        let told = format!("say number {n}");
        let own = begin(&place, &["fork", &last, "--agent", agent, "--json", &told]);
        end(&place, &own, agent);
        let block = place.say(&["fork", &own, "--agent", "claude", "--preview", "Go on."]).out;
        for said in (0..=n).map(|n| format!("say number {n}")).chain(["It runs.".to_owned()]) {
            assert_eq!(block.matches(&said).count(), 1, "{agent}: {said}: {block}");
        }
        assert!(
            block.contains("The build was mended.") && !block.contains("Before the compaction"),
            "{block}"
        );
        assert_eq!(block.matches("<watchbill-context>").count(), 1, "{block}");
        last = own;
    }
    // The newest words stay where not all fit.
    let small =
        place.say(&["fork", &last, "--agent", "claude", "--preview", "--budget", "300", "Go on."]).out;
    assert!(small.contains("say number 2") && !small.contains("It runs."), "{small}");
}

#[test]
fn a_session_that_was_moved_goes_on_in_the_folder_where_the_agent_has_its_file() {
    let moves = [
        ("elsewhere", "relocated", "relocatedCwd"),
        ("work/.claude/worktrees/a", "worktree-state", "worktreeSession"),
        ("trees/a", "worktree-state", "worktreeSession"),
    ];
    for (folder, kind, field) in moves {
        let place = Place::new();
        let moved = place.home.path().join(folder);
        std::fs::create_dir_all(&moved).unwrap();
        let slug = |path: &Path| path.to_str().unwrap().replace(['/', '.', '_'], "-");
        let prompt = json!({ "type": "user", "uuid": "11111111-0000-4000-8000-000000000001", "sessionId": EARLIER,
            "timestamp": "2026-11-20T15:00:01.000Z", "cwd": place.work(), "message": { "role": "user", "content": "go" } });
        let mut record = json!({ "type": kind, "sessionId": EARLIER });
        record[field] = match kind {
            "relocated" => json!(moved),
            _ => json!({ "worktreePath": moved, "worktreeBranch": "a", "originalCwd": place.work() }),
        };
        let path = format!("projects/{}/{EARLIER}.jsonl", slug(&place.work()));
        append(&place.home.claude(), Path::new(&path), &format!("{prompt}\n{record}\n"));
        assert_eq!(place.rows()[0]["cwd"], json!(moved), "{folder}");
        let row = place.json(&["resume", EARLIER, "--any-branch", "--json"]);
        place.say(&["prompt", row["ownId"].as_str().unwrap(), "--wait", "echo on"]);
        assert!(place.noted("starts").concat().contains(EARLIER), "{folder}: it starts where its file is");
    }
}

#[test]
fn a_session_goes_on_in_its_own_branch_only() {
    let place = Place::new();
    earlier_session(&place, "feature/x");
    std::fs::create_dir(place.work().join(".git")).unwrap();
    std::fs::write(place.work().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    for words in
        [&["resume", EARLIER][..], &["fork", EARLIER], &["fork", EARLIER, "--agent", "claude", "On."]]
    {
        let said = place.say(words);
        let names_both = said.err.contains("feature/x") && said.err.contains("main");
        assert!(said.code == 1 && names_both && said.err.contains("--any-branch"), "{words:?}: {}", said.err);
    }
    assert_eq!(place.rows().len(), 1, "nothing was started");
    std::fs::write(place.work().join(".git/HEAD"), "ref: refs/heads/feature/x\n").unwrap();
    assert_eq!(place.say(&["fork", EARLIER]).code, 0);
    // The tree is gone, and the folder belongs to none.
    std::fs::remove_dir_all(place.work().join(".git")).unwrap();
    assert!(place.say(&["fork", EARLIER]).err.contains("there is no branch"));
    assert_eq!(place.say(&["fork", EARLIER, "--any-branch"]).code, 0);
    assert_eq!(place.rows().len(), 3);
}

#[test]
fn a_prompt_to_an_ended_session_goes_on_with_it() {
    for end in ["crash", "kill", "kill while another prompt waits", "stop"] {
        let place = Place::new();
        let own = match end {
            "crash" => {
                assert_eq!(place.say(&["run", "--wait", "die at once"]).code, 1);
                place.row()["ownId"].as_str().unwrap().to_owned()
            }
            "kill" | "stop" => place.starts("say this"),
            _ => place.starts("slow work"),
        };
        match end {
            "crash" => {}
            "kill" | "stop" => until("the turn to end", || place.row()["stateKind"] == "turn_ended"),
            _ => {
                until("the turn to run", || place.row()["state"] == "working");
                assert_eq!(place.say(&["prompt", &own, "echo later"]).code, 0);
            }
        }
        match end {
            "crash" => {}
            "stop" => assert_eq!(place.say(&["stop", &own]).code, 0),
            _ => {
                let host = Pid::from_raw(host_of(&place, &own).cast_signed()).unwrap();
                kill_process(host, Signal::KILL).unwrap();
            }
        }
        until("the end", || place.row()["state"] == "ended");
        let refused = run(place.command(&["prompt", &own, "echo on"]).env("CLAUDECODE", "1"));
        assert!(refused.code == 1 && refused.err.contains("an agent may not"), "{end}: {}", refused.err);
        assert_eq!(place.row()["state"], "ended", "{end}: nothing was started");
        let said = place.say(&["prompt", &own[..8], "--wait", "echo on"]);
        assert_eq!((said.code, &*said.err), (0, ""), "{end}");
        assert_eq!(
            said.out, "the session had ended, and goes on\n> echo on\necho echo on\nturn ended: completed\n",
            "{end}"
        );
        let starts = place.noted("starts");
        assert!(starts.len() == 2 && starts[1].contains(&format!("--resume {own}")), "{end}: {starts:?}");
        assert_eq!(place.row()["ownId"], *own, "{end}");
        assert_eq!(place.json(&["prompt", &own, "--json", "echo more"]).get("resumed"), None, "{end}");
        assert_eq!(place.say(&["stop", &own]).code, 0);
        assert_eq!(place.json(&["prompt", &own, "--json", "echo more"])["resumed"], true, "{end}");
        let went_by_itself = place.noted("received").iter().any(|prompt| prompt.contains("later"));
        assert!(!went_by_itself, "{end}: what waited waits on");
    }
}

#[test]
fn the_agent_works_in_the_folder_that_is_watched() {
    let place = Place::new();
    let (one, two) = (place.home.path().join("one"), place.home.path().join("two"));
    std::fs::create_dir(&one).unwrap();
    let both = format!("{}:{}", one.display(), two.display());
    let with = |words: &[&str], roots: &str| {
        let said = run(place.command(words).env("WATCHBILL_CLAUDE_DIR", roots));
        assert_eq!((said.code, &*said.err), (0, ""), "{words:?}");
        said.out
    };
    let started = |out: String| serde_json::from_str::<Value>(&out).unwrap();
    let row = started(with(&["run", "--json", "say this"], &both));
    assert_eq!(row["root"], json!(one), "the first of several");
    until("the agent to start", || place.noted("roots").len() == 1);
    // Later starts of it need no variable.
    assert_eq!(place.say(&["stop", row["ownId"].as_str().unwrap()]).code, 0);
    assert_eq!(place.say(&["prompt", row["ownId"].as_str().unwrap(), "--wait", "say more"]).code, 0);
    // A session of the second folder goes on there, in a copy too.
    earlier_session(&place, "HEAD");
    std::fs::rename(place.home.claude(), &two).unwrap();
    std::fs::write(place.work().join("transcripts"), format!("{EARLIER}\n")).unwrap();
    for words in [&["fork", EARLIER, "--json"][..], &["resume", EARLIER, "--json"]] {
        let row = started(with(words, &both));
        assert_eq!(row["root"], json!(two), "{words:?}");
        with(&["prompt", row["ownId"].as_str().unwrap(), "--wait", "say that"], &both);
    }
    // Another agent's prompt begins a new session.
    let row = started(with(&["fork", EARLIER, "--agent", "claude", "--json", "Go on."], &both));
    until("the agent to start", || place.noted("roots").len() == 5);
    assert_eq!(row["root"], json!(two), "beside the session that it goes on with");
    // The usual folder is named by no variable.
    let row = started(with(&["run", "--json", "say this"], place.home.claude().to_str().unwrap()));
    assert_eq!(row["root"], json!(place.home.claude()));
    until("the agent to start", || place.noted("roots").len() == 6);
    let [one, two] = [one, two].map(|path| path.to_str().unwrap().to_owned());
    assert_eq!(place.noted("roots"), [&*one, &*one, &*two, &*two, &*two, "none"]);
}
