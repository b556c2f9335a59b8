//! Rules 4 and 5: commands that pass here, and errors that follow changes of a file. A finding needs several sessions.

use super::finding::FindingParts;
use super::rule_state::RuleState;
use super::session_rows::{command_of, is_edit};
use super::turns::Turn;
use crate::history::rows::CallOutcome;
use crate::memory::kind::{Importance, MemoryKind};
use crate::memory::likeness::normal_error;
use crate::memory::plain::{cut, is_suspect, squeezed};

/// Programs that only look, or that everyone knows.
const LOOKING: &[&str] = &[
    "ls", "cat", "cd", "pwd", "echo", "head", "tail", "grep", "rg", "find", "fd", "sed", "awk", "wc",
    "which", "sleep", "ps", "mkdir", "rm", "cp", "mv", "touch", "chmod", "kill", "pkill", "curl", "wget",
    "ssh", "sudo", "env", "export", "stat", "file", "du", "df", "tree", "less", "jq", "date", "true", "test",
    "printf", "xargs", "sort", "diff", "git",
];

/// A longer command is a script of one occasion, in characters.
const MAX_COMMAND_CHARS: usize = 120;

pub(super) fn commands(turn: &Turn<'_>, tell: &mut dyn FnMut(FindingParts<'_>)) {
    let batch = turn.batch;
    for call in turn.own_calls().filter(|call| call.outcome == Some(CallOutcome::Ok)) {
        let Some(command) = command_of(call) else { continue };
        let command = squeezed(command);
        let program = command.split(' ').next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
        let is_plain = command.chars().count() <= MAX_COMMAND_CHARS
            && !LOOKING.contains(&program)
            && !command.contains(['|', ';', '›', '‹', '$', '\\', '\''])
            && !is_suspect(&command);
        if !is_plain || command.split(' ').count() < 2 {
            continue;
        }
        tell(FindingParts {
            importance: Importance::Medium,
            suspect: turn.has_foreign_text(),
            byte: call.offset,
            at: call.at.or(batch.started_at),
            ..FindingParts::new(MemoryKind::Command, format!("`{command}` works here."), batch)
        });
    }
}

pub(super) fn hot_files(state: &mut RuleState, turn: &Turn<'_>, tell: &mut dyn FnMut(FindingParts<'_>)) {
    let (batch, edited) = (turn.batch, &mut state.edited);
    for call in turn.own_calls() {
        if is_edit(call) && call.outcome == Some(CallOutcome::Ok) {
            *edited = call.file.as_deref().and_then(|path| turn.rows.relative(path));
            continue;
        }
        let (Some(_), Some(outcome)) = (command_of(call), call.outcome) else { continue };
        if outcome == CallOutcome::Ok {
            // What passed is not the cause of a later error.
            *edited = None;
        }
        let (CallOutcome::Error, Some(error)) = (outcome, &call.error) else { continue };
        let Some(path) = edited.take() else { continue };
        let error = cut(&squeezed(error), 120);
        let symptom = normal_error(&error);
        tell(FindingParts {
            key: Some(symptom.clone()),
            path: Some(path),
            symptom: Some(symptom),
            importance: Importance::Medium,
            suspect: turn.has_foreign_text() || is_suspect(&error),
            byte: call.offset,
            at: call.at.or(batch.started_at),
            ..FindingParts::new(
                MemoryKind::HotFile,
                format!("Changes of this file often end in: {error}"),
                batch,
            )
        });
    }
}
