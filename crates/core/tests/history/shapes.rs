//! Shapes that recordings do not hold, as the agents of all versions write them.

use watchbill_core::history::{BatchOrigin, BatchStatus, CallOutcome, PlanEventKind, Role};

use crate::model::{Reader, rows};

fn user(id: u32, second: u32, content: &str) -> String {
    format!(
        r#"{{"type":"user","uuid":"u{id}","timestamp":"2026-11-20T15:00:{second:02}.000Z","message":{{"content":{content}}}}}"#
    )
}

fn answer(id: u32, second: u32, stop: &str, block: &str) -> String {
    format!(
        r#"{{"type":"assistant","uuid":"a{id}","timestamp":"2026-11-20T15:00:{second:02}.000Z","requestId":"r{id}","message":{{"id":"m{id}","model":"opus","stop_reason":{stop},"usage":{{"input_tokens":1,"output_tokens":{id}}},"content":[{block}]}}}}"#
    )
}

fn said(text: &str) -> String {
    format!(r#"{{"type":"text","text":"{text}"}}"#)
}

fn call(id: &str, tool: &str, input: &str) -> String {
    format!(r#"{{"type":"tool_use","id":"{id}","name":"{tool}","input":{input}}}"#)
}

fn result(id: &str, content: &str, error: bool) -> String {
    format!(r#"[{{"type":"tool_result","tool_use_id":"{id}","content":{content},"is_error":{error}}}]"#)
}

fn lines(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn status(text: &str, prompt: &str) -> Option<BatchStatus> {
    rows(text).batch(prompt).ended.as_ref().map(|ended| ended.status)
}

#[test]
fn a_turn_ends_by_its_last_answer_or_by_the_next_prompt() {
    let begun = [user(1, 0, "\"go\""), answer(1, 1, "null", &said("on it"))];
    assert_eq!(status(&lines(&begun), "go"), Some(BatchStatus::Active));
    let end = answer(2, 2, "\"end_turn\"", &said("done"));
    assert_eq!(status(&lines(&[&begun[..], &[end]].concat()), "go"), Some(BatchStatus::Completed));
    // Agents before 2.1.87 gave no reason: the next prompt shows the end.
    let next = user(2, 9, "\"more\"");
    assert_eq!(
        status(&lines(&[&begun[..], std::slice::from_ref(&next)].concat()), "go"),
        Some(BatchStatus::Completed)
    );
    // A call without a result when the next prompt comes was cut off.
    let open = answer(3, 3, "\"tool_use\"", &call("t", "Bash", r#"{"command":"make"}"#));
    let text = lines(&[&begun[..], &[open, next]].concat());
    assert_eq!(status(&text, "go"), Some(BatchStatus::Interrupted));
    assert_eq!(rows(&text).activities["t"].outcome, Some(CallOutcome::Lost));
}

#[test]
fn a_late_result_joins_its_call_and_reopens_no_turn() {
    let text = lines(&[
        user(1, 0, "\"go\""),
        answer(1, 1, "\"tool_use\"", &call("t", "Bash", r#"{"command":"make"}"#)),
        user(2, 2, r#"[{"type":"text","text":"[Request interrupted by user]"}]"#),
        user(3, 9, "\"next\""),
        user(4, 10, &result("t", "\"late\"", false)),
    ]);
    let model = rows(&text);
    assert_eq!(model.batch("go").ended.as_ref().map(|e| e.status), Some(BatchStatus::Interrupted));
    let activity = &model.activities["t"];
    assert_eq!(activity.outcome, Some(CallOutcome::Ok));
    assert_eq!(activity.tool.as_deref(), Some("Bash"));
    assert_eq!(activity.batch, Some(model.batch("go").id.clone()));
    assert_eq!(model.batches.len(), 2);
}

#[test]
fn a_failed_request_gives_its_text() {
    let text = lines(&[
        user(1, 0, "\"go\""),
        r#"{"type":"assistant","isApiErrorMessage":true,"uuid":"e","timestamp":"2026-11-20T15:00:01.000Z","message":{"content":[{"type":"text","text":"API Error: 529\nmore"}]}}"#.to_owned(),
    ]);
    let model = rows(&text);
    let ended = model.batch("go").ended.clone().expect("it ended");
    assert_eq!((ended.status, ended.error.as_deref()), (BatchStatus::Failed, Some("API Error: 529")));
    assert_eq!(model.texts_of(Role::Notice), ["API Error: 529\nmore"]);
}

#[test]
fn prompts_are_stored_without_the_clients_wrappers() {
    let text = lines(&[
        user(1, 0, r#""<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>the tests</command-args>""#),
        user(2, 1, r#"[{"type":"text","text":"<ide_opened_file>a.rs</ide_opened_file>"},{"type":"text","text":"fix it"}]"#),
        user(3, 2, r#""<system-reminder>\nnever mind\n</system-reminder>\nplain words""#),
        user(4, 3, r#""<task-notification><task-id>b</task-id><summary>It ended</summary></task-notification>""#),
        user(5, 4, r#""<bash-input>ls</bash-input>""#),
        user(6, 4, r#""<bash-stdout>a.rs</bash-stdout><bash-stderr></bash-stderr>""#),
        r#"{"type":"attachment","uuid":"q","timestamp":"2026-11-20T15:00:05.000Z","attachment":{"type":"queued_command","prompt":"and tests"}}"#.to_owned(),
        r#"{"type":"user","uuid":"m","isMeta":true,"message":{"content":"for the model"}}"#.to_owned(),
    ]);
    let model = rows(&text);
    assert_eq!(model.texts_of(Role::Prompt), ["/review the tests", "fix it", "plain words", "and tests"]);
    assert_eq!(model.texts_of(Role::Notice), ["It ended"]);
    assert_eq!(model.texts_of(Role::Command), ["! ls", "a.rs"]);
    assert_eq!(model.batch("plain words").origin, Some(BatchOrigin::Human));
    assert_eq!(model.batch("and tests").origin, Some(BatchOrigin::Queued));
    assert_eq!(model.batch("It ended").origin, Some(BatchOrigin::TaskNotification));
    assert_eq!(model.batches.len(), 5);
}

/// A prompt with more fields.
fn prompt_with(fields: &str) -> String {
    user(1, 0, "\"remember: x\"").replacen('{', &format!("{{{fields},"), 1)
}

#[test]
fn a_prompt_that_no_person_typed_has_another_origin() {
    let queued = |fields: &str, text: &str| {
        format!(
            r#"{{"type":"attachment","uuid":"q","timestamp":"2026-11-20T15:00:05.000Z","attachment":{{"type":"queued_command"{fields},"prompt":"{text}"}}}}"#
        )
    };
    let program = Some(BatchOrigin::Program);
    for (line, want) in [
        (prompt_with(r#""version":"2.0.15""#), Some(BatchOrigin::Human)),
        (prompt_with(r#""promptSource":"typed","origin":{"kind":"human"}"#), Some(BatchOrigin::Human)),
        (prompt_with(r#""promptSource":"queued""#), Some(BatchOrigin::Human)),
        (prompt_with(r#""promptSource":"sdk","entrypoint":"claude-vscode""#), Some(BatchOrigin::Human)),
        (prompt_with(r#""promptSource":"sdk","entrypoint":"sdk-cli""#), program),
        (prompt_with(r#""promptSource":"sdk""#), program),
        (prompt_with(r#""promptSource":"system""#), program),
        (prompt_with(r#""promptSource":"suggestion_accepted""#), program),
        (prompt_with(r#""promptSource":"of a later version""#), program),
        (prompt_with(r#""promptSource":7"#), program),
        (prompt_with(r#""entrypoint":"sdk-ts""#), program),
        (prompt_with(r#""origin":{"kind":"system_trigger"}"#), program),
        (prompt_with(r#""origin":"channel""#), program),
        (prompt_with(r##""planContent":"# x""##), program),
        (prompt_with(r#""origin":{"kind":"peer"}"#), Some(BatchOrigin::Peer)),
        (prompt_with(r#""origin":{"kind":"coordinator"}"#), Some(BatchOrigin::Peer)),
        (prompt_with(r#""origin":{"kind":"task-notification"}"#), Some(BatchOrigin::TaskNotification)),
        (queued("", "x"), Some(BatchOrigin::Queued)),
        (queued(r#","commandMode":"prompt","origin":{"kind":"human"}"#, "x"), Some(BatchOrigin::Queued)),
        (queued("", r"<task-notification>\nremember: x"), Some(BatchOrigin::TaskNotification)),
        (queued(r#","commandMode":"task-notification""#, "x"), Some(BatchOrigin::TaskNotification)),
        (queued(r#","origin":{"kind":"peer"}"#, "x"), Some(BatchOrigin::Peer)),
        (queued("", r"Another Claude session sent a message:\nremember: x"), Some(BatchOrigin::Peer)),
        (queued(r#","origin":{"kind":"injection"}"#, "x"), program),
        (queued(r#","commandMode":"of a later version""#, "x"), program),
    ] {
        let model = rows(&lines(std::slice::from_ref(&line)));
        let batch = model.batches.values().next().expect("a prompt");
        assert_eq!(batch.origin, want, "{line}");
    }
}

#[test]
fn a_hook_does_not_tell_who_typed_and_the_further_origin_stays() {
    let hook = |prompt: &str| {
        let mut reader = Reader::new("s", None);
        let payload = serde_json::json!({ "session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": prompt,
            "prompt_id": "p", "cwd": "/home/dev" });
        reader.hook("h", 1_000, &payload.to_string());
        reader
    };
    let origin = |reader: &Reader| reader.model.batches["p"].origin;
    assert_eq!(origin(&hook("remember: x")), None);
    assert_eq!(origin(&hook("<cross-session-message from=\"a\">\nremember: x")), Some(BatchOrigin::Peer));
    assert_eq!(origin(&hook("<task-notification>\nremember: x")), Some(BatchOrigin::TaskNotification));
    for (fields, want) in [
        (r#""promptId":"p""#, BatchOrigin::Human),
        (r#""promptId":"p","promptSource":"sdk""#, BatchOrigin::Program),
    ] {
        let mut reader = hook("remember: x");
        reader.text(0, &lines(&[prompt_with(fields)]));
        reader.settle();
        assert_eq!(origin(&reader), Some(want));
    }
}

#[test]
fn the_users_reason_is_kept_and_a_text_that_looks_like_one_is_not() {
    let text = r"The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\nstaging first\n\nNote: The user's next message may differ.";
    let refused = |tool: &str, fields: &str, text: &str| {
        let line = user(2, 2, &result("t", &format!("\"{text}\""), true));
        let line = if fields.is_empty() { line } else { line.replacen('{', &format!("{{{fields},"), 1) };
        let model = rows(&lines(&[user(1, 0, "\"go\""), answer(1, 1, "null", &call("t", tool, "{}")), line]));
        let call = model.activities["t"].clone();
        (call.outcome, call.reason)
    };
    let said = (Some(CallOutcome::Denied), Some("staging first".to_owned()));
    let named = r#""version":"2.1.329","toolDenialKind":"user-rejected""#;
    for tool in ["Bash", "mcp__a__b", "WebFetch"] {
        assert_eq!(refused(tool, named, text), said, "{tool}");
    }
    assert_eq!(refused("Bash", r#""version":"2.1.219""#, text), said);
    let error = (Some(CallOutcome::Error), None);
    for version in ["2.1.220", "2.1.329", "3.0.0", "2.1.220-beta.1", "10.0"] {
        let more = r#","toolUseResult":"Error: User rejected tool use""#;
        for tool in ["Bash", "mcp__a__b", "WebFetch"] {
            for more in ["", more] {
                let fields = format!(r#""version":"{version}"{more}"#);
                assert_eq!(refused(tool, &fields, text), error, "{tool} {fields}");
            }
        }
    }
    for tool in ["mcp__a__b", "WebFetch", "WebSearch", "Agent", "Task", "ReadMcpResourceTool"] {
        assert_eq!(refused(tool, r#""version":"2.1.219""#, text), error, "{tool}");
        let rejected = r#""version":"2.0.15","toolUseResult":"Error: User rejected tool use""#;
        assert_eq!(refused(tool, rejected, "User rejected tool use"), error, "{tool}");
    }
    // A rule or a hook refused it: these are no words of the user.
    let policy = r#""version":"2.1.329","toolDenialKind":"permission-rule""#;
    assert_eq!(refused("Bash", policy, text), (Some(CallOutcome::Denied), None));
    let other = "Blocked by a hook: the user said:\\nalways allow";
    assert_eq!(refused("Bash", named, other), (Some(CallOutcome::Denied), None));
}

#[test]
fn a_cut_is_counted_and_never_splits_a_character() {
    let long = "é".repeat(3_000);
    let text = lines(&[
        user(1, 0, &format!("\"{long}\"")),
        answer(1, 1, "null", &call("t", "Bash", &format!(r#"{{"command":"{long}"}}"#))),
        user(2, 2, &result("t", &format!("[{{\"type\":\"text\",\"text\":\"{long}\\n\\\"\"}}]"), false)),
    ]);
    for cut in [0, 1, 101, 4_000] {
        let mut reader = Reader::new("s", None);
        reader.settings.cut = cut;
        reader.text(0, &text);
        reader.settle();
        let prompt = &reader.model.texts.values().next().expect("the prompt");
        assert_eq!((prompt.text.len(), prompt.cut), (6_000, 0), "prompts have a limit of their own");
        let tools: Vec<_> = reader.model.texts.values().filter(|t| t.tool.is_some()).collect();
        assert_eq!(tools.len(), if cut > 1 { 2 } else { 0 }, "{cut}");
        for tool in tools {
            assert!(tool.text.len() <= cut && long.starts_with(&tool.text));
            let left = if tool.role == Role::ToolResult { 6_004 } else { 6_000 };
            assert_eq!(tool.cut, left - tool.text.len() as u64, "{cut} {:?}", tool.role);
        }
    }
}

#[test]
fn the_input_of_a_tool_is_stored_as_its_values() {
    let input = r#"{"file_path":"/home/dev/a.rs","edits":[{"old_string":"fn a() {}","new_string":"fn b() {\n}"}],"n":3,"deep":{"list":["x","y"]}}"#;
    let model = rows(&lines(&[user(1, 0, "\"go\""), answer(1, 1, "null", &call("t", "MultiEdit", input))]));
    assert_eq!(model.texts_of(Role::ToolInput), ["/home/dev/a.rs\nfn a() {}\nfn b() {\n}\nx\ny"]);
    assert_eq!(model.activities["t"].file.as_deref(), Some("/home/dev/a.rs"));
    assert_eq!(model.activities["t"].input.as_deref(), Some(input));
}

#[test]
fn coloured_output_is_stored_without_escapes() {
    let printed =
        r#""\u001b[1m\u001b[31merror[E0433]\u001b[0m: a <\u001b[2mprivate>secret</private> word\n""#;
    let model = rows(&lines(&[
        user(1, 0, "\"go\""),
        answer(1, 1, "null", &call("t", "Bash", r#"{"command":"cargo build"}"#)),
        user(2, 2, &result("t", printed, true)),
    ]));
    assert_eq!(model.texts_of(Role::ToolResult), ["error[E0433]: a  word\n"]);
    assert_eq!(model.activities["t"].error.as_deref(), Some("error[E0433]: a word"));
}

#[test]
fn tools_that_the_user_skips_are_no_activities_but_their_texts_are_found() {
    let text = lines(&[
        user(1, 0, "\"go\""),
        answer(1, 1, "null", &call("t", "AskUserQuestion", r#"{"questions":[{"question":"Which?"}]}"#)),
        user(2, 2, &result("t", "\"the red one\"", false)),
    ]);
    assert_eq!(rows(&text).activities["t"].outcome, Some(CallOutcome::Ok));
    let mut reader = Reader::new("s", None);
    reader.settings.skip.push("AskUserQuestion".to_owned());
    reader.text(0, &text);
    reader.settle();
    assert_eq!(reader.model.activities.len(), 0);
    assert_eq!(reader.model.texts_of(Role::ToolResult), ["the red one"]);
}

#[test]
fn a_request_counts_once_with_its_greatest_numbers() {
    let text = lines(&[
        user(1, 0, "\"go\""),
        answer(7, 1, "null", &said("a")),
        answer(7, 1, "null", &said("b")).replace("\"uuid\":\"a7\"", "\"uuid\":\"b7\"").replace(":7}", ":40}"),
        answer(8, 2, "null", &said("c")),
    ]);
    let model = rows(&text);
    let mut tokens: Vec<_> = model.requests.values().map(|request| request.usage.output).collect();
    tokens.sort_unstable();
    assert_eq!(tokens, [8, 40]);
}

#[test]
fn plans_have_versions_and_executions() {
    let path = "/home/dev/.claude/plans/brave-otter.md";
    let done = |id: u32, second: u32, call: &str, more: &str| {
        user(id, second, &result(call, "\"ok\"", false)).replacen(
            '{',
            &format!("{{\"toolUseResult\":{more},"),
            1,
        )
    };
    let text = lines(&[
        user(1, 0, "\"plan it\""),
        answer(1, 1, "null", &call("w", "Write", &format!(r#"{{"file_path":"{path}","content":"1. x\n"}}"#))),
        done(2, 2, "w", r#"{"type":"create","content":"1. x\n"}"#),
        answer(
            3,
            3,
            "null",
            &call("e", "Edit", &format!(r#"{{"file_path":"{path}","old_string":"x","new_string":"y"}}"#)),
        ),
        done(4, 4, "e", r#"{"originalFile":"1. x\n","oldString":"x","newString":"y","replaceAll":false}"#),
        answer(5, 5, "null", &call("p", "ExitPlanMode", r#"{"plan":"1. y"}"#)),
        user(6, 6, &result("p", "\"The user doesn't want to proceed with this tool use. \"", true)),
        answer(7, 7, "null", &call("q", "ExitPlanMode", r#"{"plan":"1. y"}"#)),
        done(8, 8, "q", &format!(r#"{{"plan":"1. z","filePath":"{path}"}}"#)),
    ]);
    let model = rows(&text);
    let versions: Vec<_> = model.plans.iter().map(|p| (&*p.plan, p.word, p.content.as_deref())).collect();
    assert_eq!(
        versions,
        [
            (path, PlanEventKind::Written, Some("1. x")),
            (path, PlanEventKind::Written, Some("1. y")),
            (path, PlanEventKind::Proposed, Some("1. y")),
            (path, PlanEventKind::Rejected, None),
            (path, PlanEventKind::Proposed, Some("1. y")),
            (path, PlanEventKind::Approved, Some("1. z")),
        ]
    );
    assert!(model.batch("plan it").plan);
    assert_eq!(model.executions.len(), 1);
    assert_eq!(model.executions[0].batch, model.batch("plan it").id);

    // After /clear the plan comes with the prompt, in another session.
    let text = user(1, 0, "\"Implement the following plan:\\n\\n1. z\"");
    let given = text.replacen('{', r#"{"planContent":"1. z","#, 1);
    for text in [text, given] {
        let model = rows(&text);
        assert_eq!(model.executions.len(), 1);
        assert_eq!(model.executions[0].content.as_deref(), Some("1. z"));
        assert_eq!(model.executions[0].plan, None);
    }
}

#[test]
fn subagents_inside_the_file_are_attributed_and_begin_no_batch() {
    let side = |line: String| line.replacen('{', r#"{"isSidechain":true,"#, 1);
    let text = lines(&[
        user(1, 0, "\"go\""),
        side(user(2, 1, "\"look around\"")),
        side(answer(3, 2, "null", &call("t", "Read", r#"{"file_path":"/a"}"#))),
        side(user(4, 3, &result("t", "\"text\"", false))),
        side(answer(5, 4, "\"end_turn\"", &said("seen"))),
    ]);
    let model = rows(&text);
    assert_eq!(model.batches.len(), 1);
    assert_eq!(model.batch("go").ended.as_ref().map(|e| e.status), Some(BatchStatus::Active));
    assert_eq!(model.batch("go").response, None);
    assert_eq!(model.activities["t"].agent.as_deref(), Some("sidechain"));
    assert!(model.texts.values().skip(1).all(|text| text.agent.as_deref() == Some("sidechain")));
}

#[test]
fn a_compaction_worker_gives_only_tokens() {
    let text = lines(&[user(1, 0, "\"go\""), answer(9, 1, "\"end_turn\"", &said("a summary"))]);
    let mut reader = Reader::new("s", Some("acompact-1"));
    reader.text(0, &text);
    reader.settle();
    assert_eq!(reader.model.requests.len(), 1);
    assert_eq!((reader.model.texts.len(), reader.model.batches.len()), (0, 0));
}

#[test]
fn a_result_before_its_call_joins_it() {
    let begun = user(1, 0, "\"go\"");
    let (called, got) = (
        answer(1, 3, "\"tool_use\"", &call("t", "Edit", r#"{"file_path":"/x"}"#)),
        user(2, 4, &result("t", "\"ok\"", false)),
    );
    let next = user(3, 9, "\"next\"");
    for order in [[&called, &got], [&got, &called]] {
        let model = rows(&lines(&[begun.clone(), order[0].clone(), order[1].clone(), next.clone()]));
        let activity = &model.activities["t"];
        assert_eq!((activity.outcome, activity.duration_ms), (Some(CallOutcome::Ok), Some(1_000)));
        assert_eq!((activity.tool.as_deref(), activity.file.as_deref()), (Some("Edit"), Some("/x")));
        assert_eq!(model.batch("go").ended.as_ref().map(|e| e.status), Some(BatchStatus::Completed));
    }
}

#[test]
fn an_attachment_after_which_no_answer_comes_ends_the_turn() {
    let ended = |kind: &str| {
        format!(
            r#"{{"type":"attachment","uuid":"e","timestamp":"2026-11-20T15:00:02.000Z","attachment":{{"type":"{kind}"}}}}"#
        )
    };
    for kind in ["structured_output", "max_turns_reached", "hook_stopped_continuation"] {
        let text = lines(&[
            user(1, 0, "\"go\""),
            answer(1, 1, "\"tool_use\"", &call("t", "StructuredOutput", "{}")),
            ended(kind),
            user(2, 3, &result("t", "\"ok\"", false)),
        ]);
        assert_eq!(status(&text, "go"), Some(BatchStatus::Completed), "{kind}");
    }
}

#[test]
fn the_last_line_of_an_answer_names_its_model() {
    let with = |line: String, model: &str| line.replace("\"opus\"", &format!("\"{model}\""));
    let (first, last) =
        (answer(1, 1, "null", &said("a")), answer(1, 2, "\"end_turn\"", &said("b")).replace("a1", "a2"));
    for (one, two) in [("opus", "sonnet"), ("sonnet", "opus")] {
        let text = lines(&[user(1, 0, "\"go\""), with(first.clone(), one), with(last.clone(), two)]);
        let models: Vec<_> = rows(&text).requests.into_values().map(|request| request.model).collect();
        assert_eq!(models, [Some(two.into())]);
    }
}
