//! Rules 2, 3 and 7: the user corrected the agent, refused a call with a reason, or asked to remember a text.

use super::finding::FindingParts;
use super::session_rows::is_edit;
use super::turns::Turns;
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
        let is_persons = matches!(batch.origin, None | Some(BatchOrigin::Human | BatchOrigin::Queued));
        let Some(prompt) = batch.prompt.as_deref().filter(|_| is_persons && !batch.private) else { continue };
        // The first prompt is a task: there is nothing to correct yet.
        let Some(previous) = previous else { continue };
        let text = squeezed(prompt);
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
        tell(FindingParts { path, importance, ..FindingParts::new(MemoryKind::Correction, text, batch) });
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
    for (id, reason) in &turns.rows.refusals {
        let Some(call) = turns.call(id).filter(|call| call.agent.is_none()) else {
            continue;
        };
        let Some(batch) = turns.turn(call.batch.as_ref()) else { continue };
        let reason = squeezed(reason);
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
            byte: call.result_offset.or(call.offset),
            at: call.at.or(batch.started_at),
            ..told
        });
    }
}

/// `remember: …` on a line of a prompt.
pub(super) fn marks(turns: &Turns<'_>, tell: &mut dyn FnMut(FindingParts<'_>)) {
    for batch in turns.rows.batches.iter().filter(|batch| !batch.private) {
        for line in batch.prompt.as_deref().unwrap_or_default().lines() {
            let line = line.trim();
            let Some(head) = line.get(..9).filter(|head| head.eq_ignore_ascii_case("remember:")) else {
                continue;
            };
            let text = squeezed(&line[head.len()..]);
            if text.is_empty() {
                continue;
            }
            let path = file_in(turns, &text);
            tell(FindingParts { path, ..FindingParts::new(MemoryKind::Note, text, batch) });
        }
    }
}
