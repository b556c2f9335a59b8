//! Recovers stored turns, sessions and calls that never ended, and logs each recovery.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use watchbill_core::history::{Correction, RecoverySettings, SessionView, recover};
use watchbill_core::ids::SessionId;
use watchbill_core::session::state::State;
use watchbill_core::time::Timestamp;
use watchbill_store::tables::recoveries::RecoveryRow;
use watchbill_store::tables::sessions::SessionRow;
use watchbill_store::{SessionKey, Store, StoreError, WriteTransaction};

/// Recoveries in one step: other threads wait for the store meanwhile, some milliseconds at most. A first index of
/// many old sessions leaves thousands of calls that belong to no turn.
const AT_ONCE: usize = 100;
/// Sessions checked in one step.
const SESSIONS_AT_ONCE: usize = 8;

/// Checks everything that never ended, a few sessions in each step.
#[derive(Debug, Default)]
pub struct Recoverer {
    /// Sessions still to check.
    left: VecDeque<SessionKey>,
    /// Time of the next check, as far as the checked sessions need one.
    next: Option<Timestamp>,
    /// Recoveries since the check began.
    done: usize,
}

impl Recoverer {
    /// Something will need a check at that time. A check that runs now may not see it.
    pub fn schedule_check(&mut self, at: Timestamp) {
        self.next = Some(self.next.map_or(at, |next| next.min(at)));
    }

    /// Recovers what never ended, or a part of it. `living` are the sessions that a process is known to run. Returns the time of
    /// the next check, which is `now` if more is left.
    ///
    /// # Errors
    /// When the store cannot be read or written. This step then changes nothing, and the next check begins anew.
    pub fn correct_some(
        &mut self,
        store: &mut Store,
        settings: RecoverySettings,
        living: &BTreeSet<SessionId>,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        let Self { mut left, next, done } = std::mem::take(self);
        if left.is_empty() {
            // A thread that waits for the store need not wait for the first sessions too.
            self.left = store.unfinished_sessions()?.into();
            return Ok((!self.left.is_empty()).then_some(now));
        }
        let some: Vec<SessionKey> = left.drain(..left.len().min(SESSIONS_AT_ONCE)).collect();
        let (keys, views) = views(store, &some, living)?;
        let mut recovery = recover(&views, settings, now);
        let next = next.into_iter().chain(recovery.next).min();
        let over = recovery.corrections.len() <= AT_ONCE;
        recovery.corrections.truncate(AT_ONCE);
        write(store, &keys, &recovery.corrections, now)?;
        let done = done + recovery.corrections.len();
        if !over {
            some.into_iter().rev().for_each(|key| left.push_front(key));
        }
        if left.is_empty() {
            if done > 0 {
                tracing::info!(
                    count = done,
                    "turns, calls and sessions that never ended were recovered; the store has a log of it"
                );
            }
            return Ok(next);
        }
        *self = Self { left, next, done };
        Ok(Some(now))
    }
}

fn write(
    store: &mut Store,
    keys: &BTreeMap<Arc<str>, SessionKey>,
    put_right: &[Correction],
    now: Timestamp,
) -> Result<(), StoreError> {
    if put_right.is_empty() {
        return Ok(());
    }
    let mut step = store.step()?;
    for one in put_right {
        if let Some(key) = keys.get(one.session()) {
            apply_correction(&mut step, *key, one)?;
        }
        step.add_recovery(&RecoveryRow {
            at: now,
            what: <&str>::from(one).to_owned(),
            session_id: Some(one.session().to_string()),
            detail: one.detail(),
        })?;
    }
    step.commit()
}

fn apply_correction(
    step: &mut WriteTransaction<'_>,
    key: SessionKey,
    one: &Correction,
) -> Result<(), StoreError> {
    match one {
        Correction::StuckBatch { batch, .. } => {
            step.lose_calls(key, &batch.id)?;
            step.merge_batch(key, None, batch)
        }
        Correction::RecoveredBatch { batch, .. } => step.merge_batch(key, None, batch),
        Correction::OrphanedActivity { call, batch, .. } => step.adopt_activity(key, call, batch),
        Correction::StaleSession { last_activity_at, .. } => step.complete_session(key, *last_activity_at),
    }
}

type Views = (BTreeMap<Arc<str>, SessionKey>, Vec<SessionView>);

/// The open turns and calls of these sessions.
fn views(store: &Store, sessions: &[SessionKey], living: &BTreeSet<SessionId>) -> Result<Views, StoreError> {
    let (mut keys, mut views) = (BTreeMap::new(), Vec::new());
    for key in sessions {
        // A session without a row was forgotten since the check began.
        let Some(row) = store.session_of(*key)? else { continue };
        let lives = living.contains(&*row.session_id);
        let view = view(store, *key, row, lives)?;
        if view.open || !(view.batches.is_empty() && view.orphans.is_empty()) {
            keys.insert(Arc::clone(&view.id), *key);
            views.push(view);
        }
    }
    Ok((keys, views))
}

fn view(store: &Store, key: SessionKey, row: SessionRow, lives: bool) -> Result<SessionView, StoreError> {
    let orphans: Vec<_> = store.orphaned_activities(key)?.into_iter().map(|stored| stored.activity).collect();
    // A call without a turn may belong to any turn of the session.
    let batches = store.batches_to_recover(key, orphans.is_empty())?;
    let last_activity_at = store.last_sign(key)?;
    let in_turn = [State::Working, State::WaitingForApproval].map(|state| state.as_str());
    let in_turn = row.state.is_some_and(|state| in_turn.contains(&&*state));
    Ok(SessionView {
        id: row.session_id.as_str().into(),
        open: last_activity_at.is_some(),
        lives,
        // The state of a session without a process comes from its records. Their silence is what counts here.
        turn_runs: lives && in_turn,
        last_activity_at,
        batches: batches.into_iter().map(|stored| stored.batch).collect(),
        orphans,
    })
}
