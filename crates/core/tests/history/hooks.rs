//! The transcript and the hooks report the same facts: their rows are joined without doubles, in any order.

use watchbill_core::history::{BatchStatus, CallOutcome, PlanEventKind};

use crate::model::Reader;

const PROMPT: &str = r#"{"type":"user","uuid":"11111111-1111-4111-8111-111111111111","promptId":"p-1","timestamp":"2026-11-20T15:00:00.500Z","message":{"content":"make it so"}}"#;
const CALL: &str = r#"{"type":"assistant","uuid":"2","timestamp":"2026-11-20T15:00:01.000Z","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"Edit","input":{"file_path":"/home/dev/work/a.rs","old_string":"a","new_string":"b"}}]}}"#;
const RESULT: &str = r#"{"type":"user","uuid":"3","promptId":"p-1","timestamp":"2026-11-20T15:00:09.000Z","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"done"}]}}"#;
const ANSWER: &str = r#"{"type":"assistant","uuid":"4","timestamp":"2026-11-20T15:00:10.000Z","message":{"id":"n","stop_reason":"end_turn","content":[{"type":"text","text":"It is so."}]}}"#;

/// 2026-11-20T15:00:00.000Z.
const START: i64 = 1_795_186_800_000;

fn hook(name: &str, prompt_id: bool, more: &str) -> String {
    let id = if prompt_id { r#""prompt_id":"p-1","# } else { "" };
    format!(r#"{{"session_id":"s","hook_event_name":"{name}",{id}{more}}}"#)
}

fn events(prompt_id: bool) -> Vec<(String, i64, String)> {
    let call = r#""tool_name":"Edit","tool_use_id":"t","tool_input":{"file_path":"/home/dev/work/a.rs","old_string":"a","new_string":"b"}"#;
    [
        (0, hook("UserPromptSubmit", prompt_id, r#""prompt":"make it so""#)),
        (1_050, hook("PreToolUse", prompt_id, call)),
        (8_990, hook("PostToolUse", prompt_id, &format!(r#"{call},"tool_response":{{}},"duration_ms":321"#))),
        (10_050, hook("Stop", prompt_id, r#""last_assistant_message":"It is so.""#)),
    ]
    .into_iter()
    .enumerate()
    .map(|(n, (at, payload))| (format!("event-{n}"), START + at, payload))
    .collect()
}

/// Applies records and hook events in the order that `order` gives: numbers below four are lines. `by_record` and
/// `by_hook` say who names the prompt's id.
fn apply_in_order(order: &[usize], by_record: bool, by_hook: bool) -> Reader {
    let lines = if by_record {
        [PROMPT, CALL, RESULT, ANSWER].map(str::to_owned)
    } else {
        [PROMPT, CALL, RESULT, ANSWER].map(|line| line.replace(r#""promptId":"p-1","#, ""))
    };
    let events = events(by_hook);
    let mut reader = Reader::new("s", None);
    for step in order {
        match lines.get(*step) {
            Some(line) => reader.line(*step as u64 * 1_000, line.as_bytes()),
            None => {
                let (id, at, payload) = &events[step - 4];
                reader.hook(id, *at, payload);
            }
        }
        reader.settle();
    }
    reader
}

#[test]
fn one_prompt_is_one_batch_and_one_call_one_activity_in_any_order() {
    // Since 2.1.196, since 2.1.87, and before.
    for (by_record, by_hook) in [(true, true), (true, false), (false, false)] {
        let orders: [&[usize]; 5] = [
            &[0, 1, 2, 3],
            &[4, 0, 1, 5, 6, 2, 3, 7],
            &[4, 5, 6, 7, 0, 1, 2, 3],
            &[0, 1, 2, 3, 4, 5, 6, 7],
            &[0, 7, 6, 1, 5, 2, 4, 3, 4, 5, 6, 7],
        ];
        for order in orders {
            let model = apply_in_order(order, by_record, by_hook).model;
            assert_eq!(model.batches.len(), 1, "{order:?} {by_record} {by_hook}: {:#?}", model.batches);
            if by_record {
                assert_eq!(&*model.batch("make it so").id, "p-1", "subagents name that one");
            }
            let batch = model.batch("make it so");
            let ended = batch.ended.as_ref().expect("it ended");
            assert_eq!(ended.status, BatchStatus::Completed, "{order:?}");
            assert_eq!(
                batch.response.as_ref().map(|(_, text)| text.as_str()),
                Some("It is so."),
                "{order:?}"
            );
            assert_eq!(model.activities.len(), 1, "{order:?}");
            let activity = &model.activities["t"];
            assert_eq!(activity.outcome, Some(CallOutcome::Ok), "{order:?}");
            assert_eq!(activity.file.as_deref(), Some("/home/dev/work/a.rs"));
            assert_eq!(activity.batch, Some(batch.id.clone()), "{order:?}");
            if order.contains(&6) {
                assert_eq!(activity.duration_ms, Some(321), "the hook measures without the wait");
            }
        }
    }
}

#[test]
fn hooks_alone_give_a_whole_batch() {
    let model = apply_in_order(&[4, 6, 7], true, true).model;
    let batch = model.batch("make it so");
    assert_eq!(batch.ended.as_ref().map(|ended| ended.status), Some(BatchStatus::Completed));
    assert_eq!(model.activities["t"].batch.as_deref(), Some("p-1"));
    assert_eq!(model.activities["t"].at.map(|at| at.as_millis()), Some(START + 8_990 - 321));
}

#[test]
fn several_records_and_repeated_prompts_stay_apart_without_ids_in_hooks() {
    let record = |n: u64, id: &str, text: &str, at: &str| {
        let line = PROMPT
            .replace("p-1", id)
            .replace("make it so", text)
            .replace("11111111-1", "11111111-")
            .replace("15:00:00", at);
        line.replace("11111111-111", &format!("1111111{n}-1111"))
    };
    let submit = |text: &str| hook("UserPromptSubmit", false, &format!(r#""prompt":"{text}""#));
    // The same prompt twice within a minute, and a prompt of two records, each with hooks before or after.
    for hooks_first in [true, false] {
        let mut reader = Reader::new("s", None);
        for (n, (id, texts, at)) in [
            ("p-1", &["go on"][..], "15:00:00"),
            ("p-2", &["go on"], "15:00:20"),
            ("p-3", &["look", "at this"], "15:00:40"),
        ]
        .into_iter()
        .enumerate()
        {
            let n = n as u64;
            let mut steps = vec![true, false];
            steps.rotate_left(usize::from(!hooks_first));
            for is_hook in steps {
                if is_hook {
                    reader.hook(&format!("event-{n}"), START + n as i64 * 20_000, &submit(texts[0]));
                } else {
                    for (part, text) in texts.iter().enumerate() {
                        let offset = n * 1_000 + part as u64 * 100;
                        reader.line(offset, record(n * 2 + part as u64, id, text, at).as_bytes());
                    }
                }
                reader.restart();
            }
            reader.settle();
        }
        let ids: Vec<&str> = reader.model.batches.keys().map(String::as_str).collect();
        assert_eq!(ids, ["p-1", "p-2", "p-3"], "{hooks_first}");
    }
}

#[test]
fn a_prompt_is_compared_by_the_text_that_is_stored() {
    for (record, hook_text, count) in [
        ("make it so", "make it so\\n", 1),
        ("<ide_opened_file>a.rs</ide_opened_file>make it so", "make it so", 1),
        ("make it so\\n<system-reminder>be brief</system-reminder>", "make it so", 1),
        ("make it so", "<private>a</private> make it so", 1),
        // Nothing tells that these are one prompt.
        ("make it so, quickly", "make it so", 2),
    ] {
        for hook_first in [true, false] {
            let mut reader = Reader::new("s", None);
            let submit = hook("UserPromptSubmit", false, &format!(r#""prompt":"{hook_text}""#));
            for is_hook in [hook_first, !hook_first] {
                match is_hook {
                    true => reader.hook("event", START, &submit),
                    false => reader.line(0, PROMPT.replace("make it so", record).as_bytes()),
                }
            }
            reader.settle();
            assert_eq!(reader.model.batches.len(), count, "{record} {hook_text} {hook_first}");
        }
    }
}

#[test]
fn the_same_text_an_hour_later_is_another_prompt() {
    let again = PROMPT.replace(r#""promptId":"p-1","#, "").replace("15:00:00", "16:00:00");
    let mut reader = Reader::new("s", None);
    reader.hook("event", START, &hook("UserPromptSubmit", false, r#""prompt":"make it so""#));
    reader.line(0, again.as_bytes());
    reader.settle();
    assert_eq!(reader.model.batches.len(), 2);
}

#[test]
fn hooks_report_failed_calls_and_turns() {
    let call = r#""tool_name":"Bash","tool_use_id":"t","tool_input":{"command":"false"}"#;
    let mut reader = Reader::new("s", None);
    reader.hook("1", START, &hook("UserPromptSubmit", true, r#""prompt":"<private>all</private>""#));
    reader.hook(
        "2",
        START,
        &hook("PostToolUseFailure", true, &format!(r#"{call},"error":"Exit code 1\nbad""#)),
    );
    reader.hook(
        "3",
        START,
        &hook("StopFailure", true, r#""error":"rate_limit","last_assistant_message":"limit""#),
    );
    let model = &reader.model;
    assert_eq!(model.activities["t"].outcome, Some(CallOutcome::Error));
    assert_eq!(model.activities["t"].error.as_deref(), Some("Exit code 1"));
    let batch = &model.batches["p-1"];
    assert!(batch.private && batch.prompt.is_none());
    let ended = batch.ended.as_ref().expect("it ended");
    assert_eq!((ended.status, ended.error.as_deref()), (BatchStatus::Failed, Some("limit")));
}

#[test]
fn a_background_call_has_the_outcome_background() {
    let call = r#""tool_name":"Bash","tool_use_id":"t","tool_input":{"command":"sleep 9"}"#;
    let mut reader = Reader::new("s", None);
    let post = hook("PostToolUse", true, &format!(r#"{call},"tool_response":{{"backgroundTaskId":"b1"}}"#));
    reader.hook("1", START, &post);
    assert_eq!(reader.model.activities["t"].outcome, Some(CallOutcome::Background));
}

#[test]
fn hooks_give_plan_versions_and_executions() {
    let path = "/home/dev/.claude/plans/brave-otter.md";
    let mut reader = Reader::new("s", None);
    let write = format!(
        r#""tool_name":"Write","tool_use_id":"w","tool_input":{{"file_path":"{path}","content":"1. x\n"}},"tool_response":{{"type":"create","filePath":"{path}","content":"1. x\n"}}"#
    );
    reader.hook("1", START, &hook("PostToolUse", true, &write));
    let exit = format!(
        r#""tool_name":"ExitPlanMode","tool_use_id":"e","tool_input":{{}},"tool_response":{{"plan":"1. x\n2. y","filePath":"{path}"}}"#
    );
    reader.hook("2", START + 1, &hook("PostToolUse", true, &exit));
    let plans: Vec<_> =
        reader.model.plans.iter().map(|p| (p.word, p.path.as_deref(), p.content.as_deref())).collect();
    assert_eq!(
        plans,
        [
            (PlanEventKind::Written, Some(path), Some("1. x")),
            (PlanEventKind::Approved, Some(path), Some("1. x\n2. y")),
        ]
    );
    assert_eq!(reader.model.executions.len(), 1);
    let prompt = r#""prompt":"Implement the following plan:\n\n1. x\n2. y""#;
    reader.hook("3", START + 2, &hook("UserPromptSubmit", true, prompt).replace("p-1", "p-2"));
    let carried = reader.model.executions.last().expect("an execution");
    assert_eq!((carried.content.as_deref(), &*carried.batch), (Some("1. x\n2. y"), "p-2"));
    for (n, named) in
        ["Carry out {}", "Please implement @{}.", "the plan is in `{}`, go on"].iter().enumerate()
    {
        let prompt = format!(r#""prompt":"{}""#, named.replace("{}", path));
        let (id, batch) = (format!("4-{n}"), format!("p-3-{n}"));
        reader.hook(&id, START + 3, &hook("UserPromptSubmit", true, &prompt).replace("p-1", &batch));
        let carried = reader.model.executions.last().expect("an execution");
        assert_eq!((carried.plan.as_deref(), &*carried.batch), (Some(path), &*batch), "{named}");
    }
    let plain = format!(
        r#""tool_name":"Write","tool_use_id":"v","tool_input":{{"file_path":"{path}","content":"1. w"}},"tool_response":"File written.""#
    );
    reader.hook("5", START + 4, &hook("PostToolUse", true, &plain));
    let plan = reader.model.plans.last().expect("a plan");
    assert_eq!(
        (plan.word, plan.path.as_deref(), plan.given.as_deref()),
        (PlanEventKind::Written, Some(path), Some("1. w"))
    );
}
