//! The summary of a session, here by rules: request, investigated, learned, completed, next steps; and a hand-over text.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::open_ends::{is_check, open_ends};
use super::plain::{cut, squeezed};
use super::signals::{SessionRows, is_edit};
use crate::history::rows::{Activity, Batch, BatchOrigin, CallOutcome, PlanEventKind};
use crate::tool::ToolKind;

/// Longest field, in characters: about 60 words.
pub(super) const FIELD: usize = 360;
/// The most files or commands in a field.
const MAX_ITEMS: usize = 6;

/// The five fields. A field without content is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// What the user asked first.
    pub request: String,
    /// The files that were read most and not changed.
    pub investigated: String,
    /// What later sessions can use: the texts of memories.
    pub learned: Vec<String>,
    /// Changed files, commits and passed commands.
    pub completed: String,
    /// Open ends: to-dos, the last failing check, what the last answer left open, an unfinished turn.
    pub next_steps: Vec<String>,
}

/// Fills the fields. `learned` are the texts of the session's memories.
pub fn summarize(rows: &SessionRows, learned: Vec<String>) -> Summary {
    let is_request = |batch: &&Batch| batch.origin.is_none_or(BatchOrigin::is_request) && !batch.private;
    let asked = rows.batches.iter().filter(is_request);
    let request =
        asked.filter_map(|batch| batch.prompt.as_deref()).map(squeezed).find(|text| !text.starts_with('/'));
    let changed = files(rows, is_edit);
    let read = files(rows, |call| is_of(call, ToolKind::Read));
    let read: Vec<String> = read.into_iter().filter(|file| !changed.contains(file)).collect();
    let mut completed = Vec::new();
    if !changed.is_empty() {
        completed.push(format!("changed {}", listed(&changed)));
    }
    let commands = passed(rows);
    if !commands.is_empty() {
        completed.push(format!("passed: {}", listed(&commands)));
    }
    Summary {
        request: cut(&request.unwrap_or_default(), FIELD),
        investigated: if read.is_empty() { String::new() } else { format!("read {}", listed(&read)) },
        learned,
        completed: cut(&completed.join("; "), FIELD),
        next_steps: open_ends(rows),
    }
}

/// The files of these calls, the most frequent first.
fn files(rows: &SessionRows, wanted: impl Fn(&Activity) -> bool) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for call in rows.calls.iter().filter(|call| wanted(call) && call.outcome == Some(CallOutcome::Ok)) {
        if let Some(file) = call.file.as_deref().and_then(|path| rows.relative(path)) {
            *counts.entry(file).or_default() += 1;
        }
    }
    let mut files: Vec<(String, usize)> = counts.into_iter().collect();
    files.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    // A name of a file is told to an agent: it stays one plain line.
    files.into_iter().map(|(file, _)| squeezed(&file)).collect()
}

/// The first of a list, and how many more there are.
fn listed(all: &[String]) -> String {
    let shown = all[..all.len().min(MAX_ITEMS)].join(", ");
    match all.len().saturating_sub(MAX_ITEMS) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn is_of(call: &Activity, kind: ToolKind) -> bool {
    call.tool.as_deref().is_some_and(|tool| ToolKind::of(tool) == kind)
}

/// Commits and test commands whose last run passed, in the order of their last runs.
fn passed(rows: &SessionRows) -> Vec<String> {
    let mut last: BTreeMap<String, (usize, bool)> = BTreeMap::new();
    let commands = rows.calls.iter().filter(|call| is_of(call, ToolKind::Shell));
    for (at, call) in commands.enumerate() {
        let Some(target) = call.target.as_deref().map(squeezed) else { continue };
        let counts = target.starts_with("git commit") || is_check(&target);
        if counts && !super::secrets::has_secret(&target) {
            last.insert(target, (at, call.outcome == Some(CallOutcome::Ok)));
        }
    }
    let mut passed: Vec<(usize, String)> =
        last.into_iter().filter(|(_, (_, ok))| *ok).map(|(command, (at, _))| (at, command)).collect();
    passed.sort_unstable();
    passed.into_iter().map(|(_, command)| format!("`{}`", cut(&command, 60))).collect()
}

/// A hand-over text for a new session or another agent: the request, finished work, the plan, files in work, open points.
pub fn hand_over(rows: &SessionRows, summary: &Summary) -> String {
    let mut out = String::from("# Hand-over\n");
    let mut part = |title: &str, lines: &[String]| {
        if !lines.is_empty() {
            let _ = write!(out, "\n## {title}\n\n");
            lines.iter().for_each(|line| _ = writeln!(out, "- {line}"));
        }
    };
    let one = |text: &str| if text.is_empty() { Vec::new() } else { vec![text.to_owned()] };
    part("Request", &one(&summary.request));
    part("Done", &one(&summary.completed));
    part("Looked at", &one(&summary.investigated));
    let work: Vec<String> = files(rows, is_edit).into_iter().take(MAX_ITEMS).collect();
    part("Files in work", &work);
    let approved = rows
        .plans
        .iter()
        .rev()
        .find(|plan| plan.states.iter().any(|(_, state)| *state == PlanEventKind::Approved));
    let plan: Vec<String> =
        approved.into_iter().flat_map(|plan| plan.content.lines()).map(squeezed).collect();
    let plan: Vec<String> = plan.into_iter().filter(|line| !line.is_empty()).take(20).collect();
    part("Plan", &plan);
    part("Learned", &summary.learned);
    part("Open ends", &summary.next_steps);
    out
}
