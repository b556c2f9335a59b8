//! The look of the tray, as a pure function of the roster and the time.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use watchbill_protocol::roster::{Group, TrackedSession};
use watchbill_settings::TrayColours;

use crate::text::{cut, one_line};

/// A title in the menu is cut to this many characters.
const TITLE_LENGTH: usize = 40;
/// The menu lists at most this many sessions; a longer menu is of no use.
const LISTED: usize = 30;

/// The tray at one moment. Equal faces look the same, so only a change causes a redraw.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Face {
    /// Which icon.
    pub look: Look,
    /// The number on the icon: how many sessions need the user.
    pub badge: usize,
    /// The colours that the user wants for the icon.
    pub colours: TrayColours,
    /// One line: the first of the menu, and the tooltip.
    pub counts: String,
    /// The end of a mute, in the user's time zone.
    pub muted: Option<String>,
    /// Sessions that need the user, then working ones, in roster order.
    pub entries: Vec<Entry>,
    /// Number of sessions that the menu leaves out.
    pub unlisted: usize,
}

/// The three icons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Look {
    /// No session works or waits.
    #[default]
    Nothing,
    /// A session works.
    Working,
    /// A session needs the user.
    NeedsYou,
}

/// One session in the menu.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its id.
    pub session_id: String,
    /// Glyph, title and age.
    pub label: String,
}

impl Face {
    /// The face for these rows at `now`, by the engine's clock.
    pub fn of(
        rows: &[TrackedSession],
        muted_until: Option<Timestamp>,
        zone: &TimeZone,
        now: Timestamp,
    ) -> Self {
        let count = |group| rows.iter().filter(|row| row.group == group).count();
        let (needs_you, working) = (count(Group::NeedsYou), count(Group::Working));
        let look = match (needs_you, working) {
            (0, 0) => Look::Nothing,
            (0, _) => Look::Working,
            _ => Look::NeedsYou,
        };
        Self {
            look,
            badge: needs_you,
            colours: TrayColours::default(),
            muted: muted_until.map(|until| clock_of(until, zone)),
            counts: counts(needs_you, working, count(Group::YourTurn)),
            entries: listed(rows).take(LISTED).map(|row| entry(row, now)).collect(),
            unlisted: (needs_you + working).saturating_sub(LISTED),
        }
    }

    /// The face while nothing is watched.
    pub fn blind() -> Self {
        Self { counts: "Watching has stopped; it begins again soon".to_owned(), ..Self::default() }
    }

    /// When the face next changes just because time passes; `None` if it never does.
    pub fn changes_at(rows: &[TrackedSession], now: Timestamp) -> Option<Timestamp> {
        listed(rows)
            .take(LISTED)
            .filter_map(|row| {
                let since: Timestamp = row.state_since.parse().ok()?;
                let age = now.as_second().saturating_sub(since.as_second()).max(0);
                let step = AgeUnit::of(age).seconds();
                Timestamp::from_second(since.as_second() + (age / step + 1) * step).ok()
            })
            .min()
    }
}

/// Hours and minutes.
fn clock_of(at: Timestamp, zone: &TimeZone) -> String {
    let local = zone.to_datetime(at);
    format!("{:02}:{:02}", local.hour(), local.minute())
}

fn listed(rows: &[TrackedSession]) -> impl Iterator<Item = &TrackedSession> {
    let of = |group| rows.iter().filter(move |row| row.group == group);
    of(Group::NeedsYou).chain(of(Group::Working))
}

fn counts(needs_you: usize, working: usize, your_turn: usize) -> String {
    let parts: Vec<String> = [(needs_you, "need you"), (working, "working"), (your_turn, "your turn")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| match (count, word) {
            (1, "need you") => "1 needs you".to_owned(),
            _ => format!("{count} {word}"),
        })
        .collect();
    if parts.is_empty() { "No agent is at work".to_owned() } else { parts.join(" · ") }
}

