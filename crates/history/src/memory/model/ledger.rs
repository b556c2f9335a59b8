//! What the model took on each day, in a file of the data folder. It outlives the sessions that were asked about, and a kill.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use watchbill_core::memory::ModelSettings;
use watchbill_core::time::Timestamp;
use watchbill_platform::files::private_dir;
use watchbill_protocol::model::ModelDay;

use super::Spent;

/// The days that are kept.
const DAYS: usize = 31;
/// The most bytes of the file.
const MOST: u64 = 64 << 10;

/// One day.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Day {
    /// Such as `2026-11-25`, in the person's time zone.
    day: String,
    questions: u64,
    #[serde(flatten)]
    spent: Spent,
}

/// Books what a question may take at most, before it is asked. Gives the setting whose limit the day would pass; then nothing is
/// booked.
///
/// # Errors
/// When the file cannot be read or written. Nothing may be asked then.
pub fn book(
    data_dir: &Path,
    now: Timestamp,
    settings: &ModelSettings,
    most: Spent,
) -> io::Result<Option<&'static str>> {
    change(data_dir, now, |day| {
        let after = day.spent.plus(most);
        let limit = after.passes(settings);
        if limit.is_none() {
            (day.spent, day.questions) = (after, day.questions + 1);
        }
        limit
    })
}

/// Replaces what was booked by what a question took.
///
/// # Errors
/// When the file cannot be read or written. The booking stays then.
pub fn correct(data_dir: &Path, booked_at: Timestamp, booked: Spent, took: Spent) -> io::Result<()> {
    change(data_dir, booked_at, |day| day.spent = day.spent.minus(booked).plus(took))
}

/// What was taken on a day so far.
///
/// # Errors
/// When the file cannot be read.
pub fn spent_on(data_dir: &Path, now: Timestamp) -> io::Result<Spent> {
    Ok(found(data_dir, now)?.spent)
}

/// The same for the user.
///
/// # Errors
/// When the file cannot be read.
pub fn day(data_dir: &Path, now: Timestamp) -> io::Result<ModelDay> {
    Ok(shown(Day { day: day_of(now), ..found(data_dir, now)? }))
}

/// The days that are known, the newest first.
///
/// # Errors
/// When the file cannot be read.
pub fn days(data_dir: &Path) -> io::Result<Vec<ModelDay>> {
    Ok(read(data_dir)?.into_iter().rev().map(shown).collect())
}

fn found(data_dir: &Path, now: Timestamp) -> io::Result<Day> {
    let name = day_of(now);
    Ok(read(data_dir)?.into_iter().find(|day| day.day == name).unwrap_or_default())
}

fn shown(day: Day) -> ModelDay {
    let Day { day, questions, spent: Spent { tokens_in, tokens_out, micro_usd } } = day;
    ModelDay { day, questions, tokens_in, tokens_out, micro_usd }
}

fn change<T>(data_dir: &Path, now: Timestamp, done: impl FnOnce(&mut Day) -> T) -> io::Result<T> {
    private_dir(data_dir)?;
    // Two programs may ask at one time. A file of its own, because the other one is replaced.
    let lock = File::create(data_dir.join("model-spent.lock"))?;
    lock.lock()?;
    let mut days = read(data_dir)?;
    let name = day_of(now);
    let at = days.iter().position(|day| day.day == name).unwrap_or_else(|| {
        days.push(Day { day: name, ..Day::default() });
        days.len() - 1
    });
    let result = done(&mut days[at]);
    days.sort_by(|a, b| a.day.cmp(&b.day));
    let first = days.len().saturating_sub(DAYS);
    let fresh = file(data_dir).with_extension("fresh");
    fs::write(&fresh, serde_json::to_vec(&days[first..])?)?;
    File::open(&fresh)?.sync_all()?;
    fs::rename(&fresh, file(data_dir))?;
    Ok(result)
}

fn read(data_dir: &Path) -> io::Result<Vec<Day>> {
    let opened = match File::open(file(data_dir)) {
        Ok(opened) => opened,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut text = String::new();
    opened.take(MOST).read_to_string(&mut text)?;
    serde_json::from_str(&text)
        .map_err(|error| io::Error::other(format!("{}: {error}", file(data_dir).display())))
}

fn file(data_dir: &Path) -> PathBuf {
    data_dir.join("model-spent.json")
}

fn day_of(now: Timestamp) -> String {
    now.day(&TimeZone::system())
}

#[cfg(test)]
mod tests {
    use super::*;
    use watchbill_core::time::Millis;

    const NOW: Timestamp = Timestamp::from_millis(1_795_262_400_000);

    fn spent(tokens_in: u64, micro_usd: u64) -> Spent {
        Spent { tokens_in, tokens_out: 0, micro_usd }
    }

    #[test]
    fn a_day_never_passes_its_limits_and_the_next_one_begins_anew() {
        let folder = tempfile::tempdir().unwrap();
        let settings = ModelSettings { daily_tokens: 1_000, daily_micro_usd: 50, ..ModelSettings::default() };
        let book = |now, most| book(folder.path(), now, &settings, most).unwrap();
        assert_eq!(book(NOW, spent(600, 10)), None);
        assert_eq!(
            book(NOW, spent(600, 10)),
            Some("model.daily_tokens"),
            "the first one is not answered yet"
        );
        assert_eq!(book(NOW, spent(10, 41)), Some("model.daily_cents"));
        assert_eq!(spent_on(folder.path(), NOW).unwrap(), spent(600, 10), "what is refused costs nothing");
        correct(folder.path(), NOW, spent(600, 10), spent(100, 0)).unwrap();
        assert_eq!(book(NOW, spent(600, 10)), None);
        assert_eq!(spent_on(folder.path(), NOW).unwrap(), spent(700, 10));
        assert_eq!(book(NOW + Millis::from_secs(86_400), spent(1_000, 0)), None);
    }

    #[test]
    fn a_file_that_cannot_be_read_stops_every_question() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(file(folder.path()), "not JSON").unwrap();
        let error = book(folder.path(), NOW, &ModelSettings::default(), spent(1, 0)).unwrap_err();
        assert!(error.to_string().contains("model-spent.json"), "{error}");
    }

    #[test]
    fn two_that_book_at_once_do_not_pass_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let settings = ModelSettings { daily_tokens: 50, ..ModelSettings::default() };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    (0..20).for_each(|_| _ = book(folder.path(), NOW, &settings, spent(1, 0)).unwrap())
                });
            }
        });
        assert_eq!(spent_on(folder.path(), NOW).unwrap(), spent(50, 0));
    }

    #[test]
    fn only_a_month_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        for n in 0..40 {
            let now = NOW + Millis::from_secs(86_400 * n);
            assert_eq!(book(folder.path(), now, &ModelSettings::default(), spent(1, 0)).unwrap(), None);
        }
        assert_eq!(read(folder.path()).unwrap().len(), DAYS);
    }
}
