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
