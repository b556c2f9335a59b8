//! Recovery: ends the turns and sessions of a killed client, and gives calls without a turn to one.
//!
//! Rules and limits come from the source document on prompt batches. Later facts undo a recovery: a turn that
//! counts as over goes on with its next record, because a later report of a batch replaces an earlier one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::rows::{Activity, Batch, BatchId, BatchStatus, Ended};
use crate::time::{Millis, Timestamp};

/// The limits of the source document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecoverySettings {
    /// A turn is over after this long without a sign of it.
    pub stuck: Millis,
    /// A session is over after this long without a sign of it.
    pub stale: Millis,
    /// Shortest time between two checks, while something is open.
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
    /// The agent's id of the session.
    pub id: Arc<str>,
    /// The store holds it as a session that goes on.
    pub open: bool,
    /// A process is known to run it. Then its silence does not end it.
    pub lives: bool,
    /// That process reports a turn that runs or waits for the user. Then silence does not end the turn either.
    pub turn_runs: bool,
    /// Time of its newest sign.
    pub last_activity_at: Option<Timestamp>,
    /// Turns that have not ended, and turns that calls without a turn may belong to.
    pub batches: Vec<Batch>,
    /// Calls that belong to no turn.
    pub orphans: Vec<Activity>,
}

/// One correction.
#[derive(Debug, Clone, PartialEq, Eq, strum_macros::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Correction {
    /// A turn without a sign is over, since its last sign.
    StuckBatch {
        /// The session.
        session: Arc<str>,
        /// To be merged with the stored row.
        batch: Batch,
    },
    /// A session without a sign is over.
    StaleSession {
        /// The session.
        session: Arc<str>,
        /// Time of its last sign.
        last_activity_at: Timestamp,
    },
    /// A call without a turn goes to the nearest turn.
    OrphanedActivity {
        /// The session.
        session: Arc<str>,
        /// The call.
        call: Arc<str>,
        /// The turn.
        batch: BatchId,
    },
    /// The session has no turn for its calls, so one is made up.
    #[strum(serialize = "made_up_batch")]
    RecoveredBatch {
        /// The session.
        session: Arc<str>,
        /// To be stored.
        batch: Batch,
    },
}

impl Correction {
    /// The session that it corrects.
    pub fn session(&self) -> &Arc<str> {
        match self {
            Self::StuckBatch { session, .. }
            | Self::StaleSession { session, .. }
            | Self::OrphanedActivity { session, .. }
            | Self::RecoveredBatch { session, .. } => session,
        }
    }

    /// A sentence for the log.
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
            Self::RecoveredBatch { .. } => {
                "calls belonged to no prompt, so a prompt was made up for them".to_owned()
            }
        }
    }
}

/// The corrections that are due, and the time of the next check.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recovery {
    /// The corrections, in a stable order.
    pub corrections: Vec<Correction>,
    /// `None` if nothing can get stuck before the next event.
    pub next: Option<Timestamp>,
}

/// Id of a turn that is made up for calls without a turn.
const RECOVERED_ID: &str = "recovered";

/// Checks all sessions that have something open.
pub fn recover(sessions: &[SessionView], settings: RecoverySettings, now: Timestamp) -> Recovery {
    let mut recovery = Recovery::default();
    let mut due: BTreeSet<Timestamp> = BTreeSet::new();
    for session in sessions {
        for batch in session.batches.iter().filter(|batch| is_open(batch)) {
            let Some(last) = batch.last_activity_at.max(batch.started_at) else { continue };
            if session.turn_runs {
                // Recovery does not run when that changes, so it checks again after `every`.
                due.insert(now + settings.every);
            } else if last + settings.stuck <= now {
                let mut over = Batch::new(Arc::clone(&batch.id));
                over.ended = Some(Ended { status: BatchStatus::Completed, at: last, error: None });
                recovery
                    .corrections
                    .push(Correction::StuckBatch { session: Arc::clone(&session.id), batch: over });
            } else {
                due.insert(last + settings.stuck);
            }
        }
        if let (true, false, Some(last)) = (session.open, session.lives, session.last_activity_at) {
            if last + settings.stale <= now {
                let session = Arc::clone(&session.id);
                recovery.corrections.push(Correction::StaleSession { session, last_activity_at: last });
            } else {
                due.insert(last + settings.stale);
            }
        }
        adopt(session, &mut recovery.corrections);
    }
    recovery.next = due.first().map(|due| (*due).max(now + settings.every));
    recovery
}

fn is_open(batch: &Batch) -> bool {
    batch.ended.as_ref().is_none_or(|ended| ended.status == BatchStatus::Active)
}

fn adopt(session: &SessionView, put_right: &mut Vec<Correction>) {
    let mut begun: BTreeMap<Timestamp, &BatchId> = BTreeMap::new();
    for batch in &session.batches {
        begun.entry(batch.started_at.unwrap_or_default()).or_insert(&batch.id);
    }
    let mut recovered: Option<Batch> = None;
    let mut adopted = Vec::new();
    for orphan in &session.orphans {
        let at = orphan.at.or(orphan.ended_at);
        // The turn that ran at that time; for a call before all turns, the first one.
        let nearest = match at {
            Some(at) => begun.range(..=at).next_back().or_else(|| begun.iter().next()),
            None => begun.iter().next_back(),
        };
        let batch = match nearest {
            Some((_, id)) => Arc::clone(id),
            None => {
                let recovered = recovered.get_or_insert_with(|| Batch::new(RECOVERED_ID.into()));
                let mut batch = Batch::new(RECOVERED_ID.into());
                (batch.started_at, batch.last_activity_at) = (at, at);
                batch.ended = at.map(|at| Ended { status: BatchStatus::Completed, at, error: None });
                recovered.merge(&batch);
                RECOVERED_ID.into()
            }
        };
        let (session, call) = (Arc::clone(&session.id), Arc::clone(&orphan.id));
        adopted.push(Correction::OrphanedActivity { session, call, batch });
    }
    put_right.extend(
        recovered.map(|batch| Correction::RecoveredBatch { session: Arc::clone(&session.id), batch }),
    );
    put_right.extend(adopted);
}
