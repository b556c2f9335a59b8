//! Lines as clients wrote them in public transcripts (2.0.15 to 2.1.332), with other texts.

use watchbill_agents::claude::records::parse_line;
use watchbill_core::ids::SessionId;
use watchbill_core::session::SessionFold;
use watchbill_core::session::SubagentFold;
use watchbill_core::session::state::Timeouts;

use crate::script::{ENDED, INTERRUPTED, SESSION, WORKING, at};

/// A line of the session with a time and these fields.
fn line(millis: i64, fields: &str) -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let (id, time) = (NEXT.fetch_add(1, Ordering::Relaxed), at(millis as f64 / 1000.0));
    format!(
        r#"{{"uuid":"{id:08x}-0000-4000-8000-000000000000","timestamp":"{time}","sessionId":"{SESSION}","cwd":"/home/dev/work","gitBranch":"main",{fields}}}"#
    )
}

fn prompt(millis: i64, text: &str) -> String {
    line(millis, &format!(r#""type":"user","message":{{"role":"user","content":"{text}"}}"#))
}

fn call(millis: i64, id: &str, tool: &str) -> String {
    let block = format!(r#"{{"type":"tool_use","id":"{id}","name":"{tool}","input":{{"file_path":"/x"}}}}"#);
    line(
        millis,
        &format!(
            r#""type":"assistant","message":{{"id":"m{id}","model":"m","content":[{block}],"stop_reason":"tool_use"}}"#
        ),
    )
}

fn result(millis: i64, id: &str) -> String {
    let block = format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":"ok"}}"#);
    line(millis, &format!(r#""type":"user","message":{{"role":"user","content":[{block}]}}"#))
}

fn attachment(millis: i64, kind: &str) -> String {
    line(millis, &format!(r#""type":"attachment","attachment":{{"type":"{kind}","data":{{}}}}"#))
}

fn fold(lines: &[String]) -> SessionFold {
    let mut fold = SessionFold::new(SessionId::new(SESSION), Timeouts::default());
    for line in lines {
        parse_line(line.as_bytes(), &mut |record, _| fold.apply(&record, &mut Vec::new()));
    }
    fold
}

fn state(
    fold: &SessionFold,
) -> (watchbill_core::session::state::State, Option<watchbill_core::session::state::StateKind>) {
    let reading = fold.reading();
    (reading.state, reading.kind)
}

#[test]
fn an_attachment_after_which_no_answer_comes_ends_the_turn() {
    for kind in ["structured_output", "max_turns_reached", "hook_stopped_continuation"] {
        let begun = [prompt(0, "go"), call(1_000, "a", "StructuredOutput")];
        for rest in [
            vec![attachment(1_100, kind), result(1_200, "a")],
            vec![result(1_100, "a"), attachment(1_200, kind)],
            vec![attachment(1_100, kind)],
        ] {
            let mut fold = fold(&[&begun[..], &rest].concat());
            assert_eq!(state(&fold), ENDED, "{kind}");
            assert!(!fold.reading().by_timeout && fold.pending_tools().is_empty(), "{kind}");
            parse_line(prompt(9_000, "more").as_bytes(), &mut |record, _| {
                fold.apply(&record, &mut Vec::new())
            });
            assert_eq!(state(&fold), WORKING, "{kind}: the next prompt begins a turn");
        }
    }
    let open = fold(&[prompt(0, "go"), call(1_000, "a", "StructuredOutput"), attachment(1_100, "date")]);
    assert_eq!(state(&open), WORKING);
}

#[test]
fn a_result_before_its_call_closes_it() {
    for order in [vec!["call", "result"], vec!["result", "call"], vec!["result", "result", "call"]] {
        let mut lines = vec![prompt(0, "go")];
        lines.extend(order.iter().map(|what| match *what {
            "call" => call(3_990, "a", "Edit"),
            _ => result(4_000, "a"),
        }));
        let mut fold = fold(&lines);
        assert!(fold.pending_tools().is_empty(), "{order:?}");
        fold.advance(at(20.0), &mut Vec::new());
        assert_eq!(state(&fold), WORKING, "{order:?}: nothing waits for the user");
    }
    // Another call stays open, and each call needs a result of its own.
    let lines = [prompt(0, "go"), result(4_000, "a"), call(3_990, "a", "Edit"), call(3_991, "b", "Edit")];
    let ids: Vec<String> = fold(&lines).pending_tools().iter().map(|tool| tool.id.to_string()).collect();
    assert_eq!(ids, ["b"]);
}

#[test]
fn many_results_without_calls_take_little_room() {
    let lines: Vec<String> = (0..5_000).map(|n| result(n, &format!("t{n}"))).collect();
    let bytes = fold(&lines).snapshot().len();
    let few = fold(&lines[..40]).snapshot().len();
    assert!(bytes <= few + 64, "{bytes} bytes after 5,000 results, {few} after 40");
}

#[test]
fn a_subagents_result_before_its_call_closes_it_too() {
    let mut agent = SubagentFold::new("a1");
    for line in [prompt(0, "go"), result(4_000, "a"), call(3_990, "a", "Edit")] {
        parse_line(line.as_bytes(), &mut |record, _| agent.apply(&record));
    }
    assert_eq!(agent.pending_tools().len(), 0);
    for line in [attachment(5_000, "structured_output"), result(5_100, "a")] {
        parse_line(line.as_bytes(), &mut |record, _| agent.apply(&record));
    }
    assert!(!agent.is_running(at(6.0), watchbill_core::time::Millis::from_secs(600)));
}

#[test]
fn a_refused_command_is_no_prompt() {
    let caveat = line(
        0,
        r#""type":"user","isMeta":true,"message":{"content":"<local-command-caveat>Caveat</local-command-caveat>"}"#,
    );
    let fold = fold(&[caveat, prompt(0, "Unknown skill: usage")]);
    assert_eq!((fold.facts().goal.clone(), fold.facts().title()), (None, None));
    assert_eq!(state(&fold).1, None);
    assert_ne!(state(&fold), WORKING);
}

#[test]
fn the_goal_is_what_the_user_wrote() {
    for (text, want) in [
        (r"<system-reminder>be kind</system-reminder>\n\nfix the lexer", Some("fix the lexer")),
        (r"fix the lexer\n<system-reminder>be kind</system-reminder>", Some("fix the lexer")),
        (r"<system-reminder>only this</system-reminder>", None),
        (r"Implement the following plan:\n\n# Lexer without regex\n\n1. Delete", Some("Lexer without regex")),
        (r"Implement the following plan:", Some("Implement the following plan:")),
    ] {
        let fold = fold(&[prompt(0, text)]);
        assert_eq!(fold.facts().goal.as_deref(), want, "{text}");
        assert_eq!(fold.facts().title().as_deref(), want, "{text}");
    }
}

#[test]
fn the_folder_and_the_branch_follow_the_clients_records() {
    let worktree = r#"{"type":"worktree-state","worktreeSession":{"originalCwd":"/home/dev/work","worktreePath":"/home/dev/work/.claude/worktrees/a","worktreeBranch":"worktree-a"}}"#;
    let relocated = r#"{"type":"relocated","relocatedCwd":"/home/dev/api"}"#;
    let left = r#"{"type":"worktree-state","worktreeSession":null}"#;
    let begun = [prompt(0, "go")];
    let shown = |more: &[&str]| {
        let lines: Vec<String> =
            begun.iter().cloned().chain(more.iter().map(|line| (*line).to_owned())).collect();
        let fold = fold(&lines);
        (fold.cwd().map(|cwd| cwd.to_string()), fold.facts().branch.as_ref().map(|branch| branch.to_string()))
    };
    let want = |cwd: &str, branch: &str| (Some(cwd.to_owned()), Some(branch.to_owned()));
    assert_eq!(shown(&[]), want("/home/dev/work", "main"));
    assert_eq!(shown(&[relocated]), want("/home/dev/api", "main"));
    assert_eq!(shown(&[worktree]), want("/home/dev/work/.claude/worktrees/a", "worktree-a"));
    assert_eq!(
        shown(&[relocated, worktree, worktree]),
        want("/home/dev/work/.claude/worktrees/a", "worktree-a")
    );
    let back = [worktree, left].map(str::to_owned);
    let lines = [&begun[..], &back, &[prompt(9_000, "more")]].concat();
    let back = fold(&lines);
    assert_eq!(
        (back.cwd().map(|cwd| &**cwd), back.facts().branch.as_deref()),
        (Some("/home/dev/work"), Some("main"))
    );
    let lineage =
        fold(&[&begun[..], &[relocated.to_owned(), worktree.to_owned()]].concat()).lineage().clone();
    for (project, cwd) in [
        ("-home-dev-work", Some("/home/dev/work")),
        ("-home-dev-api", Some("/home/dev/api")),
        ("-home-dev-work--claude-worktrees-a", Some("/home/dev/work/.claude/worktrees/a")),
        ("-elsewhere", None),
    ] {
        assert_eq!(lineage.cwd_in(project).map(|cwd| &**cwd), cwd, "{project}");
    }
}

#[test]
fn a_session_says_where_its_work_goes_on() {
    let goes_on = |secs: i64| {
        format!(
            r#"{{"type":"continued-in","timestamp":"{}","sessionId":"{SESSION}","continuedInSessionId":"new"}}"#,
            at(secs as f64)
        )
    };
    let continued = |lines: &[String]| {
        fold(lines).lineage().continued_in.clone().map(|(to, since)| (to.to_string(), since))
    };
    let begun = [prompt(0, "go"), prompt(1_000, "and this")];
    let with = |more: &[String]| continued(&[&begun[..], more].concat());
    assert_eq!(with(&[goes_on(5)]), Some(("new".into(), Some(at(5.0)))));
    let bare = r#"{"type":"continued-in","continuedInSessionId":"new"}"#.to_owned();
    assert_eq!(
        with(&[bare]),
        Some(("new".into(), Some(at(1.0)))),
        "without a time, it is that of the record before"
    );
    assert_eq!(with(&[goes_on(5), prompt(9_000, "again")]), Some(("new".into(), None)), "it went on itself");
    assert_eq!(with(&[goes_on(5), prompt(9_000, "again"), goes_on(5)]), Some(("new".into(), None)));
    let copied = goes_on(5).replace(SESSION, "22222222-2222-4222-8222-222222222222");
    assert_eq!(with(&[copied]), None, "a copy tells of another session");
}

#[test]
fn an_interrupt_after_a_result_that_came_early_ends_the_turn() {
    let interrupt = line(
        5_000,
        r#""type":"user","message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]}"#,
    );
    let lines =
        [prompt(0, "go"), result(4_000, "a"), call(3_990, "a", "Edit"), interrupt, result(5_100, "z")];
    assert_eq!(state(&fold(&lines)), INTERRUPTED);
}
