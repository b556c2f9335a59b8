//! Past alerts: the times when sessions needed the user, from the stored changes of state and answers.

use std::ops::Range;

use watchbill_core::attention::{Need, need};
use watchbill_core::day::{Doing, Stretch};
use watchbill_core::evidence::{asked_without_prefix, cause_without_prefix};
use watchbill_core::time::{Millis, Timestamp};
use watchbill_protocol::alert::{PastAlert, PastAlertEnd};
use watchbill_protocol::error::ApiError;
use watchbill_settings::Settings;
use watchbill_store::day::DaySession;
use watchbill_store::{OpenMode, Store, StoreError};

use super::day::{project, stretches};
use crate::errors::{data_dir, store_api_error};

/// How far they go back.
const SPAN: Millis = Millis::from_secs(7 * 86_400);
/// The most of them; the newest stay.
const MOST: usize = 200;
/// An answer takes effect in this time.
const EFFECT: Millis = Millis::from_secs(6);

/// A need, where and when it was, and how it ended.
type Found = (DaySession, Need, Stretch, PastAlertEnd);

/// The times when sessions needed the user in the last seven days, newest first.
///
/// # Errors
/// When nothing is stored, or the store cannot be read.
pub fn alerts(settings: &Settings, now: Timestamp) -> Result<Vec<PastAlert>, ApiError> {
    let store = Store::open(data_dir(settings)?, OpenMode::Read).map_err(|error| store_api_error(&error))?;
    alerts_of(&store, &(now - SPAN..now)).map_err(|error| store_api_error(&error))
}

fn alerts_of(store: &Store, within: &Range<Timestamp>) -> Result<Vec<PastAlert>, StoreError> {
    let mut found: Vec<Found> = Vec::new();
    for session in store.day_sessions(within)? {
        let (all, _) = stretches(store, &session, within)?;
        for (number, stretch) in all.iter().enumerate() {
            // A short request and one of a program's session belong to the turn: these stretches have another meaning.
            let is_need = matches!(stretch.doing, Doing::Waiting | Doing::Failed);
            let Some(need) = need(stretch.state, stretch.kind).filter(|_| is_need) else { continue };
            let next = all.get(number + 1).filter(|next| next.from == stretch.to);
            let became = match next.map(|next| next.doing) {
                Some(Doing::Working | Doing::Waiting | Doing::Failed) => PastAlertEnd::WentOn,
                Some(Doing::YourTurn | Doing::Idle) => PastAlertEnd::Stopped,
                None if stretch.to == within.end => PastAlertEnd::Open,
                None => PastAlertEnd::Ended,
            };
            found.push((session.clone(), need, *stretch, became));
        }
    }
    found.sort_by_key(|(_, _, stretch, _)| std::cmp::Reverse(stretch.from));
    found.truncate(MOST);
    let answers = store.answers(within.start)?;
    let shown = |(session, need, stretch, became): Found| -> Result<PastAlert, StoreError> {
        let reason = store.reason_at(session.key, stretch.from)?.unwrap_or_default();
        let about =
            if need == Need::Error { cause_without_prefix(&reason) } else { asked_without_prefix(&reason) };
        let answer = answers.iter().rev().find(|answer| {
            answer.session_id == session.session_id
                && matches!(&*answer.outcome, "sent" | "taken" | "effect")
                && answer.at >= stretch.from
                && answer.at <= stretch.to + EFFECT
        });
        Ok(PastAlert {
            need: need.as_str().to_owned(),
            about: about.map(str::to_owned),
            at: stretch.from.to_string(),
            until: (became != PastAlertEnd::Open).then(|| stretch.to.to_string()),
            became,
            answer: answer.map(|answer| format!("{} ({})", answer.decision, answer.surface)),
            project: project(session.folder.as_deref()),
            title: session.title.unwrap_or_else(|| session.session_id.clone()),
            session_id: session.session_id,
        })
    };
    found.into_iter().map(shown).collect()
}
