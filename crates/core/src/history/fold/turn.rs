//! The newest turn, and prompts that the transcript and hooks both report.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::history::boilerplate::{without_quotes, without_reminders};
use crate::history::private::keep_public;
use crate::history::rows::{Batch, BatchId};
use crate::session::id_set::text_hash;
use crate::time::{Millis, Timestamp};

/// How many prompts are kept that the transcript reported, to recognise a hook's report of the same prompt. Of older ones,
/// the caller has the rows (see [`HistoryFold::recall_prompt`](super::HistoryFold::recall_prompt)).
const JOIN_LIMIT: usize = 8;
/// How many prompts are kept that only hooks reported: while no program reads the transcript, they may be many.
const HOOK_LIMIT: usize = 512;
/// Longest time between two reports of one prompt. The record follows the hook by at most a second, but a hook
/// event may wait in the sender's spool.
pub const MATCH_SPAN: Millis = Millis::from_secs(60);

/// The turn that the newest prompt began.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::history) struct Turn {
    pub id: BatchId,
    /// Its prompt is private as a whole: nothing of the turn is kept but that it was.
    pub private: bool,
    /// The turn has ended, by any sign.
    pub over: bool,
    /// Time of the newest event in it.
    pub last: Option<Timestamp>,
    /// Hash of the message that ended the turn. A late block of that message begins no new turn.
    pub message: Option<u64>,
}

/// Prompts that the transcript, hooks without a `prompt_id` or both reported, oldest first.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(in crate::history) struct PromptMatches(Vec<KnownPrompt>);

/// A prompt and its witnesses.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct KnownPrompt {
    id: BatchId,
    /// Hash of its text.
    text: u64,
    at: Option<Timestamp>,
    /// The transcript reported it.
    recorded: bool,
    /// A hook reported it: hash of the event's id.
    event: Option<u64>,
}

impl KnownPrompt {
    fn is(&self, text: u64, at: Option<Timestamp>) -> bool {
        let near = match (self.at, at) {
            (Some(a), Some(b)) => a.max(b).since(a.min(b)) <= MATCH_SPAN,
            _ => true,
        };
        near && self.text == text
    }
}

impl PromptMatches {
    /// The id of a prompt in the transcript. If a hook reported the prompt before, it is the hook's id.
    pub fn match_record(&mut self, text: u64, at: Option<Timestamp>, id: BatchId) -> BatchId {
        // A prompt may consist of several records.
        if self.0.iter().any(|prompt| prompt.id == id) {
            return id;
        }
        if let Some(prompt) = self.0.iter_mut().find(|prompt| !prompt.recorded && prompt.is(text, at)) {
            prompt.recorded = true;
            return Arc::clone(&prompt.id);
        }
        self.keep(KnownPrompt { id, text, at, recorded: true, event: None })
    }

    /// The prompt of this id has another one now.
    pub fn rename(&mut self, from: &BatchId, to: &BatchId) {
        for prompt in self.0.iter_mut().filter(|prompt| prompt.id == *from) {
            prompt.id = Arc::clone(to);
        }
    }

    /// The id of a prompt from a hook. If the transcript reported the prompt before, it is the transcript's id.
    pub fn match_hook(&mut self, text: u64, at: Timestamp, event: &str) -> BatchId {
        let hash = text_hash(event);
        let known = self.0.iter().position(|prompt| prompt.event == Some(hash));
        let joined = || self.0.iter().position(|prompt| prompt.event.is_none() && prompt.is(text, Some(at)));
        if let Some(prompt) = known.or_else(joined).and_then(|n| self.0.get_mut(n)) {
            prompt.event = Some(hash);
            return Arc::clone(&prompt.id);
        }
        let id = format!("hook {event}").into();
        self.keep(KnownPrompt { id, text, at: Some(at), recorded: false, event: Some(hash) })
    }

    /// The newest prompt up to this time.
    pub fn newest(&self, at: Timestamp) -> Option<BatchId> {
        let prompt = self.0.iter().filter(|prompt| prompt.at <= Some(at));
        prompt.max_by_key(|prompt| prompt.at).map(|prompt| Arc::clone(&prompt.id))
    }

    /// Adds a stored prompt that the transcript reported.
    pub fn recall(&mut self, prompt: &Batch) {
        if !self.0.iter().any(|known| known.id == prompt.id) {
            let (id, at) = (Arc::clone(&prompt.id), prompt.started_at);
            let text = text_hash(prompt.prompt.as_deref().unwrap_or_default());
            self.keep(KnownPrompt { id, text, at, recorded: true, event: None });
        }
    }

    fn keep(&mut self, prompt: KnownPrompt) -> BatchId {
        let limit = if prompt.recorded { JOIN_LIMIT } else { HOOK_LIMIT };
        let is_like_it = |known: &KnownPrompt| known.recorded == prompt.recorded;
        let mut left = (self.0.iter().filter(|known| is_like_it(known)).count() + 1).saturating_sub(limit);
        self.0.retain(|known| {
            let goes = left > 0 && is_like_it(known);
            left -= usize::from(goes);
            !goes
        });
        let id = Arc::clone(&prompt.id);
        self.0.push(prompt);
        id
    }
}

/// Hash of a prompt's text as it is stored, to compare the reports of two witnesses. The sender of hooks strips private
/// text, and only the record has the client's reminders and an editor's quotes.
pub(in crate::history) fn prompt_hash(text: &str) -> u64 {
    text_hash(keep_public(&without_reminders(&without_quotes(text), false)).unwrap_or_default().trim())
}
