//! What the person wants to be told of, and when not, as plain values.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use jiff::tz::TimeZone;

use crate::attention::need::Need;
use crate::attention::policy::ALERT_DWELL;
use crate::ids::SessionId;
use crate::time::{Millis, Timestamp};

/// The person's choices. The defaults tell of everything that was observed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttentionSettings {
    /// Kinds that are told of.
    pub kinds: BTreeSet<Need>,
    /// Also tell of permissions that only silence suggests: without registry and hooks a long command looks the same.
    pub inferred: bool,
    /// How long a need must last before it is told.
    pub dwell: Millis,
    /// No alerts in these hours.
    pub quiet: Vec<QuietHours>,
    /// Whose clock the quiet hours go by: rules as a value, so that summer time comes by itself.
    pub zone: TimeZone,
    /// Projects that are never told of: their names, or folders, which stand for everything below them.
    pub muted_projects: BTreeSet<Arc<str>>,
    /// Sessions that are never told of.
    pub muted_sessions: BTreeSet<SessionId>,
}

impl Default for AttentionSettings {
    fn default() -> Self {
        Self {
            kinds: Need::ALL.into_iter().collect(),
            inferred: false,
            dwell: ALERT_DWELL,
            quiet: Vec::new(),
            zone: TimeZone::UTC,
            muted_projects: BTreeSet::new(),
            muted_sessions: BTreeSet::new(),
        }
    }
}

impl AttentionSettings {
    /// Whether it is quiet at this time.
    pub fn is_quiet(&self, at: Timestamp) -> bool {
        if self.quiet.is_empty() {
            return false;
        }
        let Ok(time) = jiff::Timestamp::from_millisecond(at.as_millis()) else { return false };
        let local = self.zone.to_datetime(time);
        let minute = u16::from(local.hour().unsigned_abs()) * 60 + u16::from(local.minute().unsigned_abs());
        self.quiet.iter().any(|hours| hours.holds(minute))
    }

    /// Whether a project is never told of, by its name or by a folder that holds it.
    pub fn mutes(&self, project: &str) -> bool {
        self.muted_projects.contains(project)
            || self.muted_projects.iter().any(|muted| {
                let folder = Path::new(&**muted);
                folder.is_absolute() && Path::new(project).starts_with(folder)
            })
    }
}

/// A daily span, in the person's own time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuietHours {
    /// First quiet minute, counted from midnight.
    pub from: u16,
    /// First minute that is quiet no more; before `from` it is one of the next day. Equal to `from` it means: never quiet.
    pub to: u16,
}

impl QuietHours {
    /// Reads `22:00-07:00`; hours go to 24:00. `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let minute = |text: &str| {
            let (hour, minute) = text.trim().split_once(':')?;
            if hour.len() > 2 || minute.len() != 2 {
                return None;
            }
            let (hour, minute) = (hour.parse::<u8>().ok()?, minute.parse::<u8>().ok()?);
            let whole = hour < 24 || (hour, minute) == (24, 0);
            (whole && minute < 60).then(|| u16::from(hour) * 60 + u16::from(minute))
        };
        let (from, to) = text.split_once('-')?;
        Some(Self { from: minute(from)?, to: minute(to)? })
    }

    /// Whether this minute of the day is within.
    pub const fn holds(self, minute: u16) -> bool {
        if self.from <= self.to {
            self.from <= minute && minute < self.to
        } else {
            minute >= self.from || minute < self.to
        }
    }
}