fn entry(row: &TrackedSession, now: Timestamp) -> Entry {
    let glyph = if row.group == Group::NeedsYou { '▲' } else { '●' };
    let age = row.state_since.parse().map_or(String::new(), |since: Timestamp| {
        format!(" · {}", age_words(now.as_second().saturating_sub(since.as_second())))
    });
    let label = format!("{glyph} {}{age}", title(row));
    Entry { session_id: row.session_id.clone(), label }
}

/// The best available name, on one line, without characters that would disturb that line.
fn title(row: &TrackedSession) -> String {
    let folder = row.cwd.as_deref().map(|cwd| cwd.rsplit(['/', '\\']).next().unwrap_or(cwd));
    // The window's order. Every answer brings a new summary, so the first prompt comes before it.
    let names = [&row.work_chain_name, &row.title, &row.goal, &row.summary];
    let name = names
        .into_iter()
        .filter_map(Option::as_deref)
        .chain(folder)
        .map(one_line)
        .find(|name| !name.is_empty())
        .unwrap_or_else(|| one_line(&row.session_id).chars().take(8).collect());
    cut(name, TITLE_LENGTH)
}

/// The unit of an age: a minute at least, coarser for older ages.
#[derive(Clone, Copy)]
enum AgeUnit {
    Minute,
    Hour,
    Day,
}

impl AgeUnit {
    const fn of(age: i64) -> Self {
        match age {
            ..3_600 => Self::Minute,
            3_600..86_400 => Self::Hour,
            _ => Self::Day,
        }
    }

    const fn seconds(self) -> i64 {
        match self {
            Self::Minute => 60,
            Self::Hour => 3_600,
            Self::Day => 86_400,
        }
    }
}

