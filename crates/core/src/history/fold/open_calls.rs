//! Tool calls that have no result yet.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::history::rows::{Activity, BatchId, CallOutcome, Item, RowSink};
use crate::session::id_set::text_hash;
use crate::time::Timestamp;

/// Limit of open calls; no client leaves so many open. Beyond it, the oldest counts as lost.
pub const CALL_LIMIT: usize = 256;

/// A call without a result.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Call {
    pub id: Arc<str>,
    pub tool: Arc<str>,
    pub batch: Option<BatchId>,
    /// A subagent made the call.
    pub agent: bool,
    pub at: Option<Timestamp>,
    /// The call gives no activity. It is kept because its result needs the tool's name.
    pub skipped: bool,
    /// The call names an excluded path, so its result is left out too.
    pub left_out: bool,
    /// The working folder that it chooses for its command.
    pub folder: Option<Arc<str>>,
    /// The plan that it writes or shows.
    pub plan: Option<Arc<str>>,
    /// The call's row, until the sink gets it.
    #[serde(skip)]
    pub pending: Option<Box<Activity>>,
}

/// Limit of results that came before their calls.
const EARLY_LIMIT: usize = 32;

/// The calls without a result, oldest first.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Calls {
    open: Vec<Call>,
    /// Results whose calls have not come yet: hashes of their ids, and their times.
    early: Vec<(u64, Option<Timestamp>)>,
}

impl Calls {
    /// Gives the sink each call that it lacks.
    pub fn settle(&mut self, sink: RowSink<'_>) {
        for call in &mut self.open {
            if let Some(pending) = call.pending.take() {
                sink(Item::Activity(pending));
            }
        }
    }

    /// Gives up the session's own open calls: no result can follow. Returns whether there were any.
    pub fn lose_own(&mut self, sink: RowSink<'_>) -> bool {
        let mut lost = false;
        self.early.clear();
        self.open.retain_mut(|call| {
            if !call.agent {
                lost = true;
                call.lose(sink);
            }
            call.agent
        });
        lost
    }

    pub fn push(&mut self, call: Call, sink: RowSink<'_>) {
        if self.open.len() == CALL_LIMIT {
            self.open.remove(0).lose(sink);
        }
        self.open.push(call);
    }

    /// Notes a result whose call has not come.
    pub fn note_early(&mut self, id: &str, at: Option<Timestamp>) {
        if self.early.len() == EARLY_LIMIT {
            self.early.remove(0);
        }
        self.early.push((text_hash(id), at));
    }

    /// The time of the result that came before the call with this id, if one did.
    pub fn take_early(&mut self, id: &str) -> Option<Option<Timestamp>> {
        if self.early.is_empty() {
            return None;
        }
        let hash = text_hash(id);
        let at = self.early.iter().position(|(early, _)| *early == hash)?;
        Some(self.early.remove(at).1)
    }

    pub fn take(&mut self, id: &str) -> Option<Call> {
        // A result comes soon after its call, so the search begins at the newest call.
        let at = self.open.iter().rposition(|call| &*call.id == id)?;
        Some(self.open.remove(at))
    }
}

impl Call {
    pub fn lose(&mut self, sink: RowSink<'_>) {
        if !self.skipped {
            let mut activity = self.take_change();
            activity.outcome = Some(CallOutcome::Lost);
            sink(Item::Activity(activity));
        }
    }

    /// The call's row if the sink lacks it; else a row with the batch and the tool, to be merged.
    pub fn take_change(&mut self) -> Box<Activity> {
        self.pending.take().unwrap_or_else(|| {
            let id = Arc::clone(&self.id);
            Box::new(Activity {
                batch: self.batch.clone(),
                tool: Some(Arc::clone(&self.tool)),
                ..Activity::new(id)
            })
        })
    }
}
