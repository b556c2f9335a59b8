//! Shapes of real folders: orphaned subagents, runs that failed, unknown record types, copies of sync tools, usage limits,
//! days of another time zone, one repository under several paths.

use std::path::Path;

use serde_json::{Value, json};

use crate::home::Home;
use crate::program::{Finished, run};
use crate::tree::{append, transcript};

const ID: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const SECOND: &str = "bbbbbbbb-0000-4000-8000-000000000002";
const THIRD: &str = "cccccccc-0000-4000-8000-000000000003";

/// A record of a session: the fields of its type, and those that all records share.
fn record(session: &str, n: u32, fields: &Value) -> Value {
    let mut record = json!({
        "uuid": format!("11111111-0000-4000-8000-{n:012}"),
        "timestamp": format!("2026-11-20T15:00:{n:02}.000Z"),
        "sessionId": session,
        "cwd": "/home/dev/x",
        "version": "2.1.238",
    });
    for (name, value) in fields.as_object().unwrap() {
        record[name] = value.clone();
    }
    record
}

fn prompt(text: &str) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": text}})
}

fn answer(id: &str, content: &Value) -> Value {
    json!({"type": "assistant", "requestId": format!("req_{id}"), "message": {
        "id": format!("msg_{id}"), "role": "assistant", "model": "claude-opus-4-5-20251101", "stop_reason": "end_turn",
        "content": content, "usage": {"input_tokens": 1, "output_tokens": 7}
    }})
}

fn said(id: &str, text: &str) -> Value {
    answer(id, &json!([{"type": "text", "text": text}]))
}

/// The lines of a session, numbered.
fn lines(session: &str, fields: &[Value]) -> Vec<Value> {
    (1..).zip(fields).map(|(n, fields)| record(session, n, fields)).collect()
}

