//! The user's alert settings as plain values.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use jiff::tz::TimeZone;

use crate::attention::need::Need;
use crate::ids::SessionId;
use crate::time::{Millis, Timestamp};

/// How long a need must last before it is reported, by default.
pub const ALERT_DWELL: Millis = Millis::from_secs(2);
/// How much of a plan's limit is used before that is reported, by default, in percent.
pub const LIMIT: u32 = 90;
/// Minutes of a day.
const DAY: u16 = 24 * 60;
/// After this many spans in a row, the quiet counts as endless.
const STEPS: usize = 32;

/// The user's choices. By default every observed need raises an alert, and a single refused call does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttentionSettings {
    /// Kinds that raise an alert.
    pub kinds: BTreeSet<Need>,
    /// Report a plan's limit once in its span when so much of it is used, in percent; 0: never.
    pub limit: u32,
    /// Also report permissions that are inferred from silence. Without registry and hooks, a long command looks the
    /// same.
    pub inferred: bool,
    /// How long a need must last before it is reported.
    pub dwell: Millis,
    /// No alerts in these hours.
    pub quiet: Vec<QuietHours>,
    /// The time zone of the quiet hours. It holds rules, so that summer time needs no change here.
    pub zone: TimeZone,
    /// Projects that never raise an alert, as names or folders. A folder stands for everything below it.
    pub muted_projects: BTreeSet<Arc<str>>,
    /// Sessions that never raise an alert.
    pub muted_sessions: BTreeSet<SessionId>,
}

impl Default for AttentionSettings {
    fn default() -> Self {
        Self {
            kinds: Need::ALL.into_iter().filter(|need| *need != Need::Refused).collect(),
            limit: LIMIT,
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
    /// Whether this time lies in quiet hours.
    pub fn is_quiet(&self, at: Timestamp) -> bool {
        if self.quiet.is_empty() {
            return false;
        }
        let Ok(time) = jiff::Timestamp::from_millisecond(at.as_millis()) else { return false };
        let minute = self.minute_of_day(time);
        self.quiet.iter().any(|hours| hours.contains_minute(minute))
    }

    /// The first time, from `from` on, outside quiet hours; `None` when the whole day is quiet.
    pub fn quiet_until(&self, from: Timestamp) -> Option<Timestamp> {
        let mut at = from;
        // Spans may meet or overlap, and a clock change may lie within. Each step passes one of these.
        for _ in 0..STEPS {
            if !self.is_quiet(at) {
                return Some(at);
            }
            let time = jiff::Timestamp::from_millisecond(at.as_millis()).ok()?;
            let minute = self.minute_of_day(time);
            let lasts = self
                .quiet
                .iter()
                .filter(|hours| hours.contains_minute(minute))
                .map(|hours| hours.minutes_left(minute))
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

    /// Whether a project is muted, by its name or by a folder that holds it.
    pub fn is_muted_project(&self, project: &str) -> bool {
        self.muted_projects.contains(project)
            || self.muted_projects.iter().any(|muted| {
                let folder = Path::new(&**muted);
                folder.is_absolute() && Path::new(project).starts_with(folder)
            })
    }
}

/// A daily span, in the user's time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuietHours {
    /// First quiet minute, counted from midnight.
    pub from: u16,
    /// First minute after the span. If it is before `from`, it lies in the next day. If both are equal, it is never
    /// quiet.
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

    /// Whether this minute of the day lies in the span.
    pub const fn contains_minute(self, minute: u16) -> bool {
        if self.from <= self.to {
            self.from <= minute && minute < self.to
        } else {
            minute >= self.from || minute < self.to
        }
    }

    /// How many minutes of the span are left at a minute inside it.
    const fn minutes_left(self, minute: u16) -> u16 {
        if minute < self.to { self.to - minute } else { self.to + DAY - minute }
    }
}
