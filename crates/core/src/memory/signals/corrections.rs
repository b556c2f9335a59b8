//! Rules 2, 3 and 7: the user corrected the agent, refused a call with a reason, or asked to remember a text.

use super::finding::FindingParts;
use super::session_rows::is_edit;
use super::turns::Turns;
use crate::history::boilerplate::{plan_in_prompt, typed_and_quoted};
use crate::history::rows::{Batch, BatchOrigin, BatchStatus, CallOutcome};
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

pub(super) fn corrections(turns: &Turns<'_>, tell: &mut dyn FnMut(FindingParts<'_>)) {
    let mut before: Option<&Batch> = None;
    for batch in &turns.rows.batches {
        let previous = before.replace(batch);
        let is_request = batch.origin.is_none_or(BatchOrigin::is_request);
        let Some(prompt) = batch.prompt.as_deref().filter(|_| is_request && !batch.private) else { continue };
        // The first prompt is a task: there is nothing to correct yet.
        let Some(previous) = previous else { continue };
        let (typed, _) = typed_and_quoted(prompt);
        let text = squeezed(&typed);
        let low = text.to_lowercase();
        let opens = OPENERS.iter().any(|opener| low.starts_with(opener))
            && !FRIENDLY.iter().any(|friendly| low.starts_with(friendly));
        let follows_stop =
            previous.ended.as_ref().is_some_and(|ended| ended.status == BatchStatus::Interrupted)
                || turns.calls_of(&previous.id).any(|call| call.outcome == Some(CallOutcome::Denied));
        let is_short = text.split(' ').count() >= MIN_WORDS && text.chars().count() <= MAX_PROMPT_CHARS;
        if !(opens || follows_stop) || !is_short || low.starts_with('/') {
            continue;
        }
        let importance = if opens { Importance::High } else { Importance::Medium };
        let path = file_in(turns, &text).or_else(|| last_edited(turns, previous));
        let suspect = !is_typed(batch);
        tell(FindingParts {
            path,
            importance,
            suspect,
            ..FindingParts::new(MemoryKind::Correction, text, batch)
        });
    }
}

/// The file of this session that a text names: by its path, or by its name.
fn file_in(turns: &Turns<'_>, text: &str) -> Option<String> {
    let named = turns.files().filter(|file| {
        let name = file.rsplit('/').next().unwrap_or_default();
        text.contains(file) || (name.len() >= 5 && name.contains('.') && text.contains(name))
    });
    named.min_by_key(|file| (!text.contains(file), file.len(), *file)).map(str::to_owned)
}

fn last_edited(turns: &Turns<'_>, batch: &Batch) -> Option<String> {
    let edited = turns.calls_of(&batch.id).filter(|call| is_edit(call));
    turns.rows.relative(edited.rev().find_map(|call| call.file.as_deref())?)
}

pub(super) fn refusals(turns: &Turns<'_>, tell: &mut dyn FnMut(FindingParts<'_>)) {
    for call in turns.rows.calls.iter().filter(|call| call.agent.is_none()) {
        let Some(reason) = call.reason.as_deref() else { continue };
        let Some(batch) = turns.turn(call.batch.as_ref()) else { continue };
        let reason = squeezed(&typed_and_quoted(reason).0);
        if reason.split(' ').count() < 3 {
            continue;
        }
        let path = call.file.as_deref().and_then(|path| turns.rows.relative(path));
        let what = match (&path, call.target.as_deref()) {
            (None, Some(target)) => {
                format!("`{}` was refused: ", cut(&squeezed(target), 60))
            }
            _ => String::new(),
        };
        let told = FindingParts::new(MemoryKind::Refusal, format!("{what}{reason}"), batch);
        tell(FindingParts {
            path,
            suspect: turns.has_foreign_text(&batch.id),
            byte: call.result_offset.or(call.offset),
            at: call.at.or(batch.started_at),
            ..told
        });
    }
}

/// `remember: …` on a line of a prompt. It counts only in words that a person typed; elsewhere it is a proposal.
pub(super) fn marks(turns: &Turns<'_>, tell: &mut dyn FnMut(FindingParts<'_>)) {
    for batch in turns.rows.batches.iter().filter(|batch| !batch.private) {
        let (typed, quoted) = typed_and_quoted(batch.prompt.as_deref().unwrap_or_default());
        for (words, suspect) in [(&*typed, !is_typed(batch)), (&*quoted, true)] {
            for text in words.lines().filter_map(marked) {
                let path = file_in(turns, &text);
                tell(FindingParts { path, suspect, ..FindingParts::new(MemoryKind::Note, text, batch) });
            }
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
