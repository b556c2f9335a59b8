//! Answers as text for the user.

pub mod answers;
pub mod chain;
pub mod day;
pub mod doctor;
pub mod export;
pub mod history;
pub mod hooks;
pub mod limits;
mod markup;
pub mod memory;
pub mod model;
mod quotation;
pub mod report;
pub mod roster;
pub mod search;
pub mod stats;
pub mod status;
pub mod timeline;
pub mod why;

use watchbill_engine::Timestamp;
pub use watchbill_history::size::in_words as size;
use watchbill_protocol::roster::{Outcome, TrackedSession};

use crate::terminal_text::{Tone, age, one_line};

/// The age of `at` at `now`, in words; empty if one of them is not a valid time.
pub fn age_at(now: &str, at: &str) -> String {
    match (Timestamp::parse(now), Timestamp::parse(at)) {
        (Some(now), Some(at)) => age(now.since(at).0),
        _ => String::new(),
    }
}

/// The clock time of an RFC 3339 text, in the user's time zone.
pub fn local_time(at: &str) -> String {
    local(at, "%H:%M:%S")
}

/// The date of an RFC 3339 text, in the user's time zone.
pub fn local_date(at: &str) -> String {
    local(at, "%Y-%m-%d")
}

/// Date and clock time of an RFC 3339 text, in the user's time zone.
pub fn local_date_time(at: &str) -> String {
    local(at, "%Y-%m-%d %H:%M")
}

/// Date and clock time with seconds, where they matter.
pub fn local_moment(at: &str) -> String {
    local(at, "%Y-%m-%d %H:%M:%S")
}

fn local(at: &str, form: &str) -> String {
    let Some(at) = Timestamp::parse(at) else { return String::new() };
    match jiff::Timestamp::from_millisecond(at.as_millis()) {
        Ok(at) => at.to_zoned(jiff::tz::TimeZone::system()).strftime(form).to_string(),
        Err(_) => String::new(),
    }
}

/// The name of a session, as in the window: the first of these that is not empty, else the beginning of its id.
pub fn name(session: &TrackedSession) -> String {
    let names = [&session.work_chain_name, &session.title, &session.goal, &session.summary];
    let mut names = names.into_iter().filter_map(|name| name.as_deref()).map(one_line);
    names.find(|name| !name.is_empty()).unwrap_or_else(|| format!("session {}", short(&session.session_id)))
}

/// The beginning of an id, long enough for the command line. Ids come from file names, which may hold any character.
pub fn short(id: &str) -> String {
    // The first 12 digits of a UUID of version 7 are its time: the first 8 are the same for a minute (RFC 9562).
    let is_by_time = id.len() == 36 && id.as_bytes()[14] == b'7';
    // Some agents begin each id with a word, and opencode goes on with a time.
    let word = id.find('_').filter(|at| *at < 8).map_or(0, |at| at + 1);
    let digits = if is_by_time { 13 } else { 8 + usize::from(word > 0) };
    one_line(&id.chars().take(word + digits).collect::<String>())
}

/// `1 file`, `2 files`.
pub fn plural(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// State and kind as text.
pub fn state_words(state: &str, kind: Option<&str>) -> &'static str {
    match (state, kind) {
        ("working", Some("compacting")) => "compacting",
        ("working", Some("retrying")) => "retrying",
        ("working", Some("background")) => "working in the background",
        ("working", _) => "working",
        ("waiting_for_approval", Some("question")) => "asks a question",
        ("waiting_for_approval", Some("plan")) => "shows a plan",
        ("waiting_for_approval" | "waiting_for_input", Some("dialog")) => "a dialog is open",
        ("waiting_for_approval", _) => "waits for approval",
        ("waiting_for_input", Some("interrupted")) => "interrupted",
        ("waiting_for_input", Some("error")) => "failed",
        ("waiting_for_input", Some("limit")) => "usage limit reached",
        ("waiting_for_input", Some("blocked")) => "blocked",
        ("waiting_for_input", Some("completed")) => "completed",
        ("waiting_for_input", _) => "your turn",
        ("ended", Some("crashed")) => "ended unexpectedly",
        ("ended", _) => "ended",
        _ => "idle",
    }
}

/// The colour of a state.
pub fn tone(session: &TrackedSession) -> Tone {
    match (session.state.as_str(), session.state_kind.as_deref()) {
        (_, Some("error" | "limit")) => Tone::Error,
        ("waiting_for_approval", _) => Tone::Need,
        ("working", _) => Tone::Work,
        ("waiting_for_input", _) => Tone::Turn,
        _ => Tone::Dim,
    }
}

