//! The lines that differ between two texts.

use std::time::{Duration, Instant};

use similar::{ChangeTag, TextDiff};
use watchbill_protocol::changes::Hunk;
use watchbill_protocol::hooks::{DiffKind, DiffLine};

/// Equal lines around a change.
const AROUND: usize = 3;

/// After this time, lines that differ are no longer searched for equal ones among them.
const PATIENCE: Duration = Duration::from_millis(200);

/// The lines that differ between two texts, with three equal lines around them.
pub fn hunks(before: &str, after: &str) -> Vec<Hunk> {
    let diff = TextDiff::configure().deadline(Instant::now() + PATIENCE).diff_lines(before, after);
    let hunk = |group: &Vec<similar::DiffOp>| {
        let first = |range: std::ops::Range<usize>| u32::try_from(range.start + 1).unwrap_or(u32::MAX);
        let line = |change: similar::Change<&str>| DiffLine {
            kind: match change.tag() {
                ChangeTag::Equal => DiffKind::Same,
                ChangeTag::Insert => DiffKind::Added,
                ChangeTag::Delete => DiffKind::Removed,
            },
            text: change.value().trim_end_matches(['\n', '\r']).to_owned(),
        };
        Some(Hunk {
            before: first(group.first()?.old_range()),
            after: first(group.first()?.new_range()),
            lines: group.iter().flat_map(|op| diff.iter_changes(op)).map(line).collect(),
        })
    };
    diff.grouped_ops(AROUND).iter().filter_map(hunk).collect()
}
