//! The facts of a session that the machine reads, and when silence will mean something: the source document's three
//! timeouts.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::session::background::BackgroundWork;
use crate::session::pending::PendingTools;
use crate::session::state::{State, StateKind, Timeouts};
use crate::time::{Millis, Timestamp};

/// How long a question, a plan, or a request that a transcript tells counts as open if that is the only witness. The default roster
/// shows such a session for the same time.
pub const QUESTION_LASTS: Millis = Millis::from_secs(24 * 3600);

/// How long a compaction may last without an event. The agent writes nothing while it runs; big contexts take
/// minutes.
pub const COMPACTION_LASTS: Millis = Millis::from_secs(600);

/// The facts of a session that the machine reads while it handles an event.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Turn {
    /// The source document's timeouts. They are settings, so a snapshot does not hold them.
    #[serde(skip)]
    pub timeouts: Timeouts,
    /// Tool calls without a result.
    pub pending: PendingTools,
    /// Subagents that run by themselves, counted from their launches and notifications.
    pub agents: BackgroundWork,
    /// Subagents that the agent itself counted at the end of the turn.
    pub announced_agents: u32,
    /// Time of the newest record that is activity.
    pub last_activity: Option<Timestamp>,
    /// When background work last ended: a notice is on its way.
    pub outside_activity_at: Option<Timestamp>,
    /// When a subagent last wrote into its own file.
    pub agents_at: Option<Timestamp>,
    /// The request is being tried again.
    pub retry: Option<Retry>,
    /// A compaction runs while no turn does. No answer follows it.
    pub compacts_alone: bool,
    /// The text of the last failure, one line.
    pub failure: Option<Arc<str>>,
    /// The prompt is private as a whole: no text of the turn is kept.
    pub private: bool,
}

/// A retry that the agent announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Retry {
    /// Which attempt it is.
    pub attempt: Option<u32>,
    /// How many there will be.
    pub max: Option<u32>,
    /// HTTP status of the failure.
    pub status: Option<u16>,
    /// When it will be tried. Silence until then means nothing.
    pub due: Timestamp,
}

impl Turn {
    /// A session without records.
    pub fn new(timeouts: Timeouts) -> Self {
        Self {
            timeouts,
            pending: PendingTools::default(),
            agents: BackgroundWork::default(),
            announced_agents: 0,
            last_activity: None,
            outside_activity_at: None,
            agents_at: None,
            retry: None,
            compacts_alone: false,
            failure: None,
            private: false,
        }
    }

    /// The newest sign of life that is no activity of this file.
    fn last_outside_sign(&self) -> Option<Timestamp> {
        self.outside_activity_at.max(self.agents_at)
    }

    /// Subagents that run by themselves: our count or the agent's, the greater of the two.
    pub fn agents_running(&self) -> u32 {
        self.agents.count().max(self.announced_agents)
    }

    /// What the user is asked, and whether it is only inferred, because a call that may ask has been silent for too
    /// long.
    pub fn asked(&self, now: Timestamp) -> Option<(StateKind, bool)> {
        let certain = self.pending.open_question_kind().map(|kind| (kind, false));
        certain.or_else(|| past(self.permission_at(), now).then_some((StateKind::Permission, true)))
    }

    /// `APPROVAL_TIMEOUT_MS`: when a silent call counts as a question. During a retry the agent asks nothing: it
    /// sends a request only after every call has its result.
    pub fn permission_at(&self) -> Option<Timestamp> {
        if self.retry.is_some() {
            return None;
        }
        self.pending.suspect_since().map(|since| since + self.timeouts.approval)
    }

    /// `STALE_TIMEOUT_MS`: when a silent turn counts as ended. A call without a result explains the silence, and so
    /// do subagents. A retry announces its own length, and a compaction may last.
    pub fn stale_at(&self, kind: Option<StateKind>) -> Option<Timestamp> {
        if !self.pending.is_empty() || (kind == Some(StateKind::Background) && self.agents_running() > 0) {
            return None;
        }
        let quiet_since =
            self.last_activity.max(self.last_outside_sign()).max(self.retry.map(|retry| retry.due))?;
        let compacts = kind == Some(StateKind::Compacting);
        Some(quiet_since + if compacts { COMPACTION_LASTS } else { self.timeouts.stale })
    }

    /// `IDLE_TIMEOUT_MS`: when a session that has been in this state since then becomes idle. While it works,
    /// writes to a subagent's file count as activity as well.
    pub fn idle_at(&self, state: State, since: Option<Timestamp>) -> Option<Timestamp> {
        let outside_activity_at = self.last_outside_sign().filter(|_| state == State::Working);
        Some(self.last_activity.max(outside_activity_at).or(since)? + self.idle_after(state))
    }

    /// How long silence must last. The record of a question or plan proves that it is open, and silence does not
    /// answer it. But no record reports that its process was killed.
    pub fn idle_after(&self, state: State) -> Millis {
        let idle = self.timeouts.idle;
        let asks = state == State::WaitingForApproval && self.pending.open_question_kind().is_some();
        if asks { idle.max(QUESTION_LASTS) } else { idle }
    }
}

/// Whether a deadline has come.
pub(crate) fn past(deadline: Option<Timestamp>, now: Timestamp) -> bool {
    deadline.is_some_and(|deadline| deadline <= now)
}
