//! What the person wants to be told of, and when not, as plain values.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::attention::need::Need;
use crate::ids::SessionId;
use crate::time::Timestamp;

/// The person's choices. The defaults tell of everything that was observed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttentionSettings {
    /// Kinds that are told of.
    pub kinds: BTreeSet<Need>,
    /// Also tell of permissions that only silence suggests: without registry and hooks a long command looks the same.
    pub inferred: bool,
    /// No alerts in these hours.
    pub quiet: Option<QuietHours>,
    /// No alerts until then ("mute for an hour").
    pub muted_until: Option<Timestamp>,
    /// Projects that are never told of: their names, or top folders, as the row has them.
    pub muted_projects: BTreeSet<Arc<str>>,
    /// Sessions that are never told of.
    pub muted_sessions: BTreeSet<SessionId>,
}

impl Default for AttentionSettings {
    fn default() -> Self {
        Self {
            kinds: Need::ALL.into_iter().collect(),
            inferred: false,
            quiet: None,
            muted_until: None,
            muted_projects: BTreeSet::new(),
            muted_sessions: BTreeSet::new(),
        }
    }
}

/// A daily span, in the person's own time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuietHours {
    /// First quiet minute, counted from midnight.
    pub from: u16,
    /// First minute that is quiet no more; before `from` it is one of the next day. Equal to `from` it means: never quiet.
    pub to: u16,
    /// How far the person's clock is ahead of UTC, in minutes; whoever knows the time zone keeps it right.
    pub utc_offset: i16,
}

impl QuietHours {
    /// Whether it is quiet at this time.
    pub fn holds(&self, at: Timestamp) -> bool {
        const DAY: i64 = 24 * 60;
        let minute = (at.as_millis().div_euclid(60_000) + i64::from(self.utc_offset)).rem_euclid(DAY);
        let (from, to) = (i64::from(self.from), i64::from(self.to));
        if from <= to { (from..to).contains(&minute) } else { minute >= from || minute < to }
    }
}
