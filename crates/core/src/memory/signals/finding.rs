//! A finding of a rule: its id, its checks, and how the same finding is joined.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::history::rows::{Batch, BatchId};
use crate::ids::{stable_hash, stable_hash_from};
use crate::memory::kind::{Importance, MemoryKind};
use crate::memory::likeness::normal_form;
use crate::memory::plain::plain_line;
use crate::memory::secrets::has_secret;
use crate::time::Timestamp;

/// A finding of one rule in one session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Signal {
    /// The same for the same finding in every session of a project.
    pub id: u64,
    /// The rule.
    pub kind: MemoryKind,
    /// One line of plain text.
    pub text: String,
    /// The file that it is about, relative to the root, with `/`.
    pub path: Option<String>,
    /// The error line, without what differs from run to run.
    pub symptom: Option<String>,
    /// How much is lost without it.
    pub importance: Importance,
    /// It may hold text of others, so it is a proposal.
    pub suspect: bool,
    /// The turn that shows it.
    pub batch: BatchId,
    /// Where the record stands in the session's transcript.
    pub byte: Option<u64>,
    /// When.
    pub at: Timestamp,
    /// How often the session shows it.
    pub times: u64,
}

/// The id of a memory of this project, kind and key.
pub fn memory_id(project: u64, kind: MemoryKind, key: &str) -> u64 {
    let start = stable_hash_from(stable_hash(&project.to_be_bytes()), kind.as_str().as_bytes());
    stable_hash_from(start, format!("\n{key}").as_bytes())
}

/// Joins findings of one session. The same finding again counts once more; its newest text stays.
pub fn join(mut found: Vec<Signal>) -> Vec<Signal> {
    found.sort_by(|a, b| (a.id, a.at, &a.text).cmp(&(b.id, b.at, &b.text)));
    let mut joined: Vec<Signal> = Vec::new();
    for signal in found {
        match joined.last_mut().filter(|last| last.id == signal.id) {
            Some(last) => {
                let times = last.times + signal.times;
                let (importance, suspect) =
                    (last.importance.max(signal.importance), last.suspect || signal.suspect);
                *last = Signal { times, importance, suspect, ..signal };
            }
            None => joined.push(signal),
        }
    }
    joined
}

/// A finding, before it is checked.
pub(in crate::memory) struct FindingParts<'t> {
    pub(in crate::memory) kind: MemoryKind,
    /// What makes two findings the same, beside kind and file; `None`: the text.
    pub(in crate::memory) key: Option<String>,
    pub(in crate::memory) text: String,
    pub(in crate::memory) path: Option<String>,
    pub(in crate::memory) symptom: Option<String>,
    pub(in crate::memory) importance: Importance,
    pub(in crate::memory) suspect: bool,
    pub(in crate::memory) batch: &'t Batch,
    pub(in crate::memory) byte: Option<u64>,
    pub(in crate::memory) at: Option<Timestamp>,
}

impl<'t> FindingParts<'t> {
    pub(in crate::memory) fn new(kind: MemoryKind, text: String, batch: &'t Batch) -> Self {
        Self {
            kind,
            key: None,
            text,
            path: None,
            symptom: None,
            importance: Importance::High,
            suspect: false,
            batch,
            byte: batch.offset,
            at: batch.started_at,
        }
    }

    pub(in crate::memory) fn signal(self, project: u64) -> Option<Signal> {
        let text = plain_line(&self.text);
        let all = [Some(&*self.text), self.key.as_deref(), self.symptom.as_deref(), self.path.as_deref()];
        if text.is_empty() || all.into_iter().flatten().any(has_secret) {
            return None;
        }
        let key = self.key.map_or_else(|| normal_form(&text), |key| normal_form(&key));
        let key = format!("{}\n{key}", self.path.as_deref().unwrap_or_default());
        Some(Signal {
            id: memory_id(project, self.kind, &key),
            kind: self.kind,
            text,
            path: self.path,
            symptom: self.symptom,
            importance: self.importance,
            suspect: self.suspect,
            batch: Arc::clone(&self.batch.id),
            byte: self.byte,
            at: self.at?,
            times: 1,
        })
    }
}
