//! The turn that runs, and the prompts that two witnesses tell.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::history::rows::BatchId;
use crate::session::id_set::text_hash;
use crate::time::{Millis, Timestamp};

/// Prompts that are remembered so that the other witness's telling of them is recognised.
const JOIN_LIMIT: usize = 8;
/// So far apart two tellings of one prompt are: the record follows the hook by at most a second, but a hook may wait
/// in the sender's spool.
const JOIN_SPAN: Millis = Millis::from_secs(60);

/// The turn that the newest prompt began.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::history) struct Turn {
    pub id: BatchId,
    /// It has ended, by whichever word.
    pub over: bool,
    /// The newest thing that happened in it.
    pub last: Option<Timestamp>,
    /// Hash of the message that ended it: a late block of that is no new turn.
    pub message: Option<u64>,
}

/// Prompts without a `promptId` that one witness or both have told, oldest first.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(in crate::history) struct Joins(Vec<Told>);

/// A prompt, and who has told it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Told {
    id: BatchId,
    /// Hash of its text.
    text: u64,
    at: Option<Timestamp>,
    /// The transcript has.
    recorded: bool,
    /// A hook has: hash of the event's id.
    event: Option<u64>,
}

impl Told {
    fn is(&self, text: u64, at: Option<Timestamp>) -> bool {
        let near = match (self.at, at) {
            (Some(a), Some(b)) => a.max(b).since(a.min(b)) <= JOIN_SPAN,
            _ => true,
        };
        near && self.text == text
    }
}

impl Joins {
    /// The name of a prompt that the transcript tells: a hook's, when one told it before.
    pub fn record(&mut self, text: u64, at: Option<Timestamp>, id: BatchId) -> BatchId {
        if let Some(told) = self.0.iter_mut().find(|told| !told.recorded && told.is(text, at)) {
            told.recorded = true;
            return Arc::clone(&told.id);
        }
        self.keep(Told { id, text, at, recorded: true, event: None })
    }

    /// The name of a prompt that a hook tells: the transcript's, when it told it before.
    pub fn hear(&mut self, text: u64, at: Timestamp, event: &str) -> BatchId {
        let hash = text_hash(event);
        let known = self.0.iter().position(|told| told.event == Some(hash));
        let joined = || self.0.iter().position(|told| told.event.is_none() && told.is(text, Some(at)));
        if let Some(told) = known.or_else(joined).and_then(|n| self.0.get_mut(n)) {
            told.event = Some(hash);
            return Arc::clone(&told.id);
        }
        let id = format!("hook {event}").into();
        self.keep(Told { id, text, at: Some(at), recorded: false, event: Some(hash) })
    }

    /// The newest prompt that was told before this moment.
    pub fn newest(&self, at: Timestamp) -> Option<BatchId> {
        let told = self.0.iter().filter(|told| told.at <= Some(at));
        told.max_by_key(|told| told.at).map(|told| Arc::clone(&told.id))
    }

    fn keep(&mut self, told: Told) -> BatchId {
        if self.0.len() == JOIN_LIMIT {
            self.0.remove(0);
        }
        let id = Arc::clone(&told.id);
        self.0.push(told);
        id
    }
}

/// Stands for a prompt's text when two witnesses' tellings are compared.
pub(in crate::history) fn prompt_hash(text: &str) -> u64 {
    text_hash(text.trim())
}
