//! Shapes that agents of 1.0.51 to 2.1.329 write, one by one: the source of a prompt, the end of a turn, a
//! refusal.

use watchbill_agents::claude::records::parse_line;
use watchbill_core::ids::RecordId;
use watchbill_core::problem::ProblemKind;
use watchbill_core::tool::Ask;
use watchbill_core::transcript::record::{
    Attachment, Block, Body, CompactTrigger, Denial, PromptOrigin, QueueOperation, StopReason, System,
    TitleKind,
};
use watchbill_core::transcript::report::LineReport;

/// Parses one line and describes its only record in a few words.
fn read(line: &str) -> String {
    let mut words = Vec::new();
    let report = parse_line(line.as_bytes(), &mut |record, _| words.push(describe(&record.body)));
    assert_eq!((report.records, report.malformed), (1, false), "{line}");
    words.remove(0)
}

pub fn describe(body: &Body<'_>) -> String {
    match body {
        Body::Prompt(p) => match p.origin {
            PromptOrigin::Human => format!("human: {}", p.text),
            PromptOrigin::TaskNotification => format!("task {}", p.task_id.as_deref().unwrap_or("?")),
            PromptOrigin::Peer => "peer".to_owned(),
        },
        Body::Interrupt => "interrupt".to_owned(),
        Body::LocalCommand { name } => format!("local {}", name.as_deref().unwrap_or("-")),
        Body::ToolResults(results) => results
            .iter()
            .map(|r| match (r.denied, &r.background_task, &r.async_agent, r.is_error) {
                (Some(Denial::User), ..) => format!("{} refused by the user", r.id),
                (Some(Denial::Policy), ..) => format!("{} refused by a rule", r.id),
                (Some(Denial::Reviewer(kind)), ..) => format!("{} {} by the reviewer", r.id, kind.as_str()),
                (_, Some(task), ..) => format!("{} background {task}", r.id),
                (_, _, Some(agent), _) => format!("{} agent {agent}", r.id),
                (.., true) => format!("{} error", r.id),
                _ => format!("{} ok", r.id),
            })
            .collect::<Vec<_>>()
            .join(", "),
        other => format!("{other:?}"),
    }
}