fn age_words(seconds: i64) -> String {
    let age = seconds.max(0);
    let step = AgeUnit::of(age);
    match (step, age / step.seconds()) {
        (AgeUnit::Minute, 0) => "now".to_owned(),
        (AgeUnit::Minute, n) => format!("{n} min"),
        (AgeUnit::Hour, n) => format!("{n} h"),
        (AgeUnit::Day, n) => format!("{n} d"),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use serde_json::json;

    const NOON: &str = "2026-11-20T12:00:00.000Z";

    /// A row with only the fields that every row has.
    pub(crate) fn row(id: &str, group: Group) -> TrackedSession {
        serde_json::from_value(json!({
            "sessionId": id, "source": "watcher", "agent": "claude", "status": "working", "state": "working",
            "group": group, "needs": (group == Group::NeedsYou).then_some("approval"), "stateSince": NOON,
            "stateReason": { "source": "registry", "detail": "", "confidence": "observed" },
            "hasPendingToolUse": false, "lastActivityAt": NOON, "workChainId": "c",
            "compactionCount": 0, "segmentCount": 1,
        }))
        .expect("a row")
    }

    fn titled(id: &str, group: Group, title: &str) -> TrackedSession {
        TrackedSession { title: Some(title.into()), ..row(id, group) }
    }

    fn face_of(rows: &[TrackedSession], now: Timestamp) -> Face {
        Face::of(rows, None, &TimeZone::UTC, now)
    }

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    #[test]
    fn a_session_that_needs_the_user_comes_first_and_decides_the_look() {
        let rows = [
            titled("w", Group::Working, "Build"),
            titled("n", Group::NeedsYou, "Deploy"),
            titled("t", Group::YourTurn, "Done"),
            titled("i", Group::Idle, "Old"),
        ];
        let face = face_of(&rows, at("2026-11-20T12:03:59Z"));
        assert_eq!((face.look, face.badge), (Look::NeedsYou, 1));
        assert_eq!(face.counts, "1 needs you · 1 working · 1 your turn");
        let labels: Vec<&str> = face.entries.iter().map(|entry| entry.label.as_str()).collect();
        assert_eq!(labels, ["▲ Deploy · 3 min", "● Build · 3 min"]);
        assert_eq!(face.entries[0].session_id, "n");
    }

    #[test]
    fn the_looks_of_idle_working_and_waiting_rosters() {
        let now = at(NOON);
        assert_eq!(face_of(&[], now).look, Look::Nothing);
        assert_eq!(face_of(&[], now).counts, "No agent is at work");
        assert_eq!(face_of(&[row("a", Group::YourTurn)], now).look, Look::Nothing);
        let two = [row("a", Group::Working), row("b", Group::Working)];
        assert_eq!(face_of(&two, now).look, Look::Working);
        assert_eq!(face_of(&two, now).counts, "2 working");
        let two = [row("a", Group::NeedsYou), row("b", Group::NeedsYou)];
        assert_eq!(face_of(&two, now).counts, "2 need you");
    }

    #[test]
    fn titles_are_one_line_of_forty_characters() {
        let long = "ä".repeat(60);
        for (title, label) in [
            ("two\nlines\t and\u{7} a bell", "two lines and a bell"),
            ("over\u{202e}ride\u{200f}", "override"),
            (long.as_str(), &format!("{}…", "ä".repeat(39))),
            ("a & b_c", "a & b_c"),
        ] {
            let face = face_of(&[titled("a", Group::Working, title)], at(NOON));
            assert_eq!(face.entries[0].label, format!("● {label} · now"));
        }
    }

    #[test]
    fn a_label_uses_the_best_name() {
        let mut row = row("0123456789", Group::Working);
        let label =
            |row: &TrackedSession| face_of(std::slice::from_ref(row), at(NOON)).entries[0].label.clone();
        assert_eq!(label(&row), "● 01234567 · now");
        row.session_id = "01\n\u{202e}23456789".into();
        assert_eq!(label(&row), "● 01 23456 · now", "an id is a file name, which may hold any character");
        row.cwd = Some("/home/dev/api".into());
        assert_eq!(label(&row), "● api · now");
        row.summary = Some("It is done".into());
        row.goal = Some("Fix it".into());
        assert_eq!(label(&row), "● Fix it · now");
        row.title = Some(" \n ".into());
        assert_eq!(label(&row), "● Fix it · now", "an empty title does not count");
        row.work_chain_name = Some("Mine".into());
        assert_eq!(label(&row), "● Mine · now");
    }

    #[test]
    fn ages_and_the_time_of_the_next_change_agree() {
        let rows = [row("a", Group::Working)];
        for (now, words, next) in [
            ("2026-11-20T11:59:00Z", "now", "2026-11-20T12:01:00Z"), // A clock behind the record's.
            ("2026-11-20T12:00:59Z", "now", "2026-11-20T12:01:00Z"),
            ("2026-11-20T12:01:00Z", "1 min", "2026-11-20T12:02:00Z"),
            ("2026-11-20T12:59:59Z", "59 min", "2026-11-20T13:00:00Z"),
            ("2026-11-20T13:00:00Z", "1 h", "2026-11-20T14:00:00Z"),
            ("2026-11-21T11:59:00Z", "23 h", "2026-11-21T12:00:00Z"),
            ("2026-11-23T13:00:00Z", "3 d", "2026-11-24T12:00:00Z"),
        ] {
            let face = face_of(&rows, at(now));
            assert_eq!(face.entries[0].label, format!("● a · {words}"), "{now}");
            assert_eq!(Face::changes_at(&rows, at(now)), Some(at(next)), "{now}");
            assert_ne!(face_of(&rows, at(next)), face, "{now}");
        }
    }

    #[test]
    fn a_mute_shows_its_end_in_the_users_time_zone() {
        let until = Some(at("2026-11-20T23:05:59Z"));
        let zone = TimeZone::posix("CET-1").expect("a rule");
        assert_eq!(Face::of(&[], until, &zone, at(NOON)).muted.as_deref(), Some("00:05"));
        assert_eq!(Face::of(&[], None, &zone, at(NOON)).muted, None);
    }

    #[test]
    fn nothing_listed_needs_no_timer() {
        assert_eq!(Face::changes_at(&[row("a", Group::YourTurn), row("b", Group::Idle)], at(NOON)), None);
    }

    #[test]
    fn a_long_menu_is_cut_and_counts_the_rest() {
        let rows: Vec<_> = (0..35).map(|n| row(&n.to_string(), Group::Working)).collect();
        let face = face_of(&rows, at(NOON));
        assert_eq!((face.entries.len(), face.unlisted), (30, 5));
    }
}
