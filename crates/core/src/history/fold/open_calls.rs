//! Tool calls that have no result yet.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::history::rows::{Activity, BatchId, Item, Outcome, Sink};
use crate::time::Timestamp;

/// More calls than any client leaves open; beyond it the oldest counts as lost.
pub const CALL_LIMIT: usize = 256;

/// A call without a result.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Call {
    pub id: Arc<str>,
    pub tool: Arc<str>,
    pub batch: Option<BatchId>,
    /// A subagent's.
    pub agent: bool,
    pub at: Option<Timestamp>,
    /// No activity, but its result wants to know the tool.
    pub skipped: bool,
    /// It touches a file of which nothing is to be stored, and so does its result.
    pub left_out: bool,
    /// The plan that it writes or shows.
    pub plan: Option<Arc<str>>,
    /// All that is known of it, until it was given out once.
    #[serde(skip)]
    pub news: Option<Box<Activity>>,
}

/// The calls without a result, oldest first.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Calls(Vec<Call>);

impl Calls {
    /// Gives the sink each call that it has not got yet.
    pub fn settle(&mut self, sink: Sink<'_>) {
        for call in &mut self.0 {
            if let Some(news) = call.news.take() {
                sink(Item::Activity(news));
            }
        }
    }

    /// The session's own calls get no result any more; whether there were any.
    pub fn lose_own(&mut self, sink: Sink<'_>) -> bool {
        let mut lost = false;
        self.0.retain_mut(|call| {
            if !call.agent {
                lost = true;
                call.lose(sink);
            }
            call.agent
        });
        lost
    }

    pub fn push(&mut self, call: Call, sink: Sink<'_>) {
        if self.0.len() == CALL_LIMIT {
            self.0.remove(0).lose(sink);
        }
        self.0.push(call);
    }

    pub fn take(&mut self, id: &str) -> Option<Call> {
        // Results come soon after their calls.
        let at = self.0.iter().rposition(|call| &*call.id == id)?;
        Some(self.0.remove(at))
    }
}

impl Call {
    pub fn lose(&mut self, sink: Sink<'_>) {
        if !self.skipped {
            let mut told = self.told();
            told.outcome = Some(Outcome::Lost);
            sink(Item::Activity(told));
        }
    }

    /// What has not been given out of it yet.
    pub fn told(&mut self) -> Box<Activity> {
        self.news.take().unwrap_or_else(|| {
            let id = Arc::clone(&self.id);
            Box::new(Activity {
                batch: self.batch.clone(),
                tool: Some(Arc::clone(&self.tool)),
                ..Activity::new(id)
            })
        })
    }
}
