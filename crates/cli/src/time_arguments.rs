//! Points in time as users write them: a time, a date, or a span.

use watchbill_engine::Timestamp;

/// The time that the text means. A date begins in the user's time zone; a span is counted back from now.
///
/// # Errors
/// When the text is none of these. The message lists the valid forms.
pub fn parse(text: &str) -> anyhow::Result<Timestamp> {
    let at = parse_at(text, &jiff::Zoned::now()).ok_or_else(|| {
        anyhow::anyhow!(
            "`{text}` is not a time; expected a date (2026-11-20), a time (2026-11-20T15:30:00Z) or a span (36h, 7d)"
        )
    })?;
    in_range(text, at)
}

/// The same for the value of an option: the error is text.
///
/// # Errors
/// As [`parse`].
pub fn parse_time(text: &str) -> Result<Timestamp, String> {
    parse(text).map_err(|error| error.to_string())
}

/// The future time that the text means. A span is counted from now; a clock time is the next such time in the user's
/// time zone.
///
/// # Errors
/// When the text is none of these. The message lists the valid forms.
pub fn parse_coming(text: &str) -> anyhow::Result<Timestamp> {
    let at = coming(text, &jiff::Zoned::now()).ok_or_else(|| {
        anyhow::anyhow!(
            "`{text}` is not a time to come; expected a span (15m, 1h, 2d), a clock time (15:00), a date (2026-11-20) or a time \
             (2026-11-20T15:30:00Z)"
        )
    })?;
    in_range(text, at)
}

/// Refuses times that cannot be printed, such as the end of a very long span.
fn in_range(text: &str, at: Timestamp) -> anyhow::Result<Timestamp> {
    anyhow::ensure!(
        at.is_in_range(),
        "`{text}` leads out of the years 0 to 9999; name a shorter span or a nearer time"
    );
    Ok(at)
}

fn coming(text: &str, now: &jiff::Zoned) -> Option<Timestamp> {
    let at = |zoned: jiff::Zoned| Timestamp::from_millis(zoned.timestamp().as_millisecond());
    if let Some(span) = span(text.trim()) {
        return Some(Timestamp::from_millis(now.timestamp().as_millisecond().checked_add(span)?));
    }
    let Ok(clock) = text.trim().parse::<jiff::civil::Time>() else { return parse_at(text, now) };
    let today = now.date().to_datetime(clock).to_zoned(now.time_zone().clone()).ok()?;
    if today > *now {
        return Some(at(today));
    }
    let tomorrow = now.date().tomorrow().ok()?.to_datetime(clock).to_zoned(now.time_zone().clone()).ok()?;
    Some(at(tomorrow))
}

fn parse_at(text: &str, now: &jiff::Zoned) -> Option<Timestamp> {
    let text = text.trim();
    if let Some(at) = Timestamp::parse(text) {
        return Some(at);
    }
    if let Ok(date) = text.parse::<jiff::civil::Date>() {
        let begin = date.to_zoned(now.time_zone().clone()).ok()?;
        return Some(Timestamp::from_millis(begin.timestamp().as_millisecond()));
    }
    Some(Timestamp::from_millis(now.timestamp().as_millisecond().checked_sub(span(text)?)?))
}

/// A span in milliseconds.
fn span(text: &str) -> Option<i64> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let seconds = match text[digits..].trim() {
        "m" | "min" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "w" => 7 * 86_400,
        _ => return None,
    };
    text[..digits].parse::<i64>().ok()?.checked_mul(seconds)?.checked_mul(1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_dates_and_spans_are_understood_and_nothing_else() {
        let now: jiff::Zoned = "2026-11-20T15:30:00+01:00[+01:00]".parse().unwrap();
        let meant = |text: &str| parse_at(text, &now).map(|at| at.to_string());
        let at = |text: &str| Some(text.to_owned());
        assert_eq!(meant("2026-11-20T10:00:00Z"), at("2026-11-20T10:00:00.000Z"));
        assert_eq!(meant("2026-11-20"), at("2026-11-19T23:00:00.000Z"), "the user's midnight");
        assert_eq!(meant("90m"), at("2026-11-20T13:00:00.000Z"));
        assert_eq!(meant("36h"), at("2026-11-19T02:30:00.000Z"));
        assert_eq!(meant(" 7 d"), at("2026-11-13T14:30:00.000Z"));
        assert_eq!(meant("2w"), at("2026-11-06T14:30:00.000Z"));
        for text in [
            "",
            "d",
            "7",
            "7y",
            "-3d",
            "yesterday",
            "2026-13-01",
            "99999999999999999999d",
            "9999999999999999d",
        ] {
            assert_eq!(meant(text), None, "{text}");
        }
    }

    #[test]
    fn times_beyond_the_year_9999_are_refused() {
        for text in ["3000000d", "3000000 d", "99999999999m", "9999999w"] {
            for refused in [parse(text), parse_coming(text)] {
                assert!(refused.unwrap_err().to_string().contains("out of the years"), "{text}");
            }
        }
        // These are no times at all.
        for text in ["9223372036854775807m", "-000001-01-01", "10000-01-01", "+010000-01-01T00:00:00Z"] {
            assert!(parse(text).is_err() && parse_coming(text).is_err(), "{text}");
        }
        for text in ["700000d", "9999-12-30", "0000-01-02"] {
            assert!(parse(text).is_ok() && parse_coming(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn a_clock_time_means_the_next_one() {
        let now: jiff::Zoned = "2026-11-20T15:30:00+01:00[+01:00]".parse().unwrap();
        let meant = |text: &str| coming(text, &now).map(|at| at.to_string());
        let at = |text: &str| Some(text.to_owned());
        assert_eq!(meant("15m"), at("2026-11-20T14:45:00.000Z"));
        assert_eq!(meant("1 h"), at("2026-11-20T15:30:00.000Z"));
        assert_eq!(meant("15:31"), at("2026-11-20T14:31:00.000Z"));
        assert_eq!(meant("15:30"), at("2026-11-21T14:30:00.000Z"), "tomorrow's");
        assert_eq!(meant("09:00"), at("2026-11-21T08:00:00.000Z"));
        assert_eq!(meant("2026-11-22"), at("2026-11-21T23:00:00.000Z"));
        assert_eq!(
            meant("2026-11-20T10:00:00Z"),
            at("2026-11-20T10:00:00.000Z"),
            "the command that gets the time checks it"
        );
        for text in ["", "soon", "25:00", "99999999999999999d"] {
            assert_eq!(meant(text), None, "{text}");
        }
    }
}
