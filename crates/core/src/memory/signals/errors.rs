//! Rule 1: a command failed, files were changed, and the same command passed.

use std::collections::BTreeMap;

use super::finding::FindingParts;
use super::session_rows::{command_of, is_edit};
use super::turns::Turns;
use crate::history::rows::{Batch, CallOutcome};
use crate::memory::kind::MemoryKind;
use crate::memory::likeness::normal_error;
use crate::memory::plain::{cut, is_suspect, squeezed};

/// Longest error line in a text, in characters.
const ERROR: usize = 90;
/// Longest part of the agent's answer in a text, in characters.
const ANSWER: usize = 90;

/// A command that failed, and the changes since.
struct Failed<'r> {
    error: &'r str,
    files: Vec<String>,
}

pub(super) fn fixes(turns: &Turns<'_>, tell: &mut dyn FnMut(FindingParts<'_>)) {
    let mut failed: BTreeMap<&str, Failed<'_>> = BTreeMap::new();
    for call in turns.rows.calls.iter().filter(|call| call.agent.is_none()) {
        let Some(batch) = turns.turn(call.batch.as_ref()) else { continue };
        if is_edit(call) && call.outcome == Some(CallOutcome::Ok) {
            if let Some(file) = call.file.as_deref().and_then(|path| turns.rows.relative(path)) {
                failed.values_mut().for_each(|one| {
                    one.files.retain(|known| *known != file);
                    one.files.push(file.clone());
                });
            }
            continue;
        }
        let Some(command) = command_of(call) else { continue };
        match (call.outcome, &call.error) {
            (Some(CallOutcome::Error), Some(error)) => {
                // The first error counts: later ones come from unfinished changes.
                failed.entry(command).or_insert(Failed { error, files: Vec::new() });
            }
            (Some(CallOutcome::Ok), _) => {
                let Some(one) = failed.remove(command).filter(|one| !one.files.is_empty()) else { continue };
                let mut told = fix_of(command, &one, turns, batch);
                (told.byte, told.at) = (call.offset, call.at.or(told.at));
                tell(told);
            }
            _ => {}
        }
    }
}

fn fix_of<'r>(command: &str, one: &Failed<'_>, turns: &Turns<'_>, batch: &'r Batch) -> FindingParts<'r> {
    let error = cut(&squeezed(one.error), ERROR);
    let symptom = normal_error(&error);
    let others = match one.files.len() {
        1 => String::new(),
        n => format!(" and {} more", n - 1),
    };
    let path = one.files.last().cloned();
    let mut text = format!(
        "`{}` failed: {error} It passed after a change of {}{others}.",
        cut(command, 60),
        path.as_deref().unwrap_or_default()
    );
    let foreign = turns.has_foreign_text(&batch.id);
    let answer = batch.response.as_ref().map(|(_, answer)| first_sentence(answer)).unwrap_or_default();
    if !foreign && !answer.is_empty() && !is_suspect(&answer) {
        text = format!("{text} {answer}");
    }
    let suspect = foreign || is_suspect(&error);
    FindingParts {
        key: Some(format!("{command}\n{symptom}")),
        path,
        symptom: Some(symptom),
        suspect,
        ..FindingParts::new(MemoryKind::Fix, text, batch)
    }
}

/// The first sentence of an answer.
fn first_sentence(answer: &str) -> String {
    let line = squeezed(answer.lines().find(|line| !line.trim().is_empty()).unwrap_or_default());
    let line = line.trim_start_matches(['#', '*', '-', '›', ' ']);
    let end = line.find(". ").map_or(line.len(), |at| at + 1);
    cut(&line[..end], ANSWER)
}
