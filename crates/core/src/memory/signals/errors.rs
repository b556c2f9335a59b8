//! Rule 1: a command failed, files were changed, and the same command passed.

use super::finding::FindingParts;
use super::rule_state::{Failed, RuleState};
use super::session_rows::{command_of, is_edit};
use super::turns::Turn;
use crate::history::rows::CallOutcome;
use crate::ids::stable_hash;
use crate::memory::kind::MemoryKind;
use crate::memory::likeness::normal_error;
use crate::memory::plain::{cut, is_suspect, squeezed};

/// Longest error line in a text, in characters.
const ERROR: usize = 90;
/// Longest part of the agent's answer in a text, in characters.
const ANSWER: usize = 90;

/// The most failed commands that wait for a pass.
const MOST_FAILED: usize = 32;

pub(super) fn fixes(state: &mut RuleState, turn: &Turn<'_>, tell: &mut dyn FnMut(FindingParts<'_>)) {
    for call in turn.own_calls() {
        if is_edit(call) && call.outcome == Some(CallOutcome::Ok) {
            if let Some(file) = call.file.as_deref().and_then(|path| turn.rows.relative(path)) {
                state.note_change(file);
            }
            continue;
        }
        let failed = &mut state.failed;
        let Some(command) = command_of(call) else { continue };
        let hash = stable_hash(command.as_bytes());
        let known = failed.iter().position(|one| one.command == hash);
        match (call.outcome, &call.error, known) {
            // The first error counts: later ones come from unfinished changes.
            (Some(CallOutcome::Error), Some(error), None) => {
                if failed.len() == MOST_FAILED {
                    failed.remove(0);
                }
                let error = cut(&squeezed(error), ERROR);
                failed.push(Failed { command: hash, error, changes: state.changes });
            }
            (Some(CallOutcome::Ok), _, Some(at)) => {
                let one = failed.remove(at);
                let files = state.changed_since(&one);
                if files.is_empty() {
                    continue;
                }
                let mut told = fix_of(command, &one.error, &files, turn);
                (told.byte, told.at) = (call.offset, call.at.or(told.at));
                tell(told);
            }
            _ => {}
        }
    }
}

fn fix_of<'r>(command: &str, error: &str, files: &[&str], turn: &Turn<'r>) -> FindingParts<'r> {
    let batch = turn.batch;
    let symptom = normal_error(error);
    let others = match files.len() {
        1 => String::new(),
        n => format!(" and {} more", n - 1),
    };
    let path = files.last().map(|file| (*file).to_owned());
    let mut text = format!(
        "`{}` failed: {error} It passed after a change of {}{others}.",
        cut(command, 60),
        path.as_deref().unwrap_or_default()
    );
    let foreign = turn.has_foreign_text();
    let answer = batch.response.as_ref().map(|(_, answer)| first_sentence(answer)).unwrap_or_default();
    if !foreign && !answer.is_empty() && !is_suspect(&answer) {
        text = format!("{text} {answer}");
    }
    let suspect = foreign || is_suspect(error);
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
