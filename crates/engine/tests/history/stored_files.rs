//! The user's decisions on stored data, `exclude` and `forget`; and files with unusual content.

use watchbill_core::history::{Exclude, Role};
use watchbill_core::ids::SessionId;
use watchbill_core::time::{Millis, Timestamp};

use crate::index_rig::{IndexRig, ROOT};

fn prompt(id: &str, session: &str, text: &str) -> String {
    format!(
        r#"{{"type":"user","uuid":"{id}","sessionId":"{session}","cwd":"/home/dev/work","timestamp":"2026-11-20T15:00:00.000Z","message":{{"content":"{text}"}}}}"#
    ) + "\n"
}

#[test]
fn a_subagent_of_the_flat_layout_is_stored_with_the_session_its_records_name() {
    let mut rig = IndexRig::new();
    rig.append("agent-abc1234.jsonl", "{\"type\":\"file-history-snapshot\"}\n");
    assert!(rig.index("agent-abc1234.jsonl").skipped, "its session is unknown");
    rig.append("agent-abc1234.jsonl", &prompt("1", "parent", "look around"));
    rig.index("agent-abc1234.jsonl");
    assert_eq!(rig.texts("parent", Role::Prompt), ["look around"]);
    rig.restart();
    rig.append("agent-abc1234.jsonl", &prompt("2", "parent", "go on"));
    assert_eq!(rig.index("agent-abc1234.jsonl").texts, 1);
    assert_eq!(rig.texts("parent", Role::Prompt), ["look around", "go on"]);
}

#[test]
fn a_forgotten_session_is_not_stored_again() {
    let mut rig = IndexRig::new();
    rig.append("s.jsonl", &prompt("1", "s", "words"));
    rig.index("s.jsonl");
    let (_, store) = rig.index_handle();
    let mut step = store.step().unwrap();
    step.note_forgotten("s", Timestamp::from_millis(0)).unwrap();
    step.commit().unwrap();
    rig.restart();
    rig.append("s.jsonl", &prompt("2", "s", "more words"));
    assert!(rig.index("s.jsonl").skipped);
    assert_eq!(rig.texts("s", Role::Prompt), ["words"], "the rest is for the store to remove");
}

#[test]
fn an_excluded_transcript_is_removed_and_not_stored_again() {
    let mut rig = IndexRig::new();
    rig.append("s.jsonl", &prompt("1", "s", "words"));
    rig.index("s.jsonl");
    rig.restart();
    rig.settings.exclude = Exclude::new(["/home/dev/.claude/projects/p/**".to_owned()]);
    assert!(rig.index("s.jsonl").skipped);
    assert_eq!(rig.texts("s", Role::Prompt), [""; 0]);
}

#[test]
fn unreadable_lines_before_the_first_readable_one_are_counted() {
    for at_once in [true, false] {
        let mut rig = IndexRig::new();
        for lines in ["not json\n", "nor\nthis\n", "{\"type\":\"user\"", ",\n", &prompt("1", "s", "words")] {
            rig.append("s.jsonl", lines);
            if !at_once {
                rig.index("s.jsonl");
            }
        }
        rig.index("s.jsonl");
        assert_eq!(rig.texts("s", Role::Prompt), ["words"]);
        assert_eq!(rig.store.totals().unwrap().problems, 4, "at once: {at_once}");
    }
}

#[test]
fn torn_huge_and_broken_lines_lose_nothing_around_them() {
    let mut rig = IndexRig::new();
    rig.append("s.jsonl", &prompt("1", "s", "before"));
    rig.append("s.jsonl", "not json\n\u{0}\u{0}\n{\"type\":\"user\",\"message\":{\"content\":\"torn");
    let indexed = rig.index("s.jsonl");
    assert_eq!((indexed.texts, indexed.problems), (1, 2));
    rig.restart();
    rig.append("s.jsonl", " and whole\"}}\n");
    rig.append("s.jsonl", &prompt("2", "s", "after"));
    rig.index("s.jsonl");
    assert_eq!(rig.texts("s", Role::Prompt), ["before", "torn and whole", "after"]);
}

