//! The rooms of one engine, for the functions of a step.

use std::collections::BTreeMap;

use watchbill_core::ids::SessionId;
use watchbill_core::requests::open::{Asked, OpenRequests};
use watchbill_core::time::Timestamp;
use watchbill_core::user::UserEdits;

use crate::model::alerting::Alerting;
use crate::model::chain_state::ChainState;
use crate::model::distant::Distant;
use crate::model::first_scan_progress::FirstScanProgress;
use crate::model::problem_report::ProblemReport;
use crate::model::rows::Rows;
use crate::model::schedule::Schedule;
use crate::model::sessions::Sessions;
use crate::model::work::WorkCount;
use crate::persist::evict::Eviction;
use crate::persist::pending::Pending;
use crate::witnesses::Witnesses;
use crate::witnesses::own::OwnSessions;
use crate::witnesses::status_lines::StatusLines;
use crate::world::environment::{Outlook, Sources, StepContext};
use watchbill_settings::Settings;

/// Each room owns its private state. The doc of its type has more.
pub(super) struct Rooms {
    pub env: StepContext,
    pub witnesses: Witnesses,
    /// What the clients say in their status lines.
    pub status_lines: StatusLines,
    /// Sessions of our own.
    pub own: OwnSessions,
    pub sessions: Sessions,
    pub chains: ChainState,
    pub rows: Rows,
    pub distant: Distant,
    pub evicted: Eviction,
    /// The user edits in force.
    pub user_edits: UserEdits,
    /// The open requests of sessions.
    pub requests: OpenRequests,
    /// The open requests, if another program holds the store.
    pub holder_requests: BTreeMap<SessionId, Asked>,
    pub pending: Pending,
    pub problems: ProblemReport,
    pub alerting: Alerting,
    pub schedule: Schedule,
    pub startup: FirstScanProgress,
    pub work: WorkCount,
}

impl Rooms {
    /// Rooms without any data.
    pub fn new(settings: Settings, world: Sources, outlook: Outlook, now: Timestamp) -> Self {
        Self {
            rows: Rows::new(settings.recent),
            alerting: Alerting::new(settings.alerts.attention.clone()),
            env: StepContext::new(settings, world, outlook, now),
            witnesses: Witnesses::default(),
            status_lines: StatusLines::default(),
            own: OwnSessions::default(),
            sessions: Sessions::default(),
            chains: ChainState::default(),
            distant: Distant::default(),
            evicted: Eviction::default(),
            user_edits: UserEdits::default(),
            requests: OpenRequests::default(),
            holder_requests: BTreeMap::default(),
            pending: Pending::default(),
            problems: ProblemReport::default(),
            schedule: Schedule::default(),
            startup: FirstScanProgress::default(),
            work: WorkCount::default(),
        }
    }
}
