//! The timeline of recordings whose drivers wrote down what they did.

#![allow(clippy::expect_used, reason = "a broken expectation should fail loudly")]

use std::fmt::Write as _;

use watchbill_agents::claude::records::parse_line;
use watchbill_core::time::Millis;
use watchbill_core::transcript::timeline::{
    Entry, Origin, Outcome, PAYLOAD_LIMIT, TEXT_LIMIT, TimelineBuilder, ToolCall, What,
};

use crate::fixtures::transcripts;

fn timeline(text: &str) -> Vec<Entry> {
    let mut builder = TimelineBuilder::default();
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        parse_line(line.trim_end().as_bytes(), &mut |record, full| builder.push(offset, &record, full));
        offset += line.len() as u64;
    }
    builder.into_entries()
}

/// One line per entry, for reading in a snapshot.
fn outline(entries: &[Entry]) -> String {
    let mut out = String::new();
    for entry in entries {
        let what = match &entry.what {
            What::Tool(call) => {
                let output = call.output.as_deref().map_or("-".to_owned(), short);
                format!(
                    "Tool {} [{}] {:?} {:?} -> {output}",
                    call.tool, call.target, call.outcome, call.duration
                )
            }
            other => short(&format!("{other:?}")),
        };
        let agent = entry.agent_id.as_deref().map_or(String::new(), |id| format!("({id}) "));
        writeln!(out, "{agent}{what}").expect("a string grows");
    }
    out
}

