//! Rules 2, 3 and 7: the user corrected the agent, refused a call with a reason, or asked to remember a text.

use super::finding::FindingParts;
use super::rule_state::RuleState;
use super::turns::Turn;
use crate::history::boilerplate::{plan_in_prompt, typed_and_quoted};
use crate::history::rows::{Batch, BatchOrigin};
use crate::memory::kind::{Importance, MemoryKind};
use crate::memory::plain::{cut, squeezed};

/// How a correction begins, in lower case. English, German, French, Spanish.
const OPENERS: &[&str] = &[
    "no,",
    "no.",
    "no!",
    "no ",
    "nope",
    "stop",
    "don't",
    "do not",
    "dont ",
    "not ",
    "never",
    "instead",
    "wrong",
    "revert",
    "undo",
    "that's wrong",
    "that is wrong",
    "we never",
    "we always",
    "please don't",
    "please do not",
    "nein",
    "stopp",
    "nicht ",
    "niemals",
    "falsch",
    "non,",
    "non ",
    "arrête",
    "jamais",
    "faux",
    "para,",
    "nunca",
    "mal,",
];

/// Beginnings that look like a correction and are none.
const FRIENDLY: &[&str] = &[
    "no problem",
    "no worries",
    "no need",
    "not bad",
    "no rush",
    "no thanks",
    "not sure",
    "no idea",
    "stop here",
];

/// A correction has this many words at least; "no" alone says nothing later.
const MIN_WORDS: usize = 4;
/// A longer prompt is a task of its own, in characters.
const MAX_PROMPT_CHARS: usize = 600;

pub(super) fn corrections(state: &RuleState, turn: &Turn<'_>, tell: &mut dyn FnMut(FindingParts<'_>)) {
    let batch = turn.batch;
    let is_request = batch.origin.is_none_or(BatchOrigin::is_request);
    let Some(prompt) = batch.prompt.as_deref().filter(|_| is_request) else { return };
    // The first prompt is a task: there is nothing to correct yet.
    let Some(before) = &state.before else { return };
    let (typed, _) = typed_and_quoted(prompt);
    let text = squeezed(&typed);
    let low = text.to_lowercase();
    let opens = OPENERS.iter().any(|opener| low.starts_with(opener))
        && !FRIENDLY.iter().any(|friendly| low.starts_with(friendly));
    let is_short = text.split(' ').count() >= MIN_WORDS && text.chars().count() <= MAX_PROMPT_CHARS;
    if !(opens || before.was_stopped) || !is_short || low.starts_with('/') {
        return;
    }
    let importance = if opens { Importance::High } else { Importance::Medium };
    let path = state.file_in(&text).or_else(|| before.edited.clone());
    let suspect = !is_typed(batch);
    tell(FindingParts {
        path,
        importance,
        suspect,
        ..FindingParts::new(MemoryKind::Correction, text, batch)
    });
}

pub(super) fn refusals(turn: &Turn<'_>, tell: &mut dyn FnMut(FindingParts<'_>)) {
    let batch = turn.batch;
    for call in turn.own_calls() {
        let Some(reason) = call.reason.as_deref() else { continue };
        let reason = squeezed(&typed_and_quoted(reason).0);
        if reason.split(' ').count() < 3 {
            continue;
        }
        let path = call.file.as_deref().and_then(|path| turn.rows.relative(path));
        let what = match (&path, call.target.as_deref()) {
            (None, Some(target)) => {
                format!("`{}` was refused: ", cut(&squeezed(target), 60))
            }
            _ => String::new(),
        };
        let told = FindingParts::new(MemoryKind::Refusal, format!("{what}{reason}"), batch);
        tell(FindingParts {
            path,
            suspect: turn.has_foreign_text(),
            byte: call.result_offset.or(call.offset),
            at: call.at.or(batch.started_at),
            ..told
        });
    }
}

/// `remember: …` on a line of a prompt. It counts only in words that a person typed; elsewhere it is a proposal.
pub(super) fn marks(state: &RuleState, turn: &Turn<'_>, tell: &mut dyn FnMut(FindingParts<'_>)) {
    let batch = turn.batch;
    let (typed, quoted) = typed_and_quoted(batch.prompt.as_deref().unwrap_or_default());
    for (words, suspect) in [(&*typed, !is_typed(batch)), (&*quoted, true)] {
        for text in words.lines().filter_map(marked) {
            let path = state.file_in(&text);
            tell(FindingParts { path, suspect, ..FindingParts::new(MemoryKind::Note, text, batch) });
        }
    }
}

/// The text behind the mark of a line.
fn marked(line: &str) -> Option<String> {
    let line = line.trim();
    let head = line.get(..9).filter(|head| head.eq_ignore_ascii_case("remember:"))?;
    Some(squeezed(&line[head.len()..])).filter(|text| !text.is_empty())
}

/// Whether a person typed the prompt of a turn. A plan that the agent carries out stands in a prompt that the agent wrote.
fn is_typed(batch: &Batch) -> bool {
    batch.origin.is_some_and(BatchOrigin::is_typed)
        && batch.prompt.as_deref().is_none_or(|prompt| plan_in_prompt(prompt).is_none())
}
