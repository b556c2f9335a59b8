//! Rule 6: a plan that the user approved, and the versions that the user rejected before.

use super::finding::FindingParts;
use super::turns::Turn;
use crate::history::rows::PlanEventKind;
use crate::memory::kind::MemoryKind;
use crate::memory::plain::{cut, squeezed};

pub(super) fn plans(turn: &Turn<'_>, tell: &mut dyn FnMut(FindingParts<'_>)) {
    let batch = turn.batch;
    for (n, plan) in turn.rows.plans.iter().enumerate() {
        if plan.batch.as_ref() != Some(&batch.id) {
            continue;
        }
        let approved = plan.states.iter().rev().find(|(_, state)| *state == PlanEventKind::Approved);
        let Some((at, _)) = approved else { continue };
        let mut steps = lines(&plan.content);
        let Some(title) = steps.next() else { continue };
        let first: Vec<String> = steps.take(2).collect();
        let mut text = format!("Plan agreed: {}", cut(&title, 80));
        if !first.is_empty() {
            text = format!("{text}: {}", cut(&first.join("; "), 90));
        }
        let rejected = turn.rows.plans[..n].iter().rev().find(|earlier| {
            earlier.plan == plan.plan
                && earlier.states.iter().any(|(_, state)| *state == PlanEventKind::Rejected)
        });
        let dropped = rejected.and_then(|earlier| {
            let kept: Vec<String> = lines(&plan.content).collect();
            lines(&earlier.content).find(|line| !kept.contains(line))
        });
        if let Some(dropped) = dropped {
            text = format!("{text}. Rejected before: {}", cut(&dropped, 60));
        }
        let told = FindingParts::new(MemoryKind::Plan, text, batch);
        tell(FindingParts {
            // A plan that is agreed anew replaces the one of the same title.
            key: Some(title),
            suspect: turn.has_foreign_text(),
            at: at.or(batch.started_at),
            ..told
        });
    }
}

/// The lines with words, without the marks of Markdown.
fn lines(text: &str) -> impl Iterator<Item = String> + '_ {
    text.lines()
        .map(|line| line.trim().trim_start_matches(|c: char| "#*->+0123456789.[] \t".contains(c)))
        .map(squeezed)
        .filter(|line| !line.is_empty())
}
