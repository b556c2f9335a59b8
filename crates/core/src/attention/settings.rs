//! What the person wants to be told of, and when not, as plain values.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use jiff::tz::TimeZone;

use crate::attention::need::Need;
use crate::ids::SessionId;
use crate::time::{Millis, Timestamp};

/// How long a need must last before it is told, unless the person chose otherwise.
pub const ALERT_DWELL: Millis = Millis::from_secs(2);
/// Minutes of a day.
const DAY: u16 = 24 * 60;
/// So many spans one after another are taken for a quiet that never ends.
const STEPS: usize = 32;

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
        let minute = self.minute_of_day(time);
        self.quiet.iter().any(|hours| hours.holds(minute))
    }

    /// The first time from then on that is not quiet; `None` when the whole day is.
    pub fn quiet_until(&self, from: Timestamp) -> Option<Timestamp> {
        let mut at = from;
        // Spans may meet or overlap, and a change of the clock may lie within: each step ends one of these.
        for _ in 0..STEPS {
            if !self.is_quiet(at) {
                return Some(at);
            }
            let time = jiff::Timestamp::from_millisecond(at.as_millis()).ok()?;
            let minute = self.minute_of_day(time);
            let lasts = self
                .quiet
                .iter()
                .filter(|hours| hours.holds(minute))
                .map(|hours| hours.lasts(minute))
                .max()?;
            let minute_began = at.as_millis() - at.as_millis().rem_euclid(60_000);
            let end = minute_began + i64::from(lasts) * 60_000;
            let change = self.zone.following(time).next().map(|change| change.timestamp().as_millisecond());
            at = Timestamp::from_millis(change.map_or(end, |change| end.min(change)));
        }
        None
    }

    fn minute_of_day(&self, time: jiff::Timestamp) -> u16 {
        let local = self.zone.to_datetime(time);
        u16::from(local.hour().unsigned_abs()) * 60 + u16::from(local.minute().unsigned_abs())
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

    /// How many minutes are left of it at a minute that it holds.
    const fn lasts(self, minute: u16) -> u16 {
        if minute < self.to { self.to - minute } else { self.to + DAY - minute }
    }
}