/// A `user` record with this content and these other fields.
pub fn user(content: &str, more: &str) -> String {
    let comma = if more.is_empty() { "" } else { "," };
    format!(r#"{{"type":"user","message":{{"role":"user","content":{content}}}{comma}{more}}}"#)
}

#[test]
fn a_prompt_is_separated_from_other_user_records() {
    const TYPED: &str = r#""promptSource":"typed","permissionMode":"default","origin":{"kind":"human"}"#;
    let interrupted = "[Request interrupted by user]";
    let for_tool = "[Request interrupted by user for tool use]";
    for (content, more, want) in [
        // Prompts of the user, in every form.
        (r#""hello""#, "", "human: hello"),
        (r#""hello""#, TYPED, "human: hello"),
        (r#"[{"type":"text","text":"from an SDK"}]"#, r#""promptSource":"sdk""#, "human: from an SDK"),
        (r#"[{"type":"text","text":"a"},{"type":"text","text":"b"}]"#, "", "human: a\nb"),
        (r#"[{"type":"image","source":{"type":"base64","data":"AAAA"}}]"#, "", "human: "),
        (r#"["bare string"]"#, "", "human: bare string"),
        // Client 2.1.332 says where a row came from, and when it was sent.
        (
            r#""go on""#,
            r#""rowSource":"local","sentAtMs":1795188000000,"promptSource":"typed""#,
            "human: go on",
        ),
        (
            r#"[{"type":"text","text":"<ide_opened_file>The user opened x</ide_opened_file>"},{"type":"text","text":"fix it"}]"#,
            "",
            "human: fix it",
        ),
        // What the agent or an editor puts before the words, in one string with them.
        (r#""<system-reminder>x\ny</system-reminder>\n\nfix it""#, "", "human: fix it"),
        (r#""<system-reminder>x</system-reminder>fix it""#, TYPED, "human: fix it"),
        (
            r#""\n <system-reminder>x</system-reminder>\r\n<ide_selection>y</ide_selection>\n<system-reminder>z</system-reminder> fix it""#,
            "",
            "human: fix it",
        ),
        (
            r#"[{"type":"text","text":"<system-reminder>x</system-reminder>\nfix it"},{"type":"text","text":"now"}]"#,
            "",
            "human: fix it\nnow",
        ),
        (
            &format!(r#""<system-reminder>{}</system-reminder>\nfix it""#, "long ".repeat(2_000)),
            "",
            "human: fix it",
        ),
        // What was said before a change of the agent.
        (
            &format!(r#""<watchbill-context>\n{}\n</watchbill-context>\n\nfix it""#, "long ".repeat(2_000)),
            "",
            "human: fix it",
        ),
        (
            r#"[{"type":"text","text":"<watchbill-context>\nx\n</watchbill-context>\n\nfix it"}]"#,
            "",
            "human: fix it",
        ),
        (
            r#""say <system-reminder>x</system-reminder>""#,
            "",
            "human: say <system-reminder>x</system-reminder>",
        ),
        (r#""<system-reminder>without an end""#, "", "human: <system-reminder>without an end"),
        // The agent refuses a command that it does not know.
        (r#""Unknown skill: usage""#, "", "local -"),
        (r#""Unknown slash command: usage""#, "", "local -"),
        (r#"[{"type":"text","text":"Unknown command: /usage"}]"#, "", "local -"),
        (r#""Unknown skill: usage""#, TYPED, "human: Unknown skill: usage"),
        (r#""Unknown skill: usage""#, r#""permissionMode":"default""#, "human: Unknown skill: usage"),
        (r#""Unknown skill: usage, why?""#, "", "human: Unknown skill: usage, why?"),
        // Interrupts are blocks; the same words as a typed string are a prompt.
        (&format!(r#"[{{"type":"text","text":"{interrupted}"}}]"#), "", "interrupt"),
        (&format!(r#"[{{"type":"text","text":"{for_tool}"}}]"#), "", "interrupt"),
        (
            &format!(r#"[{{"type":"text","text":"{interrupted}"}}]"#),
            r#""interruptedMessageId":"msg_1""#,
            "interrupt",
        ),
        (&format!(r#""{interrupted}""#), TYPED, &format!("human: {interrupted}")),
        (&format!(r#""{interrupted}""#), r#""permissionMode":"plan""#, &format!("human: {interrupted}")),
        (
            &format!(r#"[{{"type":"text","text":"{interrupted}"}}]"#),
            r#""promptSource":"sdk","permissionMode":"default""#,
            &format!("human: {interrupted}"),
        ),
        (
            &format!(r#"[{{"type":"text","text":"why {interrupted}?"}}]"#),
            "",
            &format!("human: why {interrupted}?"),
        ),
        // Summaries of compactions, flagged or not.
        (r#""This session is being continued…""#, r#""isCompactSummary":true"#, "CompactSummary"),
        (
            r#""This session is being continued from a previous conversation that ran out of context.""#,
            r#""parentUuid":null,"version":"1.0.51""#,
            "CompactSummary",
        ),
        (
            r#""This session is being continued from a previous conversation, says who?""#,
            r#""parentUuid":"x","promptSource":"typed""#,
            "human: This session is being continued from a previous conversation, says who?",
        ),
        // Records that the agent writes for commands and shell lines.
        (
            r#""<command-name>/clear</command-name>\n            <command-message>clear</command-message>\n            <command-args></command-args>""#,
            "",
            "local /clear",
        ),
        (
            r#""<command-message>compact</command-message>\n<command-name>/compact</command-name>""#,
            "",
            "local /compact",
        ),
        (r#""<local-command-stdout>Compacted</local-command-stdout>""#, "", "local -"),
        (r#""<local-command-caveat>Caveat: …</local-command-caveat>""#, r#""isMeta":true"#, "local -"),
        (
            r#""Caveat: The messages below were generated by the user while running local commands. DO NOT respond""#,
            r#""isMeta":true"#,
            "local -",
        ),
        (r#""<bash-input>ls</bash-input>""#, "", "local -"),
        (r#""<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>""#, "", "local -"),
        (r#""<bash-input>what is this tag?""#, TYPED, "human: <bash-input>what is this tag?"),
        // A command whose text is a prompt starts a turn, in the user's own words.
        (
            r#""<command-message>review is running…</command-message>\n<command-name>/review</command-name>\n<command-args>the last commit</command-args>""#,
            r#""origin":{"kind":"human"}"#,
            "human: /review the last commit",
        ),
        // Turns that the user did not start.
        (
            r#""<task-notification>\n<task-id>b1</task-id>\n<status>completed</status></task-notification>""#,
            "",
            "task b1",
        ),
        (
            r#""<task-notification><task-id> b2 </task-id></task-notification>""#,
            r#""origin":{"kind":"task-notification"},"promptSource":"system""#,
            "task b2",
        ),
        (r#""done""#, r#""origin":{"kind":"task-notification"}"#, "task ?"),
        (r#""<task-notification> is a strange word""#, TYPED, "human: <task-notification> is a strange word"),
        (r#""Another Claude session sent a message:\n<cross-session-message from=\"x\">hi""#, "", "peer"),
        (r#""<teammate-message teammate_id=\"a\">hi</teammate-message>""#, r#""isMeta":true"#, "peer"),
        (r#""do this""#, r#""origin":{"kind":"coordinator"}"#, "peer"),
        // All other records are no prompts.
        (r#""Output token limit hit. Resume directly""#, r#""isMeta":true,"turnCompanion":true"#, "Meta"),
        (r#""shown, not sent""#, r#""isVisibleInTranscriptOnly":true"#, "Meta"),
        (r#"[{"type":"text","text":"expanded skill"}]"#, r#""isMeta":true"#, "Meta"),
        (r#""""#, "", "Irrelevant"),
        ("[]", "", "Irrelevant"),
        ("null", "", "Irrelevant"),
        ("7", "", "Irrelevant"),
    ] {
        let line = user(content, more);
        assert_eq!(read(&line), want, "{line}");
    }
}

#[test]
fn a_refusal_is_separated_from_an_error_in_every_version() {
    let result = |content: &str, more: &str| {
        user(
            &format!(r#"[{{"type":"tool_result","tool_use_id":"t","is_error":true,"content":{content}}}]"#),
            more,
        )
    };
    let refused = r#""The user doesn't want to proceed with this tool use. The tool use was rejected""#;
    for (content, more, want) in [
        (refused, "", "t refused by the user"),
        (refused, r#""toolUseResult":"User rejected tool use""#, "t refused by the user"),
        (r#""x""#, r#""toolUseResult":"Error: User rejected tool use""#, "t refused by the user"),
        (
            r#"[{"type":"text","text":"The user doesn't want to take this action right now. STOP"}]"#,
            "",
            "t refused by the user",
        ),
        (r#""Permission prompt was aborted.""#, "", "t refused by the user"),
        (r#""[Request interrupted by user for tool use]""#, "", "t refused by the user"),
        (
            r#""Permission for this action was denied by the Claude Code auto mode classifier. Reason: x""#,
            "",
            "t blocked by the reviewer",
        ),
        (r#""Permission to use Bash with command rm has been denied.""#, "", "t refused by a rule"),
        (r#""Permission to use this is an error text""#, "", "t error"),
        (r#""exit code 1""#, "", "t error"),
        (r#""x""#, r#""toolDenialKind":"user-rejected""#, "t refused by the user"),
        (r#""x""#, r#""toolDenialKind":"automode-blocked""#, "t blocked by the reviewer"),
        (r#""x""#, r#""toolDenialKind":"automode-unavailable""#, "t unavailable by the reviewer"),
        (r#""x""#, r#""toolDenialKind":"permission-rule""#, "t refused by a rule"),
        (
            r#""no""#,
            r#""toolDenialKind":"permission-rule","permissionDecision":{"decision":"reject","source":"user_reject"}"#,
            "t refused by the user",
        ),
        (
            r#""needs approval""#,
            r#""toolDenialKind":"user-rejected","permissionDecision":{"decision":"reject","source":"config"}"#,
            "t refused by a rule",
        ),
        // The agent writes this when it resumes a session that was killed in the middle of a call.
        (r#""[Tool call interrupted: …]""#, r#""toolDenialKind":"interrupted""#, "t error"),
    ] {
        let line = result(content, more);
        assert_eq!(read(&line), want, "{line}");
    }
    // Newer clients name each refusal, so their texts are those of tools.
    for version in ["2.1.220", "2.1.332", "3.0.0"] {
        for more in ["", r#","toolUseResult":"Error: User rejected tool use""#] {
            let line = result(refused, &format!(r#""version":"{version}"{more}"#));
            assert_eq!(read(&line), "t error", "{line}");
        }
    }
    assert_eq!(read(&result(refused, r#""version":"2.1.219""#)), "t refused by the user");
    // The text of a refusal in the output of a successful command is no refusal.
    let quoted = user(&format!(r#"[{{"type":"tool_result","tool_use_id":"t","content":{refused}}}]"#), "");
    assert_eq!(read(&quoted), "t ok");
}

#[test]
fn background_work_is_noted_with_its_id() {
    let block = r#"[{"type":"tool_result","tool_use_id":"t","content":"x"}]"#;
    for (extra, want) in [
        (r#"{"stdout":"","backgroundTaskId":"bhab1"}"#, "t background bhab1"),
        (r#"{"isAsync":true,"status":"async_launched","agentId":"a1"}"#, "t agent a1"),
        (r#"{"status":"completed","agentId":"a1"}"#, "t ok"),
        (r#"[{"backgroundTaskId":"no"}]"#, "t ok"),
    ] {
        assert_eq!(read(&user(block, &format!(r#""toolUseResult":{extra}"#))), want);
    }
}

#[test]
fn several_results_in_one_record_all_count() {
    let line = user(
        r#"[{"type":"tool_result","tool_use_id":"a"},{"type":"text","text":"and"},{"type":"tool_result","tool_use_id":"b","is_error":true}]"#,
        "",
    );
    assert_eq!(read(&line), "a ok, b error");
}

/// Parses one line whose record is an answer.
fn answer(line: &str, check: &mut dyn FnMut(&watchbill_core::transcript::record::Assistant<'_>)) {
    let mut met = false;
    parse_line(line.as_bytes(), &mut |record, _| match &record.body {
        Body::Assistant(a) => {
            met = true;
            check(a);
        }
        other => panic!("{other:?}"),
    });
    assert!(met, "{line}");
}

#[test]
fn an_answer_carries_ids_stop_usage_and_blocks() {
    let line = r#"{"message":{"id":"m","model":"x","stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":2,"cache_read_input_tokens":3,"cache_creation_input_tokens":4,"service_tier":null},"content":[{"type":"thinking","thinking":"","signature":"s"},{"type":"text","text":"caf\u00e9"},{"type":"tool_use","id":"t","name":"Bash","input":{"command":"make\nmore","run_in_background":true}},{"type":"server_tool_use"}]},"requestId":"r","isAbortedMidStream":true,"type":"assistant"}"#;
    answer(line, &mut |a| {
        assert_eq!((a.message_id.as_deref(), a.request_id.as_deref()), (Some("m"), Some("r")));
        assert_eq!((a.stop, a.aborted), (Some(StopReason::ToolUse), true));
        let usage = a.usage.expect("there is usage");
        assert_eq!((usage.input, usage.output, usage.cache_read, usage.cache_write), (1, 2, 3, 4));
        assert_eq!(a.blocks.len(), 4);
        assert_eq!(a.blocks[0], Block::Thinking);
        assert_eq!(a.blocks[1], Block::Text("café".into()));
        let is_make = |id: &str, target: &str| id == "t" && target == "make";
        assert!(
            matches!(&a.blocks[2], Block::ToolUse { id, tool, target, ask: Ask::Never, is_test: false } if tool == "Bash" && is_make(id, target))
        );
        assert_eq!(a.blocks[3], Block::Other);
    });
}

#[test]
fn a_stop_reason_of_null_is_none_and_a_new_one_is_no_end() {
    for (word, want) in [
        ("null", None),
        ("\"end_turn\"", Some(StopReason::EndTurn)),
        ("\"stop_sequence\"", Some(StopReason::StopSequence)),
        ("\"max_tokens\"", Some(StopReason::MaxTokens)),
        ("\"refusal\"", Some(StopReason::Refusal)),
        ("\"pause_turn\"", Some(StopReason::Other)),
        ("\"brand_new\"", Some(StopReason::Other)),
    ] {
        let line = format!(r#"{{"type":"assistant","message":{{"content":[],"stop_reason":{word}}}}}"#);
        answer(&line, &mut |a| assert_eq!(a.stop, want));
    }
}

#[test]
fn each_smaller_type_is_read() {
    for (line, want) in [
        (
            r#"{"type":"assistant","isApiErrorMessage":true,"error":"rate_limit","apiErrorStatus":429,"message":{"model":"<synthetic>","content":[{"type":"text","text":"You've hit your limit"}],"stop_reason":"stop_sequence"}}"#,
            Body::ApiError { kind: Some("rate_limit".into()), text: "You've hit your limit".into() },
        ),
        (
            r#"{"type":"system","subtype":"turn_duration","durationMs":31000,"pendingBackgroundAgentCount":2}"#,
            Body::System(System::TurnDuration { pending_agents: 2 }),
        ),
        (
            r#"{"type":"system","subtype":"stop_hook_summary","preventedContinuation":true}"#,
            Body::System(System::StopHookSummary { prevented: true }),
        ),
        (r#"{"type":"system","subtype":"away_summary","content":"x"}"#, Body::System(System::AwaySummary)),
        (
            r#"{"type":"system","subtype":"api_error","error":{"status":529},"retryInMs":600.5,"retryAttempt":1,"maxRetries":10}"#,
            Body::System(System::Retry {
                attempt: Some(1),
                max: Some(10),
                in_ms: Some(600),
                status: Some(529),
            }),
        ),
        (
            r#"{"type":"system","subtype":"microcompact_boundary","microcompactMetadata":{"trigger":"auto"}}"#,
            Body::System(System::Other("microcompact_boundary".into())),
        ),
        (r#"{"type":"progress","data":{"type":"bash_progress"}}"#, Body::Progress),
        (
            r#"{"type":"progress","data":{"type":"hook_progress","hookName":"SessionStart:clear"}}"#,
            Body::Attachment(Attachment::SessionStart { source: "clear".into() }),
        ),
        (
            r#"{"type":"attachment","attachment":{"hookName":"SessionStart:compact","type":"hook_success"}}"#,
            Body::Attachment(Attachment::SessionStart { source: "compact".into() }),
        ),
        (
            r#"{"type":"attachment","attachment":{"type":"hook_success","hookName":"Stop"}}"#,
            Body::Attachment(Attachment::Other),
        ),
        (
            r#"{"type":"attachment","attachment":{"type":"progress_reminder_sent","text":"x","clearAt":"next_user_message"}}"#,
            Body::Attachment(Attachment::Other),
        ),
        (
            r#"{"type":"attachment","attachment":{"type":"queued_command","prompt":"and this","commandMode":"prompt"}}"#,
            Body::Attachment(Attachment::QueuedCommand { text: "and this".into(), private: false }),
        ),
        (
            r#"{"type":"attachment","attachment":{"type":"queued_command","prompt":[{"type":"text","text":"in blocks"}]}}"#,
            Body::Attachment(Attachment::QueuedCommand { text: "in blocks".into(), private: false }),
        ),
        (
            r#"{"type":"queue-operation","operation":"enqueue","content":"later"}"#,
            Body::Queue(QueueOperation::Enqueue { text: "later".into() }),
        ),
        (
            r#"{"type":"queue-operation","operation":"enqueue","content":"<watchbill-context>x</watchbill-context>\n\nlater"}"#,
            Body::Queue(QueueOperation::Enqueue { text: "later".into() }),
        ),
        (r#"{"type":"queue-operation","operation":"remove"}"#, Body::Queue(QueueOperation::Remove)),
        (r#"{"type":"queue-operation","operation":"popAll"}"#, Body::Queue(QueueOperation::PopAll)),
        (r#"{"type":"queue-operation","operation":"shuffle"}"#, Body::Queue(QueueOperation::Other)),
        (
            r#"{"type":"summary","summary":"Old title","leafUuid":"x"}"#,
            Body::Title { kind: TitleKind::Summary, text: "Old title".into() },
        ),
        (r#"{"type":"custom-title"}"#, Body::Irrelevant),
        (
            r#"{"type":"pr-link","prNumber":12,"prUrl":"https://example.test/12","prRepository":"a/b"}"#,
            Body::PullRequest { number: 12, url: "https://example.test/12".into() },
        ),
        (r#"{"type":"pr-link","prNumber":"12"}"#, Body::Irrelevant),
        (r#"{"type":"api-request-blob","message":{"role":"user","content":"no turn"}}"#, Body::Irrelevant),
        (r#"{"type":"fork-context-ref","agentId":"a","parentSessionId":"p"}"#, Body::Irrelevant),
        (r#"{"type":"agent-color","agentColor":"red"}"#, Body::Irrelevant),
        (r#"{"type":"agent-setting","agentSetting":"claude"}"#, Body::Irrelevant),
        (r#"{"type":"artifact-comment-monitor","state":{}}"#, Body::Irrelevant),
        (r#"{"type":"artifact-autoreact-ledger","entries":[]}"#, Body::Irrelevant),
        (
            r#"{"type":"attachment","attachment":{"type":"structured_output","data":{"type":"x"}}}"#,
            Body::Attachment(Attachment::TurnEnd),
        ),
        (
            r#"{"type":"attachment","attachment":{"type":"max_turns_reached","maxTurns":3,"turnCount":4}}"#,
            Body::Attachment(Attachment::TurnEnd),
        ),
        (
            r#"{"type":"attachment","attachment":{"type":"hook_stopped_continuation","hookName":"PostToolUse:Bash"}}"#,
            Body::Attachment(Attachment::TurnEnd),
        ),
        (
            r#"{"type":"relocated","relocatedCwd":"/home/dev/api","sessionId":"s"}"#,
            Body::Moved { cwd: "/home/dev/api".into(), branch: None },
        ),
        (r#"{"type":"relocated","relocatedCwd":7}"#, Body::Irrelevant),
        (
            r#"{"type":"worktree-state","worktreeSession":{"originalCwd":"/r","worktreePath":"/r/.claude/worktrees/a","worktreeBranch":"worktree-a"}}"#,
            Body::Moved { cwd: "/r/.claude/worktrees/a".into(), branch: Some("worktree-a".into()) },
        ),
        (r#"{"type":"worktree-state","worktreeSession":null}"#, Body::LeftWorktree),
        (
            r#"{"type":"continued-in","sessionId":"old","continuedInSessionId":"new"}"#,
            Body::ContinuedIn("new".into()),
        ),
        (r#"{"type":"continued-in","continuedInSessionId":""}"#, Body::Irrelevant),
    ] {
        parse_line(line.as_bytes(), &mut |record, _| assert_eq!(record.body, want, "{line}"));
    }
}

#[test]
fn a_boundary_holds_its_trigger_and_tokens() {
    let line = r#"{"type":"system","subtype":"compact_boundary","compactMetadata":{"trigger":"manual","preTokens":15,"durationMs":9}}"#;
    parse_line(line.as_bytes(), &mut |record, _| {
        let Body::System(System::CompactBoundary(boundary)) = record.body else { panic!("{record:?}") };
        assert_eq!(
            (boundary.trigger, boundary.pre_tokens, boundary.post_tokens),
            (CompactTrigger::Manual, Some(15), None)
        );
    });
}

#[test]
fn the_envelope_separates_the_session_ids_and_the_fork() {
    let line = r#"{"session_id":"process","sessionId":"file","forkedFrom":{"messageUuid":"m","sessionId":"root"},"type":"progress","uuid":"645a2f0b-cd92-4470-9c99-7c9f5295006d","timestamp":"2026-11-20T15:30:52.694Z","cwd":"C:\\Users\\x","isSidechain":true,"agentId":"a1","isMeta":true,"gitBranch":"main","version":"2.1.329","entrypoint":"cli"}"#;
    parse_line(line.as_bytes(), &mut |record, _| {
        let e = record.envelope;
        assert_eq!(e.session_id.as_deref(), Some("file"));
        assert_eq!(e.process_session_id.as_deref(), Some("process"));
        assert_eq!(e.forked_from.as_deref(), Some("root"));
        assert_eq!(e.uuid, Some(RecordId::parse("645a2f0b-cd92-4470-9c99-7c9f5295006d")));
        assert_eq!(e.at.map(|at| at.to_string()).as_deref(), Some("2026-11-20T15:30:52.694Z"));
        assert_eq!(e.cwd.as_deref(), Some("C:\\Users\\x"));
        assert_eq!((e.agent_id.as_deref(), e.sidechain, e.meta), (Some("a1"), true, true));
        assert_eq!((e.branch.as_deref(), e.version.as_deref()), (Some("main"), Some("2.1.329")));
    });
}

#[test]
fn wrong_types_are_absent_and_never_an_error() {
    let line = r#"{"type":"user","uuid":7,"timestamp":[],"sessionId":null,"cwd":{},"isSidechain":"true","isMeta":1,"forkedFrom":"x","version":2,"message":{"content":"hi"},"permissionMode":false,"toolUseResult":3,"origin":[]}"#;
    let mut met = 0;
    let report = parse_line(line.as_bytes(), &mut |record, _| {
        met += 1;
        assert_eq!(record.envelope, Default::default());
        assert_eq!(describe(&record.body), "human: hi");
    });
    assert_eq!((met, report.problems().count()), (1, 0));
    // The same for the containers themselves.
    for line in [
        r#"{"type":"user","message":"text"}"#,
        r#"{"type":"user","message":[1]}"#,
        r#"{"type":"user","message":{"content":[1,null,[]]}}"#,
        r#"{"type":"assistant","message":7}"#,
        r#"{"type":"assistant"}"#,
        r#"{"type":"system","subtype":["x"],"compactMetadata":"y"}"#,
        r#"{"type":"attachment","attachment":"z"}"#,
        r#"{"type":"attachment"}"#,
    ] {
        let report = parse_line(line.as_bytes(), &mut |_, _| {});
        assert_eq!((report.records, report.problems().count()), (1, 0), "{line}");
    }
}

fn problems(line: &[u8]) -> (LineReport, Vec<ProblemKind>) {
    let report = parse_line(line, &mut |_, _| {});
    let kinds = report.problems().collect();
    (report, kinds)
}

#[test]
fn problems_are_reported_by_kind() {
    for (line, records, want) in [
        (&b""[..], 0, vec![]),
        (b"  \t", 0, vec![]),
        (b"\xef\xbb\xbf{\"type\":\"mode\"}", 1, vec![]),
        (b"{\"type\":\"mode\"}{\"type\":\"summary\",\"summary\":\"s\"}", 2, vec![]),
        (b"{\"type\":\"mode\"} tail", 1, vec![ProblemKind::MalformedLine]),
        (b"{\"type\":\"mode\"", 0, vec![ProblemKind::MalformedLine]),
        (b"[1,2]", 0, vec![ProblemKind::MalformedLine]),
        (b"\"text\"", 0, vec![ProblemKind::MalformedLine]),
        (b"not JSON", 0, vec![ProblemKind::MalformedLine]),
        (b"\0\0\0\0", 0, vec![ProblemKind::MalformedLine]),
        (b"{\"type\":\"brand-new\"}", 1, vec![ProblemKind::UnknownRecord]),
        (b"{\"type\":7}", 1, vec![ProblemKind::UnknownRecord]),
        (b"{}", 1, vec![ProblemKind::UnknownRecord]),
        (b"{\"type\":\"mode\",\"x\":\"\xff\xfe\"}", 1, vec![ProblemKind::InvalidUtf8]),
        (b"\xff", 0, vec![ProblemKind::MalformedLine, ProblemKind::InvalidUtf8]),
    ] {
        let (report, kinds) = problems(line);
        assert_eq!((report.records, kinds), (records, want), "{}", String::from_utf8_lossy(line));
    }
    let (report, _) = problems(b"{\"type\":\"brand-new\"}{\"type\":\"newer\"}");
    assert_eq!(report.unknown_type.as_deref(), Some("brand-new"));
}

#[test]
fn a_bad_byte_is_replaced_and_the_rest_is_read() {
    let line = b"{\"type\":\"user\",\"message\":{\"content\":\"caf\xe9 au lait\"}}";
    let mut met = String::new();
    parse_line(line, &mut |record, _| met = describe(&record.body));
    assert_eq!(met, "human: caf\u{fffd} au lait");
}

#[test]
fn a_line_of_ten_megabytes_is_read_without_being_copied() {
    let big = "line\\n".repeat(2_000_000);
    let line = format!(
        r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"t","content":"{big}"}}]}},"toolUseResult":{{"stdout":"{big}","backgroundTaskId":"b9"}}}}"#
    );
    assert!(line.len() > 20_000_000);
    assert_eq!(read(&line), "t background b9");
    let prompt = user(&format!("\"{big}\""), "");
    parse_line(prompt.as_bytes(), &mut |record, _| {
        let Body::Prompt(p) = record.body else { panic!("a prompt") };
        assert_eq!(p.text.len(), watchbill_core::transcript::record::TEXT_LIMIT);
        assert!(p.text.starts_with("line\nline\n"));
    });
}

#[test]
fn absurd_token_counts_are_cut_and_reported() {
    let most = u64::from(u32::MAX);
    for (written, counted, is_said) in [
        ("4294967294", most - 1, false),
        ("4294967295", most, true),
        ("4294967296", most, true),
        ("9223372036854775807", most, true),
        ("18446744073709551615", most, true),
        ("18446744073709551616", most, true),
        ("1e300", most, true),
        ("-5", 0, false),
        ("\"9223372036854775807\"", 0, false),
    ] {
        for name in
            ["input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"]
        {
            let line = format!(
                r#"{{"type":"assistant","requestId":"r","message":{{"id":"m","content":[],"usage":{{"{name}":{written}}}}}}}"#
            );
            let mut sum = None;
            let report = parse_line(line.as_bytes(), &mut |record, _| {
                if let Body::Assistant(answer) = &record.body {
                    let usage = answer.usage.expect("there is usage");
                    sum = Some(usage.input + usage.output + usage.cache_read + usage.cache_write);
                }
            });
            assert_eq!((sum, report.absurd_tokens), (Some(counted), is_said), "{name} {written}");
            let kinds: Vec<_> = report.problems().collect();
            assert_eq!(kinds == [ProblemKind::AbsurdTokens], is_said, "{kinds:?}");
        }
    }
}