/// The session's current activity, in a few words.
pub fn doing(session: &TrackedSession) -> String {
    let tool = session.pending_tool.as_ref().map(|tool| {
        let target = one_line(&tool.target);
        if target.is_empty() { one_line(&tool.tool) } else { format!("{}: {target}", one_line(&tool.tool)) }
    });
    let words = state_words(&session.state, session.state_kind.as_deref());
    match (session.state.as_str(), session.state_kind.as_deref(), tool) {
        ("waiting_for_approval", Some("question"), _) => {
            let target = session.pending_tool.as_ref().map(|tool| one_line(&tool.target)).unwrap_or_default();
            if target.is_empty() { words.to_owned() } else { format!("asks: {target}") }
        }
        ("waiting_for_approval", Some("plan" | "dialog"), _) => words.to_owned(),
        ("waiting_for_approval", _, Some(tool)) => format!("wants to run {tool}"),
        ("working", Some("compacting"), _) => words.to_owned(),
        ("working", Some("retrying"), _) => trouble(session, words),
        ("working", _, Some(tool)) => tool,
        (_, Some("limit"), _) => match &session.limit_resets_at {
            Some(at) => format!("{}, resets {}", trouble(session, words), local_date_time(at)),
            None => trouble(session, words),
        },
        (_, Some("error"), _) => trouble(session, words),
        (_, Some("blocked" | "completed"), _) => match session.summary.as_deref().map(one_line) {
            Some(summary) if !summary.is_empty() => format!("{words}: {summary}"),
            _ => words.to_owned(),
        },
        _ => match &session.outcome {
            Some(outcome) => format!("{words}: {}", outcome_words(outcome)),
            None => words.to_owned(),
        },
    }
}

/// What came of a turn: `4 files, tests pass, 11 min`.
fn outcome_words(outcome: &Outcome) -> String {
    let files = (outcome.files > 0).then(|| plural(outcome.files as usize, "file"));
    let tests = outcome.passed.map(|passed| if passed { "tests pass" } else { "tests fail" }.to_owned());
    let took =
        outcome.seconds.filter(|seconds| *seconds >= 60).map(|seconds| format!("{} min", seconds / 60));
    files.into_iter().chain(tests).chain(took).collect::<Vec<_>>().join(", ")
}

/// The error; if it is not known, the state in words.
fn trouble(session: &TrackedSession, words: &str) -> String {
    session.error.as_deref().map_or_else(|| words.to_owned(), one_line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> TrackedSession {
        serde_json::from_value(serde_json::json!({
            "sessionId": "0123456789", "source": "watcher", "agent": "claude", "status": "working",
            "state": "working", "group": "working", "stateSince": "2026-11-20T12:00:00.000Z",
            "stateReason": { "source": "registry", "detail": "", "confidence": "observed" },
            "hasPendingToolUse": false, "lastActivityAt": "2026-11-20T12:00:00.000Z", "workChainId": "c",
            "compactionCount": 0, "segmentCount": 1,
        }))
        .unwrap()
    }

    #[test]
    fn the_activity_is_shown_without_its_witness() {
        let mut row = row();
        row.state_kind = Some("compacting".into());
        row.state_reason.detail =
            "registry says `busy`; a hook says that the context is being compacted".into();
        assert_eq!(doing(&row), "compacting");
        row.state_kind = Some("retrying".into());
        row.state_reason.detail = "registry says `busy`; retry 2 of 10 in 5 s".into();
        row.error = Some("retry 2 of 10 in 5 s".into());
        assert_eq!(doing(&row), "retry 2 of 10 in 5 s");
        row.error = None;
        assert_eq!(doing(&row), "retrying", "what a witness says is no cause");
    }

    #[test]
    fn a_status_files_words_are_shown_with_its_summary() {
        let mut row = row();
        row.state = "waiting_for_input".into();
        for kind in ["blocked", "completed"] {
            row.state_kind = Some(kind.into());
            row.summary = None;
            assert_eq!((state_words(&row.state, Some(kind)), &*doing(&row)), (kind, kind));
            row.summary = Some("Half of it is\n done.".into());
            assert_eq!(doing(&row), format!("{kind}: Half of it is done."));
        }
    }

    #[test]
    fn a_sessions_name_is_the_same_as_in_the_window() {
        let mut row = row();
        assert_eq!(name(&row), "session 01234567");
        row.summary = Some("It is done".into());
        assert_eq!(name(&row), "It is done");
        row.goal = Some("Fix it".into());
        assert_eq!(name(&row), "Fix it");
        row.title = Some(" \n ".into());
        assert_eq!(name(&row), "Fix it", "an empty title is none");
        row.work_chain_name = Some("Mine".into());
        assert_eq!(name(&row), "Mine");
    }
}