fn text_of(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Every row of the roster, as JSON.
fn roster(home: &Home) -> Vec<Value> {
    let roster = home.json(&["roster", "--all", "--json"]);
    roster["sessions"].as_array().unwrap().clone()
}

fn keys(stats: &Value) -> Vec<&str> {
    stats["rows"].as_array().unwrap().iter().filter_map(|row| row["key"].as_str()).collect()
}

#[test]
fn requests_of_a_subagent_without_a_main_file_keep_their_folder() {
    let home = Home::empty();
    for (agent, cwd) in [("a1", "/home/dev/x"), ("a2", "/home/dev/x")] {
        let mut line = record(ID, 1, &said(agent, "done"));
        (line["isSidechain"], line["agentId"], line["cwd"]) = (json!(true), json!(agent), json!(cwd));
        line["uuid"] = json!(format!("{agent}222222-0000-4000-8000-000000000001"));
        let path = Path::new("projects/-home-dev-x").join(ID).join(format!("subagents/agent-{agent}.jsonl"));
        append(&home.claude(), &path, &text_of(&[line]));
    }
    home.out(&["index"]);
    let stats = home.json(&["stats", "--by", "project", "--json"]);
    assert_eq!(keys(&stats), ["/home/dev/x"], "{stats}");
    assert_eq!(stats["rows"][0]["requests"], 2, "{stats}");
}

#[test]
fn a_worker_that_copies_the_session_adds_only_its_own_tokens() {
    let home = Home::empty();
    let own = [prompt("mend it"), said("1", "mended"), prompt("and test it"), said("2", "tested")];
    let main = lines(ID, &own);
    transcript(&home.claude(), ID, &main);
    // Copies keep their ids, or get new ones. Their requests are the same.
    let renamed = main.iter().map(|line| {
        let mut line = line.clone();
        line["uuid"] = json!(line["uuid"].as_str().unwrap().replacen('1', "2", 1));
        line
    });
    let workers = [
        ("aside_question-0a1b2c", main.clone()),
        ("aside_question-3d4e5f", renamed.clone().collect()),
        ("acompact-6a7b8c", renamed.collect()),
    ];
    for (requests, (agent, copies)) in (3..).zip(workers) {
        let question = [prompt("what was it?"), said(&requests.to_string(), "a typo")];
        let end = (requests * 2..).zip(&question).map(|(n, fields)| record(ID, n, fields));
        let mut worker: Vec<Value> = copies.into_iter().chain(end).collect();
        worker.iter_mut().for_each(|line| line["isSidechain"] = json!(true));
        let path = format!("projects/-home-dev-x/{ID}/subagents/agent-{agent}.jsonl");
        append(&home.claude(), Path::new(&path), &text_of(&worker));
        let rows = roster(&home);
        let tokens = (&rows[0]["tokens"]["input"], &rows[0]["tokens"]["output"]);
        assert_eq!((rows.len(), tokens), (1, (&json!(requests), &json!(requests * 7))), "{agent}");
    }
}

#[test]
fn only_what_a_person_sent_counts_as_a_prompt() {
    let home = Home::empty();
    let notice =
        "<task-notification>\n<task-id>b1</task-id>\n<status>completed</status>\n</task-notification>";
    let mut marked = prompt("Background work has ended.");
    marked["origin"] = json!({"kind": "task-notification"});
    let queued = |text: &str, mode: &str| json!({"type": "attachment", "attachment": {"type": "queued_command", "prompt": text, "commandMode": mode}});
    let teammate = prompt("<teammate-message teammate_id=\"lead\">go on</teammate-message>");
    let fields = [
        prompt("fix the lexer"),
        said("1", "Done."),
        prompt(notice),
        said("2", "It has ended."),
        marked,
        said("3", "Also ended."),
        teammate,
        queued("and the parser", "prompt"),
        queued(notice, "task-notification"),
        said("4", "Done."),
    ];
    transcript(&home.claude(), ID, &lines(ID, &fields));
    home.out(&["index"]);
    let stats = home.json(&["stats", "--json"]);
    assert_eq!(stats["total"]["prompts"], 2, "{stats}");
}

#[test]
fn a_run_that_failed_before_its_prompt_has_the_queued_prompt_as_title() {
    let home = Home::empty();
    let queue = |n: u32, operation: &str, content: Option<&str>| {
        let mut line = json!({"type": "queue-operation", "operation": operation, "sessionId": ID, "timestamp": format!("2026-11-20T15:00:{n:02}.000Z")});
        content.inspect(|content| line["content"] = json!(content));
        line
    };
    let asked = "<system-reminder>be brief</system-reminder>translate the manual";
    transcript(&home.claude(), ID, &[queue(1, "enqueue", Some(asked)), queue(2, "dequeue", None)]);
    let notice = "<task-notification>\n<task-id>b1</task-id>\n</task-notification>";
    transcript(&home.claude(), SECOND, &[queue(1, "enqueue", Some(notice)), queue(2, "dequeue", None)]);
    let rows = roster(&home);
    let goal = |id: &str| {
        let row = rows.iter().find(|row| row["sessionId"] == id).unwrap_or_else(|| panic!("{rows:#?}"));
        (row["title"].clone(), row["goal"].clone())
    };
    assert_eq!(goal(ID), (json!("translate the manual"), json!("translate the manual")));
    assert_eq!(goal(SECOND), (Value::Null, Value::Null), "the agent wrote this text itself");
}

#[test]
fn every_tool_is_listed_by_the_statistics() {
    let home = Home::empty();
    let tools = ["AskUserQuestion", "Bash", "ListMcpResourcesTool", "Skill", "SlashCommand", "TodoWrite"];
    let call =
        |tool: &str| json!({"type": "tool_use", "id": format!("toolu_{tool}"), "name": tool, "input": {}});
    let mut fields = vec![prompt("fix the lexer")];
    for tool in tools {
        let mut calls = answer(tool, &json!([call(tool)]));
        calls["message"]["stop_reason"] = json!("tool_use");
        fields.push(calls);
        let result = json!({"type": "tool_result", "tool_use_id": format!("toolu_{tool}"), "content": "ok"});
        fields.push(json!({"type": "user", "message": {"role": "user", "content": [result]}}));
    }
    transcript(&home.claude(), ID, &lines(ID, &fields));
    home.out(&["index"]);
    assert_eq!(keys(&home.json(&["stats", "--by", "tool", "--json"])), tools);
}

#[test]
fn each_unknown_record_type_has_its_number_and_is_called_not_known() {
    let home = Home::empty();
    let of = |kind: &str| json!({"type": kind});
    let fields = [prompt("go"), of("brand-new"), of("other-new"), of("brand-new"), said("1", "Done.")];
    transcript(&home.claude(), ID, &lines(ID, &fields));
    transcript(&home.claude(), SECOND, &lines(SECOND, &[prompt("go"), of("other-new"), of("other-new")]));
    let index = home.out(&["index"]);
    assert!(index.contains("5 records are of types that this version does not know"), "{index}");
    assert!(!index.contains("could not be read"), "{index}");
    // Twice: the second time, the problems come from the store.
    for _ in 0..2 {
        let doctor = home.json(&["doctor", "--json"]);
        let unknown = |name: &str| {
            let problems = doctor["problems"].as_array().unwrap().iter();
            let named = |problem: &&Value| problem["detail"].as_str().unwrap().contains(&format!("`{name}`"));
            problems.filter(named).map(|problem| problem["count"].clone()).collect::<Vec<_>>()
        };
        assert_eq!(
            (unknown("brand-new"), unknown("other-new")),
            (vec![json!(2)], vec![json!(3)]),
            "{doctor}"
        );
        let text = home.out(&["doctor"]);
        assert!(text.contains("not known") && !text.contains("could not be read"), "{text}");
    }
}

/// The names that sync tools and people give to a copy of a transcript, without `.jsonl`.
const COPIES: [&str; 22] = [
    "{} 2",
    "{} copy",
    "{} copy 2",
    "{} - Copy",
    "{} - Copy (2)",
    "Copy of {}",
    "{}(1)",
    "{} (1)",
    "{} (Ada's conflicted copy 2026-11-20)",
    "{} (conflicted copy 2026-11-20 150000)",
    "{} (case conflict)",
    "{} (SFConflict ada@example.com 2026-11-20-15-00-00)",
    "{} [conflicted]",
    "{}.sync-conflict-20261120-150000-ABCDEFG",
    "{}.Conflict",
    "{}.conflict1",
    "{}.bak",
    "{}-DESKTOP-ADA",
    "{}_conf(1)",
    "{}_BACKUP_1234",
    "{}~1",
    "backup of notes",
];

#[test]
fn copies_of_a_transcript_are_named_and_give_no_row() {
    let home = Home::empty();
    let mine = lines(ID, &[prompt("fix the lexer"), said("1", "Done.")]);
    transcript(&home.claude(), ID, &mine);
    let agent = Path::new("projects/-home-dev-x").join(ID).join("subagents/agent-a1.jsonl");
    let mut of_agent = record(ID, 9, &said("9", "done"));
    (of_agent["isSidechain"], of_agent["agentId"]) = (json!(true), json!("a1"));
    append(&home.claude(), &agent, &text_of(&[of_agent.clone()]));
    let before = (roster(&home), home.json(&["stats", "--by", "project", "--json"]));
    let mut named = Vec::new();
    for copy in COPIES {
        let stem = copy.replace("{}", ID);
        let path = Path::new("projects/-home-dev-x").join(format!("{stem}.jsonl"));
        // A copy may go on on its own.
        let more = record(ID, 3, &said(&stem, "only in the copy"));
        append(&home.claude(), &path, &(text_of(&mine) + &text_of(&[more])));
        named.extend(copy.contains("{}").then(|| home.claude().join(&path)));
        // A folder of subagents is copied as well, and so is a file in it.
        let folder = Path::new("projects/-home-dev-x").join(&stem).join("subagents/agent-a1.jsonl");
        append(
            &home.claude(),
            &folder,
            &text_of(&[record(ID, 8, &said(&format!("{stem} agent"), "copied"))]),
        );
    }
    for name in ["agent-a1 2", "agent-a1.sync-conflict-20261120-150000-ABCDEFG", "agent-a1 (1)"] {
        let path = agent.with_file_name(format!("{name}.jsonl"));
        append(&home.claude(), &path, &text_of(&[record(ID, 7, &said(name, "copied"))]));
    }
    assert_eq!(roster(&home), before.0);
    assert_eq!(home.json(&["stats", "--by", "project", "--json"]), before.1);
    let doctor = home.json(&["doctor", "--json"]);
    let problems = doctor["problems"].as_array().unwrap();
    for path in named {
        let of = problems.iter().find(|problem| problem["path"] == path.to_str().unwrap());
        let kind = of.map(|problem| problem["kind"].as_str().unwrap());
        assert_eq!(kind, Some("copy_of_a_transcript"), "{path:?}: {doctor:#}");
    }
    assert!(!home.out(&["index"]).contains("could not be read"));
}

#[test]
fn a_usage_limit_is_shown_with_its_time() {
    for (text, shown) in [
        ("You're out of extra usage · resets 9pm", "You're out of extra usage · resets 9pm"),
        (
            "Claude AI usage limit reached|1795000000",
            "Claude AI usage limit reached · resets 2026-11-18 11:06 UTC",
        ),
    ] {
        let home = Home::empty();
        let mut failed = answer("1", &json!([{"type": "text", "text": text}]));
        (failed["isApiErrorMessage"], failed["error"], failed["apiErrorStatus"]) =
            (json!(true), json!("rate_limit"), json!(429));
        (failed["message"]["model"], failed["message"]["stop_reason"]) =
            (json!("<synthetic>"), json!("stop_sequence"));
        transcript(&home.claude(), ID, &lines(ID, &[prompt("go"), failed]));
        let at = home.json(&["roster", "--all", "--json", "--at", "2026-11-20T15:00:10Z"]);
        let row = &at["sessions"][0];
        assert_eq!(
            (&row["state"], &row["stateKind"]),
            (&json!("waiting_for_input"), &json!("limit")),
            "{row:#}"
        );
        assert!(row["stateReason"]["detail"].as_str().unwrap().contains(shown), "{row:#}");
    }
}

/// The statistics in another time zone.
fn stats_in(home: &Home, zone: &str, words: &[&str]) -> Value {
    let done: Finished = run(home.command(&["stats", "--json"]).args(words).env("TZ", zone));
    assert_eq!((done.code, &*done.err), (0, ""));
    serde_json::from_str(&done.out).unwrap()
}

#[test]
fn days_are_those_of_the_person() {
    let home = Home::empty();
    let mut line = record(ID, 1, &said("1", "Done."));
    line["timestamp"] = json!("2026-11-09T15:50:00.000Z");
    transcript(&home.claude(), ID, &[line]);
    home.out(&["index"]);
    for (zone, day) in
        [("Asia/Seoul", "2026-11-10"), ("UTC", "2026-11-09"), ("Pacific/Kiritimati", "2026-11-10")]
    {
        assert_eq!(keys(&stats_in(&home, zone, &[])), [day], "{zone}");
        assert_eq!(keys(&stats_in(&home, zone, &["--since", day])), [day], "{zone}");
    }
    assert_eq!(keys(&stats_in(&home, "Asia/Seoul", &["--since", "2026-11-11"])), [""; 0]);
}

#[test]
fn one_repository_is_one_project_by_every_path() {
    let home = Home::empty();
    let top = home.path().canonicalize().unwrap();
    let (main, tree, link) = (top.join("repo"), top.join("tree"), top.join("link"));
    std::fs::create_dir_all(main.join(".git/worktrees/tree")).unwrap();
    std::fs::create_dir_all(&tree).unwrap();
    std::fs::write(main.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    std::fs::write(main.join(".git/worktrees/tree/commondir"), "../..\n").unwrap();
    std::fs::write(main.join(".git/worktrees/tree/gitdir"), format!("{}\n", tree.join(".git").display()))
        .unwrap();
    std::fs::write(tree.join(".git"), format!("gitdir: {}\n", main.join(".git/worktrees/tree").display()))
        .unwrap();
    std::os::unix::fs::symlink(&main, &link).unwrap();
    let gone = main.join(".claude/worktrees/gone");
    let other = top.join("other");
    std::fs::create_dir_all(&other).unwrap();
    let folders = [&main, &link, &tree, &gone, &other];
    for (n, folder) in folders.into_iter().enumerate() {
        let id = ID.replace("000000000001", &format!("00000000000{n}"));
        let mut line = record(&id, 1, &said(&n.to_string(), "Done."));
        (line["cwd"], line["uuid"]) =
            (json!(folder), json!(format!("1111111{n}-0000-4000-8000-000000000001")));
        let name: String = folder
            .to_str()
            .unwrap()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        append(
            &home.claude(),
            &Path::new("projects").join(name).join(format!("{id}.jsonl")),
            &text_of(&[line]),
        );
    }
    home.out(&["index"]);
    let stats = home.json(&["stats", "--by", "project", "--json"]);
    assert_eq!(keys(&stats), [main.to_str().unwrap(), other.to_str().unwrap()], "{stats:#}");
    assert_eq!(stats["rows"][0]["requests"], 4, "{stats:#}");
}

#[test]
fn a_teammate_is_called_by_its_name() {
    let home = Home::empty();
    let message = prompt("<teammate-message teammate_id=\"team-lead\">look at the lexer</teammate-message>");
    let of_team = |id: &str, name: &str, first: &Value| {
        let mut lines = lines(id, &[first.clone(), said(id, "The lexer is fine.")]);
        for line in &mut lines {
            (line["teamName"], line["agentName"]) = (json!("parsers"), json!(name));
        }
        transcript(&home.claude(), id, &lines);
    };
    of_team(ID, "lexer-expert", &message);
    // What a person asked for says more than the name of a role.
    of_team(SECOND, "team-lead", &prompt("fix the parser"));
    transcript(&home.claude(), THIRD, &lines(THIRD, &[message, said("t", "No name.")]));
    let rows = roster(&home);
    let title = |id: &str| rows.iter().find(|row| row["sessionId"] == id).map(|row| row["title"].clone());
    assert_eq!(title(ID), Some(json!("lexer-expert")), "{rows:#?}");
    assert_eq!(title(SECOND), Some(json!("fix the parser")), "{rows:#?}");
    assert_eq!(title(THIRD), Some(Value::Null), "{rows:#?}");
}
