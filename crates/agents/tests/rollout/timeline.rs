//! The timeline of recordings whose drivers wrote down what they did.

use std::fmt::Write as _;

use watchbill_agents::codex::records::parse_line;
use watchbill_core::transcript::timeline::{Entry, TimelineBuilder, What};

use crate::fixtures::{Step, recordings, rollouts};

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
            What::Tool(call) => format!(
                "Tool {} [{}] {:?} {:?} {} -> {}",
                call.tool,
                call.target,
                call.outcome,
                call.duration,
                call.input,
                call.output.as_deref().unwrap_or("-")
            ),
            other => format!("{other:?}"),
        };
        writeln!(out, "{}", short(&what)).expect("a string grows");
    }
    out
}

fn short(text: &str) -> String {
    let line = text.replace('\n', "\\n");
    match line.char_indices().nth(230) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[test]
fn recordings_read_as_what_happened() {
    let rollouts = rollouts();
    for name in
        ["01-approve-deny", "03-compact-manual-auto", "11-patch-approval", "12-subagent", "13-question"]
    {
        let mut out = String::new();
        for (_, steps) in recordings().iter().filter(|(recording, _)| recording == name) {
            for step in steps {
                if let Step::Mark(text) = step {
                    writeln!(out, "- {text}").expect("a string grows");
                }
            }
        }
        for rollout in rollouts.iter().filter(|rollout| rollout.name.starts_with(name)) {
            writeln!(out, "# {}", rollout.name).expect("a string grows");
            out.push_str(&outline(&timeline(&rollout.text)));
        }
        insta::assert_snapshot!(name, out);
    }
}
