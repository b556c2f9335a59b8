//! What nobody ended: turns and sessions of a client that was killed, calls that nobody claimed.
//!
//! The rules and limits of the source document on prompt batches. All of it is undone by whatever is told later: a
//! turn that was taken for over goes on with its next record, since a later telling of a batch replaces an earlier one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::rows::{Activity, Batch, BatchId, BatchStatus, Ended};
use crate::time::{Millis, Timestamp};

/// The document's limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecoverySettings {
    /// A turn without a sign for so long is over.
    pub stuck: Millis,
    /// A session without a sign for so long is over.
    pub stale: Millis,
    /// So often is looked at most, while there is something to look at.
    pub every: Millis,
}

impl Default for RecoverySettings {
    fn default() -> Self {
        Self { stuck: Millis::from_secs(300), stale: Millis::from_secs(3_600), every: Millis::from_secs(60) }
    }
}

/// A session as recovery sees it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionView {
    /// The agent's id.
    pub id: Arc<str>,
    /// It is stored as one that goes on.
    pub open: bool,
    /// A witness other than its records says now that its turn runs, or waits for the person: then silence means
    /// nothing.
    pub alive: bool,
    /// The newest sign of it.
    pub last_activity_at: Option<Timestamp>,
    /// Turns that have not ended, and those that calls without a turn may belong to.
    pub batches: Vec<Batch>,
    /// Calls that belong to no turn.
    pub orphans: Vec<Activity>,
}

/// One thing that is put right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recovered {
    /// A turn without a sign is over since its last one.
    StuckBatch {
        /// Whose.
        session: Arc<str>,
        /// To be merged with what is stored.
        batch: Batch,
    },
    /// A session without a sign is over.
    StaleSession {
        /// Which.
        session: Arc<str>,
        /// Its last sign.
        last_activity_at: Timestamp,
    },
    /// A call belongs to the nearest turn.
    OrphanedActivity {
        /// Whose.
        session: Arc<str>,
        /// The call.
        call: Arc<str>,
        /// The turn.
        batch: BatchId,
    },
    /// There is no turn at all that calls could belong to: one is made up for them.
    MadeUpBatch {
        /// Whose.
        session: Arc<str>,
        /// To be stored.
        batch: Batch,
    },
}

impl Recovered {
    /// The word in the log.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::StuckBatch { .. } => "stuck_batch",
            Self::StaleSession { .. } => "stale_session",
            Self::OrphanedActivity { .. } => "orphaned_activity",
            Self::MadeUpBatch { .. } => "made_up_batch",
        }
    }

    /// Whose it is.
    pub fn session(&self) -> &Arc<str> {
        match self {
            Self::StuckBatch { session, .. }
            | Self::StaleSession { session, .. }
            | Self::OrphanedActivity { session, .. }
            | Self::MadeUpBatch { session, .. } => session,
        }
    }

    /// In words, for the log.
    pub fn detail(&self) -> String {
        match self {
            Self::StuckBatch { batch, .. } => {
                let at = batch.ended.as_ref().map_or(String::new(), |ended| format!(" since {}", ended.at));
                format!("the turn of prompt {} gave no sign{at} and counts as completed", batch.id)
            }
            Self::StaleSession { last_activity_at, .. } => {
                format!("the session gave no sign since {last_activity_at} and counts as completed")
            }
            Self::OrphanedActivity { call, batch, .. } => {
                format!("the call {call} belonged to no prompt and was given to {batch}")
            }
            Self::MadeUpBatch { .. } => {
                "calls belonged to no prompt, and there was none to give them to".to_owned()
            }
        }
    }
}

/// What is to be put right now, and when to look again.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recovery {
    /// In a stable order.
    pub put_right: Vec<Recovered>,
    /// `None`: nothing can get stuck before something new is told.
    pub next: Option<Timestamp>,
}

/// Name of a turn that is made up for calls without any.
const MADE_UP: &str = "recovered";

/// Looks at all sessions that have something open.
pub fn recover(sessions: &[SessionView], settings: RecoverySettings, now: Timestamp) -> Recovery {
    let mut recovery = Recovery::default();
    let mut due: BTreeSet<Timestamp> = BTreeSet::new();
    for session in sessions {
        for batch in session.batches.iter().filter(|batch| is_open(batch)) {
            let Some(last) = batch.last_activity_at.max(batch.started_at) else { continue };
            if session.alive {
                // It is not asked when that changes; the next look is a minute away.
                due.insert(now + settings.every);
            } else if last + settings.stuck <= now {
                let mut over = Batch::new(Arc::clone(&batch.id));
                over.ended = Some(Ended { status: BatchStatus::Completed, at: last, error: None });
                recovery
                    .put_right
                    .push(Recovered::StuckBatch { session: Arc::clone(&session.id), batch: over });
            } else {
                due.insert(last + settings.stuck);
            }
        }
        if let (true, false, Some(last)) = (session.open, session.alive, session.last_activity_at) {
            if last + settings.stale <= now {
                let session = Arc::clone(&session.id);
                recovery.put_right.push(Recovered::StaleSession { session, last_activity_at: last });
            } else {
                due.insert(last + settings.stale);
            }
        }
        adopt(session, &mut recovery.put_right);
    }
    recovery.next = due.first().map(|due| (*due).max(now + settings.every));
    recovery
}

fn is_open(batch: &Batch) -> bool {
    batch.ended.as_ref().is_none_or(|ended| ended.status == BatchStatus::Active)
}

fn adopt(session: &SessionView, put_right: &mut Vec<Recovered>) {
    let mut begun: BTreeMap<Timestamp, &BatchId> = BTreeMap::new();
    for batch in &session.batches {
        begun.entry(batch.started_at.unwrap_or_default()).or_insert(&batch.id);
    }
    let mut made_up: Option<Batch> = None;
    let mut adopted = Vec::new();
    for orphan in &session.orphans {
        let at = orphan.at.or(orphan.ended_at);
        // The one that ran at the time; for what came before all of them, the first.
        let nearest = match at {
            Some(at) => begun.range(..=at).next_back().or_else(|| begun.iter().next()),
            None => begun.iter().next_back(),
        };
        let batch = match nearest {
            Some((_, id)) => Arc::clone(id),
            None => {
                let made_up = made_up.get_or_insert_with(|| Batch::new(MADE_UP.into()));
                let mut told = Batch::new(MADE_UP.into());
                (told.started_at, told.last_activity_at) = (at, at);
                told.ended = at.map(|at| Ended { status: BatchStatus::Completed, at, error: None });
                made_up.merge(&told);
                MADE_UP.into()
            }
        };
        let (session, call) = (Arc::clone(&session.id), Arc::clone(&orphan.id));
        adopted.push(Recovered::OrphanedActivity { session, call, batch });
    }
    put_right.extend(made_up.map(|batch| Recovered::MadeUpBatch { session: Arc::clone(&session.id), batch }));
    put_right.extend(adopted);
}
