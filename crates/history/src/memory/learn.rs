//! Applies the rules to sessions with new ended turns, one session at a time.

use watchbill_core::history::HistorySettings;
use watchbill_core::memory::model::queue::turns_to_ask;
use watchbill_core::memory::{MemorySettings, PlanRow, SessionRows, open_ends, signals};
use watchbill_core::time::Timestamp;
use watchbill_hooks::sender::HTTP_ID;
use watchbill_store::{SessionKey, Store, StoreError};
use watchbill_watch::fs::Fs;

use super::project::project_of;

/// The most calls and turns of a session that the rules see, the newest. A program may make a session of any length.
const MOST_CALLS: u32 = 20_000;
const MOST_TURNS: u32 = 4_000;

/// The name of the fact since when a model is chosen: milliseconds since the epoch. It is asked about turns that ended later.
const MODEL_SINCE: &str = "model_since";

/// Lets the rules see one session that is due, the newest first, and queues its ended turns for the model, if one is chosen. Returns
/// whether more may be due.
///
/// What the rules found in the session is replaced as a whole, so the same rows always give the same evidence.
///
/// # Errors
/// When the store cannot be read or written; the session stays due.
pub fn learn_one(
    store: &mut Store,
    fs: &dyn Fs,
    settings: &HistorySettings,
    memory: &MemorySettings,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let since = model_since(store, memory, now)?;
    let Some(session) = store.memory_due(1)?.into_iter().next() else { return Ok(false) };
    let cwd = store.working_folder(session)?.filter(|cwd| !settings.exclude.excludes(cwd));
    // Once known, the project stays: the folder may be gone later.
    let known = store.memory_place(session)?;
    let place = known.or_else(|| cwd.as_deref().map(|cwd| project_of(fs, cwd)));
    let Some(place) = place else {
        let mut step = store.step()?;
        step.clear_memory_due(session)?;
        step.commit()?;
        return Ok(true);
    };
    let rows = session_rows(store, session, &place.root)?;
    let mut found = signals(place.project, &rows);
    let mut turns = since.map(|since| turns_to_ask(&rows, since)).unwrap_or_default();
    if is_over_http(&rows) {
        found.iter_mut().for_each(|signal| signal.suspect = true);
        turns.clear();
    }
    let mut step = store.step()?;
    step.put_evidence(session, &place, &found)?;
    step.put_open_ends(session, &open_ends(&rows))?;
    turns.iter().try_for_each(|(batch, ended_at)| step.queue_model_job(session, batch, *ended_at))?;
    step.commit()?;
    Ok(true)
}

/// Lets the rules see every session that is due. Returns how many were.
///
/// # Errors
/// When the store cannot be read or written.
pub fn learn_all(
    store: &mut Store,
    fs: &dyn Fs,
    settings: &HistorySettings,
    memory: &MemorySettings,
    now: Timestamp,
) -> Result<u64, StoreError> {
    let mut sessions = 0;
    while learn_one(store, fs, settings, memory, now)? {
        sessions += 1;
    }
    Ok(sessions)
}

/// Since when the model is asked about ended turns; `None` without a model. Choosing one begins now.
fn model_since(
    store: &mut Store,
    memory: &MemorySettings,
    now: Timestamp,
) -> Result<Option<Timestamp>, StoreError> {
    let known = store.meta(MODEL_SINCE)?.and_then(|since| since.parse().ok()).filter(|since| *since > 0);
    let since = memory.model.is_chosen().then(|| known.unwrap_or(now.as_millis()));
    if since != known {
        let mut step = store.step()?;
        step.set_meta(MODEL_SINCE, &since.unwrap_or_default().to_string())?;
        if since.is_none() {
            step.skip_model_jobs(now)?;
        }
        step.commit()?;
    }
    Ok(since.map(Timestamp::from_millis))
}

/// Whether a program sent any part of the session over HTTP. Then all of it is text of others: a call of a program can make an
/// agent's own turn show something else.
pub(super) fn is_over_http(rows: &SessionRows) -> bool {
    rows.batches.iter().any(|batch| batch.id.starts_with(HTTP_ID))
        || rows.calls.iter().any(|call| call.id.starts_with(HTTP_ID))
}

/// The rows of a session as the rules read them.
pub(super) fn session_rows(
    store: &Store,
    session: SessionKey,
    root: &str,
) -> Result<SessionRows, StoreError> {
    let plans = store.plans(session)?.into_iter().map(|plan| PlanRow {
        plan: plan.plan.to_string(),
        content: plan.content,
        batch: plan.batch,
        states: plan.words,
    });
    Ok(SessionRows {
        root: root.to_owned(),
        batches: store.newest_batches(session, MOST_TURNS)?.into_iter().map(|stored| stored.batch).collect(),
        calls: store
            .newest_activities(session, MOST_CALLS)?
            .into_iter()
            .map(|stored| stored.activity)
            .collect(),
        plans: plans.collect(),
    })
}
