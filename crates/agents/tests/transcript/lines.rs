//! Whole lines: damaged ones, and prompts that name another session.

use watchbill_agents::claude::records::parse_line;
use watchbill_core::transcript::record::Body;

use crate::shapes::{describe, user};

#[test]
fn records_behind_zeros_are_read() {
    const PROMPT: &str = r#"{"type":"user","message":{"content":"after"}}"#;
    let (zeros, torn) = ("\0".repeat(4096), r#"{"type":"user","message":{"content":"tor"#);
    for (line, want) in [
        (format!("{zeros}{PROMPT}"), 1),
        (format!("{PROMPT}{zeros}"), 1),
        (format!("{PROMPT}{zeros}{PROMPT}"), 2),
        (format!("\0{PROMPT}\0{zeros}{PROMPT}\0"), 2),
        (format!("{torn}{zeros}{PROMPT}"), 1),
        (format!("{torn}{PROMPT}{zeros}{PROMPT}"), 1),
        (format!(r#"{{"type":"mode"}}{zeros}"#), 1),
    ] {
        let mut met = Vec::new();
        let report = parse_line(line.as_bytes(), &mut |record, _| met.push(describe(&record.body)));
        assert_eq!((report.records as usize, report.malformed), (want, true), "{met:?}");
        assert!(met.iter().all(|one| one == "human: after" || one == "Irrelevant"), "{met:?}");
    }
}

#[test]
fn a_prompt_that_carries_out_a_plan_names_the_session_of_the_plan() {
    const A: &str = "11111111-1111-4111-8111-111111111111";
    let own = "22222222-2222-4222-8222-222222222222";
    let plan = r#"# Lexer\n\nRead /p/33333333-3333-4333-8333-333333333333.jsonl first.\n"#;
    let text = |tail: &str| format!(r##""Implement the following plan:\n\n{plan}\n\n{tail}""##);
    let given = format!(r#""planContent":"{plan}","sessionId":"{own}""#);
    for (content, more, want) in [
        (text(&format!("More is in /home/dev/.claude/projects/-r/{A}.jsonl")), given.as_str(), Some(A)),
        (text(&format!(r"More: C:\\x\\projects\\-r\\{A}.jsonl.")), &given, Some(A)),
        // The user's own words, or the plan's, name nothing.
        (text(&format!("See /p/{A}.jsonl")), "", None),
        (text("No file."), &given, None),
        (text(&format!("See /p/{own}.jsonl")), &given, None),
        (text("See /p/notes.jsonl"), &given, None),
    ] {
        let mut named = None;
        parse_line(user(&content, more).as_bytes(), &mut |record, _| {
            let Body::Prompt(prompt) = record.body else { panic!("no prompt: {content}") };
            named = prompt.plan_of.map(std::borrow::Cow::into_owned);
        });
        assert_eq!(named.as_deref(), want, "{content}");
    }
}
