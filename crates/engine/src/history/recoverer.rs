//! Recovery over what is stored: turns, sessions and calls that nobody ended, and the log of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use watchbill_core::history::{Activity, Recovered, RecoverySettings, SessionView, recover};
use watchbill_core::session::state::State;
use watchbill_core::time::Timestamp;
use watchbill_store::tables::recoveries::RecoveryRow;
use watchbill_store::tables::sessions::SessionRow;
use watchbill_store::{SessionKey, Step, Store, StoreError};

/// So much is put right in one step: others wait for the store meanwhile. A first index of many old sessions leaves
/// thousands of calls that no turn claims.
const AT_ONCE: usize = 500;
/// Of so many sessions such calls are looked at in one step.
const SESSIONS_AT_ONCE: u32 = 32;

/// Puts right what nobody ended, or a part of it; gives back when to look again, which is at once where more is left.
///
/// # Errors
/// When the store cannot be read or written; then nothing was changed.
pub fn put_right(
    store: &mut Store,
    settings: RecoverySettings,
    now: Timestamp,
) -> Result<Option<Timestamp>, StoreError> {
    let (keys, views) = views(store)?;
    let mut recovery = recover(&views, settings, now);
    if recovery.put_right.is_empty() {
        return Ok(recovery.next);
    }
    let orphaned = views.iter().filter(|view| !view.orphans.is_empty()).count();
    if recovery.put_right.len() > AT_ONCE || orphaned >= SESSIONS_AT_ONCE as usize {
        recovery.put_right.truncate(AT_ONCE);
        recovery.next = Some(now);
    }
    let mut step = store.step()?;
    for one in &recovery.put_right {
        if let Some(key) = keys.get(one.session()) {
            put_one_right(&mut step, *key, one)?;
        }
        step.add_recovery(&RecoveryRow {
            at: now,
            what: one.word().to_owned(),
            session_id: Some(one.session().to_string()),
            detail: one.detail(),
        })?;
    }
    step.commit()?;
    tracing::info!(
        count = recovery.put_right.len(),
        "what nobody ended was put right; the store has a log of it"
    );
    Ok(recovery.next)
}

fn put_one_right(step: &mut Step<'_>, key: SessionKey, one: &Recovered) -> Result<(), StoreError> {
    match one {
        Recovered::StuckBatch { batch, .. } | Recovered::MadeUpBatch { batch, .. } => {
            step.merge_batch(key, None, batch)
        }
        Recovered::OrphanedActivity { call, batch, .. } => {
            let told = Activity { batch: Some(Arc::clone(batch)), ..Activity::new(Arc::clone(call)) };
            step.merge_activity(key, None, &told)
        }
        Recovered::StaleSession { session, last_activity_at } => step
            .put_session(&SessionRow {
                session_id: session.to_string(),
                active_at: Some(*last_activity_at),
                state: Some(State::Ended.word().to_owned()),
                state_since: Some(*last_activity_at),
                ..SessionRow::default()
            })
            .map(drop),
    }
}

type Views = (BTreeMap<Arc<str>, SessionKey>, Vec<SessionView>);

/// All sessions that have something open.
fn views(store: &Store) -> Result<Views, StoreError> {
    let mut open: BTreeMap<SessionKey, SessionView> = BTreeMap::new();
    for stored in store.open_batches()? {
        open.entry(stored.session).or_default().batches.push(stored.batch);
    }
    for stored in store.orphaned_activities(SESSIONS_AT_ONCE)? {
        open.entry(stored.session).or_default().orphans.push(stored.activity);
    }
    let tell = |view: &mut SessionView, row: SessionRow| {
        view.id = row.session_id.as_str().into();
        view.last_activity_at = row.active_at;
        // The engine weighs every witness and says so in the row: while it calls a turn one that runs, it does.
        let runs = [State::Working, State::WaitingForApproval, State::WaitingForInput];
        view.alive = row.state.is_some_and(|state| runs.iter().any(|known| known.word() == state));
    };
    for (key, view) in &mut open {
        if let Some(row) = store.session_of(*key)? {
            tell(view, row);
        }
    }
    for (key, row) in store.stateless_sessions()? {
        let view = open.entry(key).or_default();
        tell(view, row);
        if store.files_of(key)?.is_empty() {
            // Nothing but hooks told of it, and its end was not among what they told.
            let batches = store.batches(key)?;
            let last = batches.iter().filter_map(|stored| stored.batch.last_activity_at).max();
            (view.open, view.last_activity_at) = (last.is_some(), view.last_activity_at.max(last));
        }
    }
    let mut keys = BTreeMap::new();
    for (key, view) in &mut open {
        keys.insert(Arc::clone(&view.id), *key);
        if !view.orphans.is_empty() {
            view.batches = store.batches(*key)?.into_iter().map(|stored| stored.batch).collect();
        }
    }
    let views =
        open.into_values().filter(|view| view.open || !(view.batches.is_empty() && view.orphans.is_empty()));
    Ok((keys, views.collect()))
}