#[test]
fn hooks_and_transcript_fill_one_row() {
    let mut rig = IndexRig::new();
    rig.append("s.jsonl", &prompt("1", "s", "make it so"));
    rig.index("s.jsonl");
    let payload = r#"{"session_id":"s","hook_event_name":"Stop","last_assistant_message":"It is so."}"#;
    rig.hook("e1", Timestamp::parse("2026-11-20T15:00:09.000Z").unwrap(), payload);
    let key = rig.store.session_key(&SessionId::new("s")).unwrap().unwrap();
    let batches = rig.store.batches(key).unwrap();
    assert_eq!(batches.len(), 1);
    assert_eq!(batches[0].batch.prompt.as_deref(), Some("make it so"));
    assert_eq!(batches[0].batch.response.as_ref().map(|(_, text)| text.as_str()), Some("It is so."));
}

#[test]
fn a_prompt_that_only_the_record_names_is_one_prompt_with_all_that_hooks_reported() {
    // Clients 2.1.87 to 2.1.195. The hook comes first, or a whole turn before the transcript is read.
    let at = |secs: i64| Timestamp::parse("2026-11-20T15:00:00.000Z").unwrap() + Millis(secs * 1000);
    let hook = |name: &str, more: &str| format!(r#"{{"session_id":"s","hook_event_name":"{name}",{more}}}"#);
    let plan = format!(
        r#""tool_name":"ExitPlanMode","tool_use_id":"e","tool_input":{{}},"tool_response":{{"plan":"1. x","filePath":"{ROOT}/plans/otter.md"}}"#
    );
    for whole_turn in [false, true] {
        let mut rig = IndexRig::new();
        rig.append("s.jsonl", &prompt("1", "s", "before").replace("15:00:00", "14:00:00"));
        rig.index("s.jsonl");
        rig.hook("e1", at(0), &hook("UserPromptSubmit", r#""prompt":"make it so""#));
        let turn = [
            ("e2", at(5), hook("PostToolUse", &plan)),
            ("e3", at(9), hook("Stop", r#""last_assistant_message":"It is so.""#)),
        ];
        if whole_turn {
            turn.iter().for_each(|(id, at, payload)| rig.hook(id, *at, payload));
        }
        let named = prompt("2", "s", "make it so").replace(r#""uuid""#, r#""promptId":"p","uuid""#);
        rig.append("s.jsonl", &named);
        rig.index("s.jsonl");
        rig.restart();
        rig.index("s.jsonl");
        turn.iter().for_each(|(id, at, payload)| rig.hook(id, *at, payload));
        let key = rig.store.session_key(&SessionId::new("s")).unwrap().unwrap();
        let batches = rig.store.batches(key).unwrap();
        assert_eq!(batches.len(), 2, "{batches:#?}");
        let batch = &batches[1].batch;
        assert_eq!((&*batch.id, batch.prompt.as_deref()), ("p", Some("make it so")));
        assert_eq!(batch.response.as_ref().map(|(_, text)| text.as_str()), Some("It is so."));
        assert!(batch.is_over() && batches[1].file.is_some());
        let plans = rig.store.plans(key).unwrap();
        assert_eq!(plans.iter().map(|plan| plan.batch.as_deref()).collect::<Vec<_>>(), [Some("p")]);
    }
}

#[test]
fn many_prompts_that_hooks_do_not_name_are_counted_once() {
    // No program ran for long. Then the events come from the spool, before the transcript is read or after it.
    let at = |n: i64| Timestamp::parse("2026-11-20T15:00:00.000Z").unwrap() + Millis(n * 40_000);
    for (hooks_first, named) in [(true, true), (true, false), (false, true), (false, false)] {
        let mut rig = IndexRig::new();
        rig.append("s.jsonl", &prompt("0", "s", "before").replace("15:00:00", "14:00:00"));
        rig.index("s.jsonl");
        let read = |rig: &mut IndexRig| {
            for n in 0..20 {
                let time = at(n).to_string();
                let line = prompt(&format!("{}", n + 1), "s", &format!("prompt {}", n % 7));
                let line = line.replace("2026-11-20T15:00:00.000Z", &time);
                let id = format!(r#""promptId":"p{n}","uuid""#);
                rig.append("s.jsonl", &if named { line.replace(r#""uuid""#, &id) } else { line });
            }
            rig.index("s.jsonl");
        };
        let hear = |rig: &mut IndexRig| {
            for n in 0..20 {
                let hook = |name: &str, more: &str| {
                    format!(r#"{{"session_id":"s","hook_event_name":"{name}",{more}}}"#)
                };
                let submit = hook("UserPromptSubmit", &format!(r#""prompt":"prompt {}\n""#, n % 7));
                rig.hook(&format!("e{n}"), at(n), &submit);
                let stop = hook("Stop", &format!(r#""last_assistant_message":"answer {n}""#));
                rig.hook(&format!("s{n}"), at(n) + Millis(9_000), &stop);
            }
        };
        if hooks_first {
            hear(&mut rig);
            read(&mut rig);
        } else {
            read(&mut rig);
            rig.restart();
            rig.index("s.jsonl");
            hear(&mut rig);
        }
        let key = rig.store.session_key(&SessionId::new("s")).unwrap().unwrap();
        let batches = rig.store.batches(key).unwrap();
        assert_eq!(batches.len(), 21, "{hooks_first} {named}");
        for (n, stored) in batches[1..].iter().enumerate() {
            let batch = &stored.batch;
            assert_eq!(batch.prompt, Some(format!("prompt {}", n % 7)), "{hooks_first} {named}");
            let response = batch.response.as_ref().map(|(_, text)| text.clone());
            assert_eq!(response, Some(format!("answer {n}")), "{hooks_first} {named}");
            assert!(stored.file.is_some());
        }
    }
}

#[test]
fn an_approved_plan_has_the_text_that_its_file_has_then() {
    let path = format!("{ROOT}/plans/otter.md");
    let approved = Timestamp::parse("2026-11-20T15:00:09.000Z").unwrap();
    let null = format!(r#"{{"plan":null,"filePath":"{path}"}}"#);
    let with_text = format!(r#"{{"plan":"1. z","filePath":"{path}"}}"#);
    for (case, response, written_after, expected) in [
        ("a result without the text", &*null, Some(-1_000), "1. x\n2. y"),
        ("a plain result", r#""The user has approved the plan.""#, Some(1_500), "1. x\n2. y"),
        ("a file that changed later", &null, Some(60_000), "1. x"),
        ("no file", &null, None, "1. x"),
        ("a result with the text", &with_text, Some(-1_000), "1. z"),
    ] {
        let mut rig = IndexRig::new();
        rig.append("s.jsonl", &prompt("1", "s", "make it so"));
        rig.index("s.jsonl");
        if let Some(span) = written_after {
            rig.fs.set_now(approved + Millis(span));
            rig.fs.write(&path, b"1. x\n2. y\n");
        }
        let payload = format!(
            r#"{{"session_id":"s","hook_event_name":"PostToolUse","prompt_id":"p","tool_name":"ExitPlanMode","tool_use_id":"e","tool_input":{{"plan":"1. x","planFilePath":"{path}"}},"tool_response":{response}}}"#
        );
        rig.hook("e1", approved, &payload);
        let key = rig.store.session_key(&SessionId::new("s")).unwrap().unwrap();
        let plans = rig.store.plans(key).unwrap();
        let texts: Vec<_> =
            plans.iter().map(|plan| (&*plan.plan, &*plan.content, plan.words.len())).collect();
        assert_eq!(texts, [(&*path, expected, 1)], "{case}");
    }
}
