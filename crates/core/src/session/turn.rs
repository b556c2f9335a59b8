//! What the machine may ask of a session, and when silence will mean something: the source document's three timeouts.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::session::background::Running;
use crate::session::pending::PendingTools;
use crate::session::state::{State, StateKind, Timeouts};
use crate::time::{Millis, Timestamp};

/// For so long a question or plan is open where only the transcript speaks: as long as the roster shows such a session
/// without being asked for all.
const QUESTION_LASTS: Millis = Millis::from_secs(24 * 3600);

/// What the machine may ask of the session while it handles an event.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Turn {
    /// The document's timeouts. Settings, so that they are no part of a snapshot.
    #[serde(skip)]
    pub timeouts: Timeouts,
    /// Tool calls without a result.
    pub pending: PendingTools,
    /// Subagents that run by themselves, as their launches and notifications tell.
    pub agents: Running,
    /// Subagents that the client itself counted at the end of the turn.
    pub announced_agents: u32,
    /// Time of the newest record that is activity.
    pub last_activity: Option<Timestamp>,
    /// Time at which background work has last ended: a notice is on its way.
    pub stirred_at: Option<Timestamp>,
    /// Time at which a subagent has last written something into its own file.
    pub agents_at: Option<Timestamp>,
    /// The request is being tried again.
    pub retry: Option<Retry>,
    /// What the last failure said, one line.
    pub failure: Option<Arc<str>>,
}

/// A retry that the client announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Retry {
    /// Which attempt it is.
    pub attempt: Option<u32>,
    /// How many there will be.
    pub max: Option<u32>,
    /// HTTP status of the failure.
    pub status: Option<u16>,
    /// When it will be tried: silence until then says nothing.
    pub due: Timestamp,
}

impl Turn {
    /// A session of which nothing is known yet.
    pub fn new(timeouts: Timeouts) -> Self {
        Self {
            timeouts,
            pending: PendingTools::default(),
            agents: Running::default(),
            announced_agents: 0,
            last_activity: None,
            stirred_at: None,
            agents_at: None,
            retry: None,
            failure: None,
        }
    }

    /// The newest sign of life that is no activity of this file.
    fn stirred(&self) -> Option<Timestamp> {
        self.stirred_at.max(self.agents_at)
    }

    /// Subagents that run by themselves: our count or the client's, whichever knows of more.
    pub fn agents_running(&self) -> u32 {
        self.agents.count().max(self.announced_agents)
    }

    /// The person is asked: for certain, or because a call that may ask has been silent for too long.
    pub fn asked(&self, now: Timestamp) -> Option<(StateKind, bool)> {
        let certain = self.pending.asking().map(|kind| (kind, false));
        certain.or_else(|| past(self.permission_at(), now).then_some((StateKind::Permission, true)))
    }

    /// `APPROVAL_TIMEOUT_MS`: when a silent call will be taken for a question. While a request is tried again nobody is
    /// asked: it could not have been made before every call had its result.
    pub fn permission_at(&self) -> Option<Timestamp> {
        if self.retry.is_some() {
            return None;
        }
        self.pending.suspect_since().map(|since| since + self.timeouts.approval)
    }

    /// `STALE_TIMEOUT_MS`: when a silent turn will be taken for ended. A call without a result explains the silence,
    /// so do subagents, and a retry says itself how long it will be.
    pub fn stale_at(&self, kind: Option<StateKind>) -> Option<Timestamp> {
        if !self.pending.is_empty() || (kind == Some(StateKind::Background) && self.agents_running() > 0) {
            return None;
        }
        let quiet_since = self.last_activity.max(self.stirred()).max(self.retry.map(|retry| retry.due))?;
        Some(quiet_since + self.timeouts.stale)
    }

    /// `IDLE_TIMEOUT_MS`: when the session that has been in this state since then will be idle. While work goes on in a
    /// subagent's file, that is activity as well.
    pub fn idle_at(&self, state: State, since: Option<Timestamp>) -> Option<Timestamp> {
        let stirred_at = self.stirred().filter(|_| state == State::Working);
        Some(self.last_activity.max(stirred_at).or(since)? + self.idle_after(state))
    }

    /// How long silence must last. A question or plan proves by its record that it is open, and silence does not answer it;
    /// but no record tells that its process was killed.
    pub fn idle_after(&self, state: State) -> Millis {
        let idle = self.timeouts.idle;
        let asks = state == State::WaitingForApproval && self.pending.asking().is_some();
        if asks { idle.max(QUESTION_LASTS) } else { idle }
    }
}

/// Whether a deadline has come.
pub(crate) fn past(deadline: Option<Timestamp>, now: Timestamp) -> bool {
    deadline.is_some_and(|deadline| deadline <= now)
}
