//! Summaries and hand-overs, as text.

use std::fmt::Write as _;

use watchbill_core::history::rows::{BatchStatus, PlanEventKind};
use watchbill_core::memory::{hand_over, summarize};

use crate::rows::Writer;

fn session() -> Writer {
    let mut w = Writer::new();
    w.prompt("/clear")
        .prompt("Make the log rotate by size")
        .read("src/log.rs")
        .read("src/log.rs")
        .read("docs/log.md");
    w.plan("# Rotation\n1. count bytes\n2. rename", PlanEventKind::Approved);
    w.edit("src/log.rs").bash("cargo test -p log", None).bash("git commit -m 'log: rotate'", None);
    w.answer("Done. What is left:\n- document the limit\n- try it on Windows");
    w.prompt("now the docs").ends(BatchStatus::Interrupted);
    w
}

#[test]
fn a_summary_has_five_fields() {
    let summary = summarize(&session().rows, vec!["dates are UTC".to_owned()]);
    insta::assert_snapshot!(format!("{summary:#?}"));
}

#[test]
fn a_hand_over_has_what_a_fresh_session_needs() {
    let rows = session().rows;
    let mut text = String::new();
    write!(text, "{}", hand_over(&rows, &summarize(&rows, Vec::new()))).unwrap();
    insta::assert_snapshot!(text);
}

/// Made-up endings with what a reader finds open.
const ENDINGS: &str = include_str!("../../../../tests/fixtures/sources/endings.txt");

/// The rows of one ending, and what is open.
fn ending(text: &str) -> (Writer, Vec<String>) {
    let (mut w, mut answer, mut open) = (Writer::new(), String::new(), Vec::new());
    w.prompt("do it");
    for line in text.lines().skip(1) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            ">" => answer.extend([rest, "\n"]),
            "=" => open.push(rest.to_owned()),
            "pass" => {
                w.bash(rest, None);
            }
            "fail" => {
                let (command, error) = rest.split_once(": ").unwrap();
                w.bash(command, Some(error));
            }
            "todo" => {
                let one = |to_do: &str| {
                    to_do
                        .split_once('=')
                        .map(|(text, status)| serde_json::json!({"content": text, "status": status}))
                };
                let todos: Vec<_> = rest.split("; ").filter_map(one).collect();
                w.with_input("TodoWrite", "", serde_json::json!({ "todos": todos }));
            }
            "task" => match rest.split_once(' ').unwrap() {
                ("+", subject) => {
                    w.with_input("TaskCreate", subject, serde_json::json!({"subject": subject}))
                }
                (id, status) => {
                    w.with_input("TaskUpdate", id, serde_json::json!({"taskId": id, "status": status}))
                }
            },
            "then" => {
                w.answer(&std::mem::take(&mut answer));
                w.prompt(rest.trim_end_matches('!'));
                if rest.ends_with('!') {
                    w.ends(BatchStatus::Interrupted);
                }
            }
            _ => panic!("{line}"),
        }
    }
    if !answer.is_empty() {
        w.answer(&answer);
    }
    (w, open)
}

#[test]
fn of_sixty_endings_nine_in_ten_open_ends_are_right() {
    let (mut told, mut right, mut wanted, mut report) = (0, 0, 0, String::new());
    let endings: Vec<&str> = ENDINGS.split("\n== ").skip(1).collect();
    for text in &endings {
        let (w, open) = ending(text);
        let steps = summarize(&w.rows, Vec::new()).next_steps;
        let fits = |step: &str| open.iter().any(|open| step.contains(open.as_str()));
        let good = steps.iter().filter(|step| fits(step)).count();
        (told, right, wanted) = (told + steps.len(), right + good, wanted + open.len());
        if good != steps.len() || good != open.len() {
            _ = writeln!(report, "{}: {steps:?}, and not {open:?}", text.lines().next().unwrap());
        }
    }
    assert!(endings.len() >= 60, "{}", endings.len());
    let numbers = format!("{right} of {told} are right, {wanted} are there\n{report}");
    assert!(right * 10 >= told * 9, "{numbers}");
    assert!(right * 10 >= wanted * 8, "{numbers}");
    eprintln!("{numbers}");
}
