//! Past alerts: the times when sessions needed the user, from the stored changes of state and answers.

use std::ops::Range;

use watchbill_core::attention::{Need, need as need_of};
use watchbill_core::day::Stretch;
use watchbill_core::evidence::{asked_without_prefix, cause_without_prefix};
use watchbill_core::session::state::{State, StateKind};
use watchbill_core::time::{Millis, Timestamp};
use watchbill_protocol::alert::{PastAlert, PastAlertEnd};
use watchbill_protocol::error::ApiError;
use watchbill_protocol::roster::TrackedSession;
use watchbill_settings::Settings;
use watchbill_store::day::DaySession;
use watchbill_store::tables::answers::AnswerRow;
use watchbill_store::{OpenMode, Store, StoreError};

use super::day::{is_attended, project, stretches};
use crate::errors::{data_dir, store_api_error};

/// How far they go back.
const SPAN: Millis = Millis::from_secs(7 * 86_400);
/// The most of them; the newest stay.
const MOST: usize = 200;
/// An answer takes effect in this time.
const EFFECT: Millis = Millis::from_secs(6);

/// The times when sessions needed the user in the last seven days, newest first. Only `shown`, the rows of a running
/// engine, tell that a need is still open.
///
/// # Errors
/// When nothing is stored, or the store cannot be read.
pub fn alerts(
    settings: &Settings,
    now: Timestamp,
    shown: &[TrackedSession],
) -> Result<Vec<PastAlert>, ApiError> {
    let store = Store::open(data_dir(settings)?, OpenMode::Read).map_err(|error| store_api_error(&error))?;
    alerts_of(&store, &(now - SPAN..now), shown).map_err(|error| store_api_error(&error))
}

fn alerts_of(
    store: &Store,
    within: &Range<Timestamp>,
    shown: &[TrackedSession],
) -> Result<Vec<PastAlert>, StoreError> {
    let answers = store.answers(within.start)?;
    let mut found: Vec<(Timestamp, PastAlert)> = Vec::new();
    for session in store.day_sessions(within)? {
        let (all, turns) = stretches(store, &session, within)?;
        if !is_attended(&session, &turns) {
            continue;
        }
        let of_session = SessionAlerts { store, session: &session, within, shown, answers: &answers };
        // A need goes on while only its certainty changes.
        let is_same = |a: &Stretch, b: &Stretch| a.to == b.from && (a.state, a.kind) == (b.state, b.kind);
        let mut rest = &*all;
        while let Some(run) = rest.chunk_by(is_same).next() {
            rest = &rest[run.len()..];
            found.extend(of_session.alert(run, rest)?);
        }
    }
    found.sort_by_key(|(from, _)| std::cmp::Reverse(*from));
    found.truncate(MOST);
    Ok(found.into_iter().map(|(_, alert)| alert).collect())
}

/// What tells the alerts of one session.
struct SessionAlerts<'a> {
    store: &'a Store,
    session: &'a DaySession,
    within: &'a Range<Timestamp>,
    shown: &'a [TrackedSession],
    answers: &'a [AnswerRow],
}

impl SessionAlerts<'_> {
    /// The alert of stretches of one state, with its time. `rest`: what the session did after them.
    fn alert(&self, run: &[Stretch], rest: &[Stretch]) -> Result<Option<(Timestamp, PastAlert)>, StoreError> {
        let Self { store, session, within, .. } = self;
        // A guess raises no alert. The beginning of a need from before the span is not known.
        let seen = run.iter().find(|it| !it.inferred && it.from > within.start);
        let Some((first, need)) = seen.and_then(|it| Some((it, need_of(it.state, it.kind)?))) else {
            return Ok(None);
        };
        let to = run[run.len() - 1].to;
        let open = self.shown.iter().filter(|_| to == within.end).find(|row| {
            row.session_id == session.session_id
                && row.state == first.state.as_str()
                && row.state_kind.as_deref() == first.kind.map(StateKind::as_str)
        });
        let became = match open {
            Some(_) => PastAlertEnd::Open,
            None => end(store, session, need, to, rest)?,
        };
        // The open one may be another than the last that was stored.
        let from = open.and_then(|row| Timestamp::parse(&row.state_since)).unwrap_or(first.from);
        let reason = match open {
            Some(row) => row.state_reason.detail.clone(),
            None => store.reason_at(session.key, from)?.unwrap_or_default(),
        };
        let is_error = need == Need::Error;
        let about = if is_error { cause_without_prefix(&reason) } else { asked_without_prefix(&reason) };
        let answer = if is_error { None } else { self.answer(from, to, rest) };
        let is_known = !matches!(became, PastAlertEnd::Open | PastAlertEnd::Unseen);
        let alert = PastAlert {
            need: need.as_str().to_owned(),
            about: about.map(str::to_owned),
            at: from.to_string(),
            until: is_known.then(|| to.to_string()),
            became,
            answer,
            project: project(session.folder.as_deref()),
            title: session.title.clone().unwrap_or_else(|| session.session_id.clone()),
            session_id: session.session_id.clone(),
        };
        Ok(Some((from, alert)))
    }

    /// The answer to a request, if there is exactly one until the session's next need.
    fn answer(&self, from: Timestamp, to: Timestamp, rest: &[Stretch]) -> Option<String> {
        let later = rest.iter().find(|it| need_of(it.state, it.kind).is_some()).map(|it| it.from);
        let answerable = from..later.map_or(to + EFFECT, |later| later.min(to + EFFECT));
        let mut fitting = self.answers.iter().filter(|answer| {
            answerable.contains(&answer.at)
                && answer.session_id == self.session.session_id
                && matches!(&*answer.outcome, "sent" | "taken" | "effect")
        });
        let answer = fitting.next().filter(|_| fitting.next().is_none())?;
        Some(format!("{} ({})", answer.decision, answer.surface))
    }
}

/// How a need ended that no engine shows. `rest`: what the session did after it.
fn end(
    store: &Store,
    session: &DaySession,
    need: Need,
    to: Timestamp,
    rest: &[Stretch],
) -> Result<PastAlertEnd, StoreError> {
    let next = rest.first().filter(|next| next.from == to);
    let is_seen = store.reason_at(session.key, to)?.is_some()
        || match next {
            // The transcript alone tells when an error was over, but not when a request was answered.
            Some(_) => need == Need::Error,
            None => store.transitions(session.key, 1)?.iter().any(|last| last.state == State::Ended.as_str()),
        };
    Ok(match next.map(|next| next.state) {
        _ if !is_seen => PastAlertEnd::Unseen,
        Some(State::Working | State::WaitingForApproval) => PastAlertEnd::WentOn,
        Some(_) => PastAlertEnd::Stopped,
        None => PastAlertEnd::Ended,
    })
}

#[cfg(test)]
mod tests;