fn short(text: &str) -> String {
    let line = text.replace('\n', "\\n");
    match line.char_indices().nth(110) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[test]
fn recordings_read_as_what_happened() {
    for name in [
        "04b-permission-deny",
        "05a-api-errors",
        "05f-more-hook-events",
        "06e-clear",
        "07a-subagent-foreground",
        "07e-background-bash",
        "07f-parallel-tools",
        "08-stream-json-bidirectional",
    ] {
        let mut out = String::new();
        for transcript in transcripts().iter().filter(|t| t.name.starts_with(name)) {
            writeln!(out, "# {}", transcript.name).expect("a string grows");
            out.push_str(&outline(&timeline(&transcript.text)));
        }
        insta::assert_snapshot!(name, out);
    }
}

#[test]
fn entries_name_the_offset_of_their_line() {
    for transcript in transcripts() {
        for entry in timeline(&transcript.text) {
            let rest = &transcript.text[usize::try_from(entry.offset).expect("small")..];
            assert!(rest.starts_with('{'), "{}: {entry:?}", transcript.name);
        }
    }
}

#[test]
fn a_repeated_record_is_one_entry() {
    for transcript in transcripts() {
        let twice = format!("{0}{0}", transcript.text);
        let (once, again) = (timeline(&transcript.text), timeline(&twice));
        assert_eq!(once, again, "{}", transcript.name);
    }
}

fn one_call(lines: &[&str]) -> ToolCall {
    let entries = timeline(&lines.join("\n"));
    let mut calls = entries.into_iter().filter_map(|entry| match entry.what {
        What::Tool(call) => Some(*call),
        _ => None,
    });
    let call = calls.next().expect("a call");
    assert_eq!(calls.next(), None);
    call
}

const CALL: &str = r#"{"type":"assistant","uuid":"1","timestamp":"2026-11-20T15:00:00.000Z","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"make"}}]}}"#;
const RESULT: &str = r#"{"type":"user","uuid":"2","timestamp":"2026-11-20T15:00:02.500Z","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"done"},{"type":"image"}]}]}}"#;

#[test]
fn a_result_joins_its_call_in_either_order() {
    let pending = one_call(&[CALL]);
    assert_eq!((pending.outcome, pending.output), (Outcome::Pending, None));
    for lines in [[CALL, RESULT], [RESULT, CALL]] {
        let call = one_call(&lines);
        assert_eq!((call.outcome, call.output.as_deref()), (Outcome::Ok, Some("done\n[image]")));
        assert_eq!(call.duration, Some(Millis(2500)));
        assert_eq!((call.input.as_str(), call.target.as_str()), (r#"{"command":"make"}"#, "make"));
        let before = if lines[0] == RESULT { 0 } else { CALL.len() + 1 };
        assert_eq!(call.result_offset, Some(before as u64), "a text of the result is found by its line");
    }
}

#[test]
fn a_call_that_was_stopped_while_it_ran_is_no_refused_one() {
    let outcome = |version: &str, more: &str| {
        let fields = format!(r#"{{"version":"{version}","toolDenialKind":"user-rejected"{more},"#);
        one_call(&[CALL, &RESULT.replacen('{', &fields, 1)]).outcome
    };
    assert_eq!(outcome("2.1.329", ""), Outcome::Interrupted);
    assert_eq!(outcome("2.2.0", ""), Outcome::Interrupted);
    assert_eq!(outcome("2.1.329", r#","toolDenialBeforeRun":true"#), Outcome::Denied);
    let by_a_rule = r#","permissionDecision":{"decision":"reject","source":"config"}"#;
    assert_eq!(outcome("2.1.329", by_a_rule), Outcome::Denied);
    // Earlier clients may not say whether the call had begun.
    assert_eq!(outcome("2.1.300", ""), Outcome::Denied);
    assert_eq!(outcome("?", ""), Outcome::Denied);
}

#[test]
fn words_of_a_reviewer_in_a_text_of_others_are_no_refusal() {
    let said =
        "Permission for this action was denied by the Claude Code auto mode classifier. Reason: It pushes.";
    let result = RESULT.replace("done", said);
    let result = result.replace(r#""type":"tool_result""#, r#""type":"tool_result","is_error":true"#);
    let refusal = |tool: &str| one_call(&[&CALL.replace(r#""Bash""#, &format!("{tool:?}")), &result]).refusal;
    assert!(refusal("Bash").is_some_and(|reason| reason.contains("It pushes.")));
    assert_eq!(refusal("WebFetch"), None);
}

#[test]
fn a_call_knows_the_subagent_that_it_started() {
    assert_eq!(one_call(&[CALL, RESULT]).agent, None);
    let result = RESULT.replacen('{', r#"{"toolUseResult":{"status":"completed","agentId":"a7c1"},"#, 1);
    assert_eq!(one_call(&[CALL, &result]).agent.as_deref(), Some("a7c1"));
}

#[test]
fn long_texts_are_cut_and_marked() {
    let big = "é".repeat(TEXT_LIMIT);
    let call = CALL.replace("make", &big);
    let result = RESULT.replace("done", &big);
    let call = one_call(&[&call, &result]);
    assert!(call.input_cut && call.output_cut);
    for text in [&call.input, &call.output.expect("there is output")] {
        assert!(text.len() <= PAYLOAD_LIMIT, "{}", text.len());
        assert!(text.ends_with('…'));
    }
    let answer =
        format!(r#"{{"type":"assistant","message":{{"content":[{{"type":"text","text":"{big}"}}]}}}}"#);
    let entries = timeline(&answer);
    let What::Response(text) = &entries[0].what else { panic!("a response") };
    assert!(text.len() <= TEXT_LIMIT && text.ends_with('…'));
    let whole = "é".repeat(TEXT_LIMIT / 2);
    assert_eq!(timeline(&answer.replace(&big, &whole))[0].what, What::Response(whole));
}

#[test]
fn an_old_summary_without_a_boundary_gives_a_boundary() {
    let summary =
        r#"{"type":"user","isCompactSummary":true,"message":{"content":"This session is being continued"}}"#;
    let boundary = r#"{"type":"system","subtype":"compact_boundary","compactMetadata":{"trigger":"auto"}}"#;
    let boundaries = |lines: &[&str]| {
        timeline(&lines.join("\n")).iter().filter(|e| matches!(e.what, What::Boundary(_))).count()
    };
    assert_eq!(boundaries(&[summary]), 1);
    assert_eq!(boundaries(&[boundary, summary]), 1);
    assert_eq!(boundaries(&[boundary, summary, summary]), 2);
}

#[test]
fn records_for_the_client_alone_give_no_entry() {
    for line in [
        r#"{"type":"user","isMeta":true,"message":{"content":"for the model"}}"#,
        r#"{"type":"user","isMeta":true,"message":{"content":"<local-command-caveat>x</local-command-caveat>"}}"#,
        r#"{"type":"api-request-blob","message":{"content":"x"}}"#,
        r#"{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"","signature":"s"}]}}"#,
        r#"{"type":"attachment","attachment":{"type":"date","date":"2026-11-20"}}"#,
        r#"{"type":"queue-operation","operation":"enqueue","content":"later"}"#,
        r#"{"type":"ai-title","aiTitle":"t"}"#,
        "nonsense",
        "",
    ] {
        assert_eq!(timeline(line), [], "{line}");
    }
}

#[test]
fn a_turn_whose_prompt_is_private_as_a_whole_has_no_text() {
    let said = timeline(
        r#"{"type":"user","message":{"content":"<private>S3CRET</private>"}}
{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"S3CRET"},{"type":"text","text":"S3CRET"},{"type":"tool_use","id":"a","name":"Bash","input":{"command":"cat S3CRET"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"S3CRET"}]}}
{"type":"user","isSidechain":true,"message":{"content":"S3CRET for a subagent"}}
{"type":"system","subtype":"away_summary","content":"S3CRET was asked"}
{"type":"user","origin":{"kind":"task-notification"},"message":{"content":"<task-notification><summary>S3CRET ran</summary></task-notification>"}}
{"type":"assistant","message":{"content":[{"type":"text","text":"S3CRET came"}]}}
{"type":"user","message":{"content":"openly"}}
{"type":"assistant","message":{"content":[{"type":"text","text":"loud"}]}}"#,
    );
    assert_eq!(outline(&said).lines().count(), 3);
    let said = format!("{said:?}");
    assert!(!said.contains("S3CRET"), "{said}");
    assert!(["(private)", "openly", "loud"].iter().all(|kept| said.contains(kept)), "{said}");
    // The whole prompt counts, however long it is.
    for (begin, end, is_private) in
        [("<private>", "</private>", true), ("<private>", "</private> openly", false)]
    {
        let prompt = format!("{begin}{}{end}", "long ".repeat(100_000));
        let answer = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"loud"}]}}"#;
        let said =
            timeline(&format!("{{\"type\":\"user\",\"message\":{{\"content\":\"{prompt}\"}}}}\n{answer}"));
        assert_eq!(format!("{said:?}").contains("loud"), !is_private, "{end}");
    }
}

#[test]
fn what_was_said_before_a_change_of_the_agent_is_one_line() {
    let block = format!("<watchbill-context>\\n{}</watchbill-context>\\n\\n", "long ".repeat(2_400));
    let in_blocks = |text: &str| format!(r#"[{{"type":"text","text":"{text}"}}]"#);
    for (content, kb) in [
        (format!("\"{block}fix it\""), Some(13)),
        (in_blocks(&format!("{block}fix it")), Some(13)),
        ("\"<watchbill-context>x</watchbill-context>fix it\"".to_owned(), Some(1)),
        ("\"fix it\"".to_owned(), None),
    ] {
        let entries = timeline(&format!(r#"{{"type":"user","message":{{"content":{content}}}}}"#));
        let said: Vec<What> = entries.into_iter().map(|entry| entry.what).collect();
        let prompt = What::Prompt { text: "fix it".to_owned(), origin: Origin::Human };
        let told = kb.map(|kb| What::Note(format!("told what was said before, {kb} kB")));
        assert_eq!(said, [prompt].into_iter().chain(told).collect::<Vec<_>>());
    }
}

#[test]
fn commands_and_queued_prompts_lose_the_clients_wrappers() {
    for (line, want) in [
        (
            r#"{"type":"user","message":{"content":"<command-name>/rename</command-name>\n<command-message>rename</command-message>\n<command-args>new name</command-args>"}}"#,
            What::Command("/rename new name".to_owned()),
        ),
        (
            r#"{"type":"user","message":{"content":"<bash-input>ls -l</bash-input>"}}"#,
            What::Command("! ls -l".to_owned()),
        ),
        (
            r#"{"type":"user","message":{"content":"<local-command-stdout>\u001b[2mCompacted\u001b[22m</local-command-stdout>"}}"#,
            What::Note("Compacted".to_owned()),
        ),
        (
            r#"{"type":"attachment","attachment":{"type":"queued_command","prompt":"and tests"}}"#,
            What::Prompt { text: "and tests".to_owned(), origin: Origin::Queued },
        ),
        (
            r#"{"type":"attachment","attachment":{"type":"queued_command","prompt":"<task-notification><task-id>b</task-id><summary>It ended</summary></task-notification>"}}"#,
            What::Prompt { text: "It ended".to_owned(), origin: Origin::TaskNotification },
        ),
        (
            r#"{"type":"user","message":{"content":[{"type":"image"},{"type":"image"}]}}"#,
            What::Prompt { text: "[2 images]".to_owned(), origin: Origin::Human },
        ),
        (
            r#"{"type":"system","subtype":"api_error","error":{"status":529},"retryInMs":600.5,"retryAttempt":1,"maxRetries":10}"#,
            What::Note("The request failed with status 529; next try in 0.6 s (attempt 1 of 10).".to_owned()),
        ),
        (
            r#"{"type":"assistant","isApiErrorMessage":true,"message":{"content":[{"type":"text","text":"API Error"}]}}"#,
            What::Error("API Error".to_owned()),
        ),
    ] {
        let entries = timeline(line);
        assert_eq!(entries.len(), 1, "{line}");
        assert_eq!(entries[0].what, want);
    }
}
