//! Single lines: forms that the recordings lack, and those that only look like something else.

use watchbill_agents::codex::records::parse_line;
use watchbill_core::history::{Exclude, HistoryFold, HistorySettings};
use watchbill_core::ids::SessionId;
use watchbill_core::session::state::{State, StateKind};
use watchbill_core::tool::{Ask, Mode};
use watchbill_core::transcript::json::Raw;
use watchbill_core::transcript::record::{Block, Body, Denial, TEXT_LIMIT};
use watchbill_core::transcript::timeline::{Outcome, TimelineBuilder, What};

use crate::fixtures::{fold_lines, new_fold, rollouts};

fn line(kind: &str, payload: &str) -> String {
    format!(r#"{{"timestamp":"2026-11-23T16:00:00.000Z","type":"{kind}","payload":{{{payload}}}}}"#)
}

fn numbered(line: &str) -> String {
    line.replacen('{', r#"{"ordinal":7,"#, 1)
}

fn event(kind: &str, rest: &str) -> String {
    line("event_msg", &format!(r#""type":"{kind}"{rest}"#))
}

fn item(kind: &str, rest: &str) -> String {
    line("response_item", &format!(r#""type":"{kind}"{rest}"#))
}

/// The short form of each record of a line.
fn read(line: &str) -> Vec<String> {
    let mut met = Vec::new();
    let report = parse_line(line.as_bytes(), &mut |record, full| {
        met.push(match &record.body {
            Body::Prompt(prompt) => format!("{:?} {}", prompt.origin, full.prompt(prompt, TEXT_LIMIT)),
            Body::ApiError { kind, text } => format!("error {} {text}", kind.as_deref().unwrap_or("-")),
            Body::Settings { mode, .. } => format!("{:?}", mode.as_ref().map(|mode| mode.1)),
            Body::System(_) => format!("{:?} {}", record.body, full.words(TEXT_LIMIT)),
            Body::CompactSummary => format!("summary {}", full.words(TEXT_LIMIT)),
            body => format!("{body:?}"),
        });
    });
    assert_eq!(report.problems().count(), 0, "{line}: {report:?}");
    met
}

#[test]
fn no_line_of_a_real_client_is_malformed_or_unknown() {
    let mut lines = 0;
    for rollout in rollouts() {
        for line in rollout.text.lines() {
            let report = parse_line(line.as_bytes(), &mut |_, _| {});
            assert_eq!(report.problems().count(), 0, "{}: {report:?} {line}", rollout.name);
            lines += 1;
        }
    }
    assert!(lines > 1000, "only {lines} lines: the fixtures are gone");
}

#[test]
fn unknown_types_are_counted_by_their_names() {
    for (line, name) in [
        (line("event_msg", r#""type":"thread_danced""#), "event_msg/thread_danced"),
        (line("response_item", r#""type":"dance""#), "response_item/dance"),
        (line("dance", ""), "dance"),
        (r#"{"payload":{}}"#.to_owned(), ""),
    ] {
        let report =
            parse_line(line.as_bytes(), &mut |record, _| assert!(matches!(record.body, Body::Unknown(_))));
        assert_eq!((report.records, report.unknown_type.as_deref()), (1, Some(name)));
    }
}

#[test]
fn a_prompt_is_what_a_person_wrote_once() {
    let typed = |text: &str| event("user_message", &format!(r#","message":"{text}","images":[]"#));
    let said = |content: &str| {
        event(
            "item_completed",
            &format!(r#","item":{{"type":"UserMessage","id":"u","content":[{content}]}}"#),
        )
    };
    let text = r#"{"type":"text","text":"fix it"}"#;
    for (line, want) in [
        (typed("fix it"), "Human fix it"),
        (
            typed(
                r"# Context from my IDE setup:\n\n## Active file: a.rs\n\n## My request for Codex:\nfix it",
            ),
            "Human fix it",
        ),
        (typed("<watchbill-context>told</watchbill-context>\\n\\nfix it"), "Human fix it"),
        (numbered(&said(text)), "Human fix it"),
        (
            numbered(&said(r#"{"type":"local_image","path":"a"},{"type":"image","image_url":"b"}"#)),
            "Human [2 images]",
        ),
        (event("user_message", r#","message":"","local_images":["a.png"]"#), "Human [image]"),
        // The same prompt, said in another way.
        (numbered(&typed("fix it")), "Irrelevant"),
        (said(text), "Irrelevant"),
        (item("message", &format!(r#","role":"user","content":[{text}]"#)), "Irrelevant"),
        // The client wrote it.
        (typed("# AGENTS.md instructions for /a"), "Meta"),
        (typed("<environment_context>x"), "Meta"),
        (typed(r"\n<subagent_notification>x"), "Meta"),
        (typed(""), "Irrelevant"),
        (
            item("agent_message", r#","content":[{"type":"input_text","text":"Message Type: NEW_TASK\nx"}]"#),
            "Peer Message Type: NEW_TASK\nx",
        ),
        (
            item(
                "agent_message",
                r#","content":[{"type":"input_text","text":"Message Type: FINAL_ANSWER"}]"#,
            ),
            "Meta",
        ),
    ] {
        assert_eq!(read(&line), [want], "{line}");
    }
}

#[test]
fn a_turn_ends_in_these_ways() {
    for (line, want) in [
        (
            event("task_complete", r#","error":{"message":"m","codex_error_info":"usage_limit_exceeded"}"#),
            "error usage_limit m",
        ),
        (
            event(
                "task_complete",
                r#","error":{"message":"m","codex_error_info":{"http_connection_failed":{"http_status_code":502}}}"#,
            ),
            "error http_connection_failed m",
        ),
        (event("error", r#","message":"m","codex_error_info":null"#), "error - m"),
        (event("error", r#","message":"m","codex_error_info":"thread_rollback_failed""#), "Irrelevant"),
        (numbered(&event("error", r#","message":"m""#)), "Irrelevant"),
        (event("turn_aborted", r#","reason":"interrupted""#), "Interrupt"),
        (event("turn_aborted", r#","reason":"replaced""#), "System(TurnDuration { pending_agents: 0 }) "),
        (event("task_complete", r#","error":null"#), "System(TurnDuration { pending_agents: 0 }) "),
        (
            event("thread_rolled_back", r#","num_turns":1"#),
            r#"System(Other("thread_rolled_back")) The last turn was taken back."#,
        ),
        (
            event("thread_rolled_back", r#","num_turns":3"#),
            r#"System(Other("thread_rolled_back")) The last 3 turns were taken back."#,
        ),
        (event("thread_name_updated", r#","thread_name":"Mine""#), r#"Title { kind: Custom, text: "Mine" }"#),
    ] {
        assert_eq!(read(&line), [want], "{line}");
    }
    let limit =
        event("task_complete", r#","error":{"message":"Later.","codex_error_info":"usage_limit_exceeded"}"#);
    let mut fold = new_fold("s");
    fold_lines(&mut fold, &[event("task_started", ""), limit].join("\n"));
    assert_eq!((fold.reading().state, fold.reading().kind), (State::WaitingForInput, Some(StateKind::Limit)));
}

#[test]
fn a_compaction_has_a_summary_only_where_the_client_kept_it() {
    assert_eq!(
        read(&line("compacted", r#""message":"so far","replacement_history":[{}]"#))[1],
        "summary so far"
    );
    assert_eq!(read(&line("compacted", r#""message":"""#)).len(), 1);
}

#[test]
fn the_policy_and_the_sandbox_say_which_calls_may_ask() {
    for (policy, sandbox, mode) in [
        ("never", "read-only", Mode::NeverAsks),
        ("on-request", "workspace-write", Mode::AcceptsEdits),
        ("on-request", "read-only", Mode::Asks),
        ("untrusted", "workspace-write", Mode::Asks),
    ] {
        let context = format!(r#""approval_policy":"{policy}","sandbox_policy":{{"type":"{sandbox}"}}"#);
        assert_eq!(read(&line("turn_context", &context)), [format!("{:?}", Some(mode))]);
    }
}

#[test]
fn each_form_of_a_call_gives_its_tool_target_and_input() {
    let function = |name: &str, arguments: &str| {
        item(
            "function_call",
            &format!(r#","call_id":"c","name":"{name}","arguments":{}"#, serde_json::Value::from(arguments)),
        )
    };
    let custom = |name: &str, input: &str| {
        item(
            "custom_tool_call",
            &format!(r#","call_id":"c","name":"{name}","input":{}"#, serde_json::Value::from(input)),
        )
    };
    let patch = "*** Begin Patch\n*** Update File: src/a.rs\n*** Move to: b \"c\".rs\n-x\n*** End Patch";
    for (line, tool, target, ask, input) in [
        (
            function("exec_command", r#"{"cmd":"make\n-j"}"#),
            "exec_command",
            "make",
            Ask::Edit,
            r#"{"cmd":"make\n-j"}"#,
        ),
        (
            function("exec_command", r#"{"cmd":"make","sandbox_permissions":"require_escalated"}"#),
            "exec_command",
            "make",
            Ask::Tool,
            r#"{"cmd":"make","sandbox_permissions":"require_escalated"}"#,
        ),
        (
            function("shell", r#"{"command":["bash","-lc","ls -l"]}"#),
            "shell",
            "ls -l",
            Ask::Edit,
            r#"{"command":["bash","-lc","ls -l"]}"#,
        ),
        (
            custom("apply_patch", patch),
            "apply_patch",
            "src/a.rs",
            Ask::Edit,
            r#"{"files":["src/a.rs","b \"c\".rs"],"patch":"*** Begin Patch\n*** Update File: src/a.rs\n*** Move to: b \"c\".rs\n-x\n*** End Patch"}"#,
        ),
        (custom("exec", "run()"), "exec", "run()", Ask::Edit, r#"{"code":"run()"}"#),
        (function("later", "{torn"), "later", "{torn", Ask::Tool, r#"{"input":"{torn"}"#),
        (
            function("request_user_input", r#"{"questions":[{"question":"Which?"}]}"#),
            "request_user_input",
            "Which?",
            Ask::Question,
            r#"{"questions":[{"question":"Which?"}]}"#,
        ),
        (
            function("update_plan", r#"{"plan":[{"step":"a"}]}"#),
            "update_plan",
            "",
            Ask::Never,
            r#"{"plan":[{"step":"a"}]}"#,
        ),
        (
            item("function_call", r#","call_id":"c","namespace":"mcp__git","name":"log","arguments":"{}""#),
            "mcp__git__log",
            "",
            Ask::Tool,
            "{}",
        ),
        (
            item("local_shell_call", r#","call_id":"c","action":{"type":"exec","command":["ls","a"]}"#),
            "local_shell",
            "ls a",
            Ask::Edit,
            r#"{"type":"exec","command":["ls","a"]}"#,
        ),
    ] {
        parse_line(line.as_bytes(), &mut |record, full| {
            let Body::Assistant(answer) = &record.body else { panic!("{line}") };
            let want = Block::ToolUse {
                id: "c".into(),
                tool: tool.into(),
                target: target.into(),
                ask,
                is_test: false,
            };
            assert_eq!(answer.blocks, [want], "{line}");
            let block = full.content().blocks().next().expect("a block");
            assert_eq!(block.input, Raw::Nested(input));
            assert!(serde_json::from_str::<serde_json::Value>(input).is_ok());
        });
    }
}

#[test]
fn what_a_process_of_a_left_out_call_says_later_is_left_out() {
    let call = |id: &str, name: &str, arguments: &str| {
        let arguments = format!("{arguments:?}");
        item("function_call", &format!(r#","call_id":"{id}","name":"{name}","arguments":{arguments}"#))
    };
    let output = |id: &str, text: &str| {
        item("function_call_output", &format!(r#","call_id":"{id}","output":{text:?}"#))
    };
    let running = |process: u32, text: &str| {
        format!("Wall time: 1.0 seconds\nProcess running with session ID {process}\nOutput:\n{text}")
    };
    let lines = [
        call("a", "exec_command", r#"{"cmd":"tail -f /home/dev/secret/log"}"#),
        output("a", &running(7, "hidden")),
        call("b", "exec_command", r#"{"cmd":"make"}"#),
        output("b", &running(8, "Process running with session ID 9")),
        call("c", "write_stdin", r#"{"session_id":7,"chars":"hidden"}"#),
        output("c", &running(7, "hidden")),
        call("d", "write_stdin", r#"{"session_id":8,"chars":"open"}"#),
        output("d", &running(8, "shown")),
        call("e", "write_stdin", r#"{"session_id":7,"chars":""}"#),
        output("e", "Process exited with code 0\nOutput:\nhidden"),
        call("f", "exec_command", r#"{"cmd":"grep -r key","workdir":"/home/dev"}"#),
        output("f", "Process exited with code 0\nOutput:\nsecret/key:hidden"),
    ];
    let exclude = Exclude::new(["/home/dev/secret".to_owned()]);
    let settings = HistorySettings { exclude: exclude.clone(), ..HistorySettings::default() };
    let (mut builder, mut stored) = (TimelineBuilder::new(exclude), String::new());
    let mut fold = HistoryFold::new(SessionId::new("s"), None);
    for (offset, line) in (0..).zip(&lines) {
        parse_line(line.as_bytes(), &mut |record, full| {
            builder.push(offset, &record, full);
            fold.apply(offset, &record, full, &settings, &mut |row| stored += &format!("{row:?}\n"));
        });
        fold.settle(&mut |row| stored += &format!("{row:?}\n"));
        fold = HistoryFold::restore(&fold.snapshot(), fold.session(), None).expect("ours");
    }
    assert!(!stored.contains("hidden") && stored.contains("open") && stored.contains("shown"), "{stored}");
    let calls: Vec<_> = builder
        .entries()
        .iter()
        .map(|entry| match &entry.what {
            What::Tool(call) => (&*call.id, call.left_out, call.output.is_none()),
            other => panic!("{other:?}"),
        })
        .collect();
    let expected = ["a", "b", "c", "d", "e", "f"].map(|id| (id, "ace".contains(id), !"bd".contains(id)));
    assert_eq!(calls, expected);
}

#[test]
fn a_patch_of_an_excluded_file_is_left_out() {
    let exclude = Exclude::new(["/home/dev/secret".to_owned()]);
    let patch = r#","call_id":"c","name":"apply_patch","input":"*** Begin Patch\n*** Add File: /home/dev/secret/key\n+x""#;
    let mut builder = TimelineBuilder::new(exclude);
    parse_line(item("custom_tool_call", patch).as_bytes(), &mut |record, full| {
        builder.push(0, &record, full)
    });
    let What::Tool(call) = &builder.entries()[0].what else { panic!("a call") };
    assert!(call.left_out && call.input.is_empty(), "{call:?}");
}

#[test]
fn a_result_says_how_the_call_ended() {
    let user = Some(Denial::User);
    for (output, is_error, denied, outcome) in [
        (
            "Chunk ID: 5f824b\nWall time: 3.8744 seconds\nProcess exited with code 0\nOutput:\nx",
            false,
            None,
            Outcome::Ok,
        ),
        (
            "Chunk ID: 5f824b\nWall time: 3.8744 seconds\nProcess exited with code 101\nOutput:\nx",
            true,
            None,
            Outcome::Error,
        ),
        (
            "Wall time: 1.0 seconds\nProcess running with session ID 7\nOutput:\nExit code: 1",
            false,
            None,
            Outcome::Ok,
        ),
        ("Exit code: 1\nWall time: 0.4 seconds\nOutput:\nno", true, None, Outcome::Error),
        (r#"{"output":"no\n","metadata":{"exit_code":2}}"#, true, None, Outcome::Error),
        (r#"{"output":"yes\n","metadata":{"exit_code":0}}"#, false, None, Outcome::Ok),
        ("Wall time: 4.0 seconds\naborted by user", true, user, Outcome::Interrupted),
        ("aborted by user after 2.1s", true, user, Outcome::Interrupted),
        ("exec command rejected by user", true, user, Outcome::Denied),
        (
            "approval policy is Never; reject command — you cannot",
            true,
            Some(Denial::Policy),
            Outcome::Denied,
        ),
        ("unsupported call: dance", true, None, Outcome::Error),
        // The tool's own text says nothing about the call.
        ("Exit code: 0\nOutput:\naborted by user", false, None, Outcome::Ok),
        ("my essay:\nit was rejected by user", false, None, Outcome::Ok),
    ] {
        let call = item("function_call", r#","call_id":"c","name":"exec_command","arguments":"{}""#);
        let result = item(
            "function_call_output",
            &format!(r#","call_id":"c","output":{}"#, serde_json::Value::from(output)),
        );
        let mut builder = TimelineBuilder::default();
        for line in [&call, &result] {
            parse_line(line.as_bytes(), &mut |record, full| {
                if let Body::ToolResults(results) = &record.body {
                    assert_eq!((results[0].is_error, results[0].denied), (is_error, denied), "{output}");
                }
                builder.push(0, &record, full);
            });
        }
        let What::Tool(call) = &builder.entries()[0].what else { panic!("a call") };
        assert_eq!(call.outcome, outcome, "{output}");
    }
}

#[test]
fn what_comes_late_opens_no_turn_again() {
    let at = |second: u32, line: String| {
        line.replace("16:00:00", &format!("16:{:02}:{:02}", second / 60, second % 60))
    };
    let call = item("function_call", r#","call_id":"c","name":"exec_command","arguments":"{}""#);
    let result = item("function_call_output", r#","call_id":"c","output":"late""#);
    let text = event("agent_message", r#","message":"late""#);
    let begun = [at(0, event("task_started", "")), at(1, call)];
    let aborted = at(2, event("turn_aborted", r#","reason":"interrupted""#));
    for (idle, late) in [(false, &result), (false, &text), (true, &result), (true, &text)] {
        let mut fold = new_fold("s");
        fold_lines(&mut fold, &begun.join("\n"));
        assert_eq!(fold.reading().state, State::Working);
        fold_lines(&mut fold, &aborted);
        let second = if idle { 1_200 } else { 30 };
        assert!(fold_lines(&mut fold, &at(second, late.clone())).iter().all(|effect| {
            let watchbill_core::session::effect::Effect::Transition { to, .. } = effect;
            *to != State::Working
        }));
        assert!(fold.pending_tools().is_empty());
    }
    // Silence ended the turn, not a mark. So the result goes on with it.
    let mut fold = new_fold("s");
    fold_lines(&mut fold, &[at(0, event("task_started", "")), at(200, text)].join("\n"));
    assert_eq!(fold.reading().state, State::Working);
}
