//! Points in time as wall-clock milliseconds. This crate never reads a clock.

use std::fmt;
use std::ops::{Add, Sub};

use jiff::Zoned;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

/// Milliseconds since the Unix epoch, UTC.
///
/// Wall-clock, because transcripts carry wall-clock times and a monotonic clock stops during suspend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The point `millis` milliseconds after the Unix epoch.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the Unix epoch.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// The first time that RFC 3339 can express: the beginning of the year 0.
    const FIRST: i64 = -62_167_219_200_000;
    /// The last time that RFC 3339 can express in every time zone: about a day before the end of the year 9999.
    const LAST: i64 = 253_402_207_200_000;

    /// The day in a time zone, such as `2026-11-20`.
    pub fn day(self, zone: &TimeZone) -> String {
        self.zoned(zone).date().to_string()
    }

    /// The beginning of its day in a time zone.
    pub fn begin_of_day(self, zone: &TimeZone) -> Self {
        self.begin_of(zone, Ok)
    }

    /// The beginning of the next day in a time zone.
    pub fn next_day(self, zone: &TimeZone) -> Self {
        self.begin_of(zone, Date::tomorrow)
    }

    fn begin_of(self, zone: &TimeZone, of: fn(Date) -> Result<Date, jiff::Error>) -> Self {
        let begin = of(self.zoned(zone).date()).and_then(|date| date.to_zoned(zone.clone()));
        begin.map_or(self, |begin| Self(begin.timestamp().as_millisecond()))
    }

    /// The time in a zone. A time outside the range of RFC 3339 becomes its nearest end.
    fn zoned(self, zone: &TimeZone) -> Zoned {
        let within = self.0.clamp(Self::FIRST, Self::LAST);
        jiff::Timestamp::from_millisecond(within).unwrap_or_default().to_zoned(zone.clone())
    }

    /// Whether RFC 3339 can express the time. The sum of a time and a span may lie outside its range.
    pub const fn is_in_range(self) -> bool {
        Self::FIRST <= self.0 && self.0 <= Self::LAST
    }

    /// Reads an RFC 3339 time; `None` for anything else.
    ///
    /// Every client writes `2026-11-20T15:30:52.694Z`, which a fast path reads without a parser. Offsets, other
    /// precisions and lower case go through jiff.
    pub fn parse(text: &str) -> Option<Self> {
        Self::parse_usual(text.as_bytes())
            .or_else(|| text.parse::<jiff::Timestamp>().ok().map(|t| Self(t.as_millisecond())))
            .filter(|at| at.is_in_range())
    }

    fn parse_usual(b: &[u8]) -> Option<Self> {
        if b.len() != 24
            || b[4] != b'-'
            || b[7] != b'-'
            || b[10] != b'T'
            || b[13] != b':'
            || b[16] != b':'
            || b[19] != b'.'
            || b[23] != b'Z'
        {
            return None;
        }
        let number = |range: std::ops::Range<usize>| {
            b[range].iter().try_fold(0i64, |n, d| d.is_ascii_digit().then(|| n * 10 + i64::from(d - b'0')))
        };
        let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
        let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
        if !(1..=12).contains(&month) || !(1..=28).contains(&day) || hour > 23 || minute > 59 || second > 59 {
            // The last days of a month and leap seconds are rare enough for the slow path.
            return None;
        }
        // Days from the civil calendar, with March as the first month so that the leap day comes last.
        let y = if month <= 2 { year - 1 } else { year };
        let era = y.div_euclid(400);
        let year_of_era = y.rem_euclid(400);
        let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        let days = era * 146_097 + day_of_era - 719_468;
        Some(Self((((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + number(20..23)?))
    }

    /// The span from `earlier` to `self`, zero when `earlier` is later.
    pub fn since(self, earlier: Self) -> Millis {
        Millis(self.0.saturating_sub(earlier.0).max(0))
    }
}

/// RFC 3339 in UTC with milliseconds, the only form that leaves the process. A time outside its range is written as
/// the nearest time inside.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0.clamp(Self::FIRST, Self::LAST)) {
            Ok(t) => write!(f, "{t:.3}"),
            Err(_) => f.write_str("1970-01-01T00:00:00.000Z"),
        }
    }
}

/// A span of milliseconds, never negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Millis(pub i64);

impl Millis {
    /// A span of whole seconds.
    pub const fn from_secs(secs: i64) -> Self {
        Self(secs * 1000)
    }
}

impl Add<Millis> for Timestamp {
    type Output = Self;
    fn add(self, span: Millis) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl Sub<Millis> for Timestamp {
    type Output = Self;
    fn sub(self, span: Millis) -> Self {
        Self(self.0.saturating_sub(span.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_form_agrees_with_the_general_parser() {
        for text in [
            "2026-11-20T15:30:52.694Z",
            "2000-02-28T23:59:59.999Z",
            "2024-02-29T00:00:00.000Z",
            "1970-01-01T00:00:00.000Z",
            "2026-12-31T12:00:00.001Z",
            "2026-03-01T00:00:00.000Z",
        ] {
            let general = text.parse::<jiff::Timestamp>().expect("valid").as_millisecond();
            assert_eq!(Timestamp::parse(text), Some(Timestamp::from_millis(general)), "{text}");
            assert_eq!(Timestamp::parse(text).map(|t| t.to_string()).as_deref(), Some(text));
        }
    }

    #[test]
    fn other_legal_forms_are_read_and_nonsense_is_not() {
        assert_eq!(
            Timestamp::parse("2026-01-11T18:00:00+01:00"),
            Timestamp::parse("2026-01-11T17:00:00.000Z")
        );
        assert_eq!(Timestamp::parse("2026-02-30T00:00:00.000Z"), None);
        assert_eq!(Timestamp::parse("yesterday"), None);
        assert_eq!(Timestamp::parse(""), None);
    }

    #[test]
    fn times_outside_rfc_3339_are_clamped() {
        // A registry file may hold any number.
        let (first, last) = (Timestamp::from_millis(i64::MIN), Timestamp::from_millis(i64::MAX));
        assert_eq!(last.since(first), Millis(i64::MAX));
        assert_eq!(first.since(last), Millis(0));
        assert_eq!(first.to_string(), "0000-01-01T00:00:00.000Z");
        assert_eq!(last.to_string(), "9999-12-30T22:00:00.000Z");
        for edge in [first, last] {
            assert!(!edge.is_in_range());
            assert!(Timestamp::parse(&edge.to_string()).is_some_and(Timestamp::is_in_range), "{edge}");
        }
        for text in ["-000001-12-31T00:00:00Z", "+010000-01-01T00:00:00Z", "9999-12-31T23:59:59.000Z"] {
            assert_eq!(Timestamp::parse(text), None, "{text}");
        }
    }
}
