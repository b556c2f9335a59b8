//! Applies the rules to sessions with new ended turns, one session at a time.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};
use watchbill_core::history::HistorySettings;
use watchbill_core::history::rows::{Batch, BatchId};
use watchbill_core::memory::model::queue::{session_to_ask, turns_to_ask};
use watchbill_core::memory::signals::join;
use watchbill_core::memory::{MemorySettings, PlanRow, RuleState, SessionRows, Signal};
use watchbill_core::time::Timestamp;
use watchbill_hooks::sender::HTTP_ID;
use watchbill_store::tables::memories::ProjectPlace;
use watchbill_store::{SessionKey, Store, StoreError};
use watchbill_watch::fs::Fs;

use super::project::project_of;

/// The most calls and turns of a session that the rules see, the newest. A program may make a session of any length.
const MOST_CALLS: u32 = 20_000;
const MOST_TURNS: u32 = 4_000;

/// The name of the fact since when a model is chosen: milliseconds since the epoch. It is asked about turns that ended later.
const MODEL_SINCE: &str = "model_since";

/// Lets the rules see one session that is due, the newest first, and queues its ended turns and itself for the model, if one is chosen. Returns
/// whether more may be due.
///
/// A turn that follows the newest one they saw, or that one again, is looked at alone; of several, the earliest first. If an
/// earlier turn has changed, the rules look at the whole session, and its evidence is replaced. Both ways give the same evidence.
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
    let Some((session, changed)) = store.memory_due(1)?.into_iter().next() else { return Ok(false) };
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
    let mut turns_left = in_order(store, session, &changed)?;
    let learned = match turns_left.pop_front() {
        Some(batch) => learn_turn(store, session, &place, &batch)?,
        None => None,
    };
    let mut learned = match learned {
        Some(learned) => learned,
        None => {
            turns_left.clear();
            learn_session(store, session, &place)?
        }
    };
    // The store takes no evidence of these, and the rules keep no text of them.
    let forgotten = store.forgotten_memories(place.project)?;
    learned.seen.shown.retain(|memory, _| !forgotten.contains(memory));
    let since = since.filter(|_| !learned.seen.is_over_http);
    let turns = since.map(|since| turns_to_ask(&learned.rows, since)).unwrap_or_default();
    let newest = since.and_then(|since| session_to_ask(&learned.rows, since));
    // A text that cannot be read makes the rules look at the whole session.
    let rules = serde_json::to_string(&learned.seen).unwrap_or_default();
    let mut step = store.step()?;
    match &learned.evidence {
        FoundEvidence::Changes(changes) => step.change_evidence(session, &place, changes, &rules)?,
        FoundEvidence::All(found) => step.put_evidence(session, &place, found, Some(&rules))?,
    }
    step.put_open_ends(session, &learned.seen.after.open_ends())?;
    newest.map_or(Ok(()), |ended_at| step.queue_summary(session, ended_at))?;
    turns.iter().try_for_each(|(batch, ended_at)| step.queue_model_job(session, batch, *ended_at))?;
    turns_left.iter().try_for_each(|batch| step.note_memory_due(session, Some(batch)))?;
    step.commit()?;
    Ok(true)
}

/// What the rules keep of a session, until its next turn ends.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Seen {
    /// The version of the rules: others look at the whole session.
    version: u32,
    /// A program sent a part of the session.
    pub(super) is_over_http: bool,
    /// The newest turn that they saw.
    newest: Option<TurnPlace>,
    /// What they kept before and after it.
    before: RuleState,
    after: RuleState,
    /// What the session showed, before that turn, of each memory that the turn shows.
    shown: BTreeMap<u64, Option<Signal>>,
}

/// Where a turn stands in its session.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct TurnPlace {
    started_at: Option<Timestamp>,
    byte: Option<u64>,
    id: BatchId,
}

impl TurnPlace {
    fn of(batch: &Batch) -> Self {
        Self { started_at: batch.started_at, byte: batch.offset, id: BatchId::clone(&batch.id) }
    }
}

/// What a look found.
struct Learned {
    /// The rows that it read.
    rows: SessionRows,
    evidence: FoundEvidence,
    seen: Seen,
}

enum FoundEvidence {
    All(Vec<Signal>),
    /// What is stored, and what stands in its place.
    Changes(Vec<(Option<Signal>, Option<Signal>)>),
}

/// What these rules keep of a session.
pub(super) fn seen(store: &Store, session: SessionKey) -> Result<Option<Seen>, StoreError> {
    let seen = store.memory_rules(session)?.and_then(|rules| serde_json::from_str::<Seen>(&rules).ok());
    Ok(seen.filter(|seen| seen.version == RuleState::VERSION))
}

/// The turns from the earliest to the newest. Without turns if one of them is not stored.
fn in_order(store: &Store, session: SessionKey, turns: &[BatchId]) -> Result<VecDeque<BatchId>, StoreError> {
    let mut places = Vec::with_capacity(turns.len());
    for turn in turns {
        let Some(stored) = store.batch(session, turn)? else { return Ok(VecDeque::new()) };
        places.push(TurnPlace::of(&stored.batch));
    }
    places.sort_unstable();
    Ok(places.into_iter().map(|place| place.id).collect())
}

/// Looks at one turn; `None` if that is not enough.
fn learn_turn(
    store: &Store,
    session: SessionKey,
    place: &ProjectPlace,
    batch: &BatchId,
) -> Result<Option<Learned>, StoreError> {
    let Some(mut seen) = seen(store, session)? else { return Ok(None) };
    let Some(rows) = turn_rows(store, session, &place.root, batch)? else { return Ok(None) };
    let (Some(turn), Some(newest)) = (rows.batches.last().map(TurnPlace::of), &seen.newest) else {
        return Ok(None);
    };
    let joins = is_over_http(&rows) && !seen.is_over_http;
    if turn < *newest || (turn != *newest && turn.id == newest.id) || joins {
        return Ok(None);
    }
    // Of the newest turn, its earlier findings are taken back.
    let shown = if turn == *newest { std::mem::take(&mut seen.shown) } else { BTreeMap::new() };
    let before = if turn == *newest { seen.before } else { seen.after };
    let mut after = before.clone();
    let found = follow(&mut after, place.project, &rows, seen.is_over_http);
    let mut by_id: BTreeMap<u64, Vec<Signal>> = BTreeMap::new();
    found.into_iter().for_each(|signal| by_id.entry(signal.id).or_default().push(signal));
    let mut next = BTreeMap::new();
    let mut changes = Vec::new();
    for id in by_id.keys().chain(shown.keys()).copied().collect::<BTreeSet<u64>>() {
        let stored = store.signal(session, id)?;
        let earlier = shown.get(&id).unwrap_or(&stored).clone();
        let here = by_id.get(&id).into_iter().flatten();
        let joined = join(earlier.iter().chain(here).cloned().collect()).pop();
        changes.push((stored, joined));
        if by_id.contains_key(&id) {
            next.insert(id, earlier);
        }
    }
    let seen = Seen { newest: Some(turn), before, after, shown: next, ..seen };
    Ok(Some(Learned { rows, evidence: FoundEvidence::Changes(changes), seen }))
}

/// Looks at all turns.
fn learn_session(store: &Store, session: SessionKey, place: &ProjectPlace) -> Result<Learned, StoreError> {
    let mut rows = session_rows(store, session, &place.root)?;
    let is_over_http = is_over_http(&rows);
    let ended = rows.batches.iter().rposition(Batch::is_over);
    // The newest ended turn may change, so what was there before it is kept.
    let later = ended.map(|at| rows.batches.split_off(at)).unwrap_or_default();
    let mut before = RuleState::default();
    let mut found = join(follow(&mut before, place.project, &rows, is_over_http));
    let mut after = before.clone();
    let earlier = std::mem::replace(&mut rows.batches, later);
    let of_newest = follow(&mut after, place.project, &rows, is_over_http);
    let newest = ended.and_then(|_| rows.batches.first()).map(TurnPlace::of);
    rows.batches.splice(..0, earlier);
    let known: BTreeMap<u64, &Signal> = found.iter().map(|signal| (signal.id, signal)).collect();
    let shown = of_newest.iter().map(|signal| (signal.id, known.get(&signal.id).copied().cloned())).collect();
    found.extend(of_newest);
    let seen = Seen { version: RuleState::VERSION, is_over_http, newest, before, after, shown };
    Ok(Learned { rows, evidence: FoundEvidence::All(join(found)), seen })
}

/// The findings of the rows' turns. In a session over HTTP all are proposals.
fn follow(state: &mut RuleState, project: u64, rows: &SessionRows, is_over_http: bool) -> Vec<Signal> {
    let mut found = state.follow(project, rows);
    found.iter_mut().for_each(|signal| signal.suspect |= is_over_http);
    found
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

/// The rows of one turn as the rules read them; `None` if it is not stored.
pub(super) fn turn_rows(
    store: &Store,
    session: SessionKey,
    root: &str,
    batch: &str,
) -> Result<Option<SessionRows>, StoreError> {
    let Some(stored) = store.batch(session, batch)? else { return Ok(None) };
    let plans = if store.has_plan(session, batch)? { plan_rows(store, session)? } else { Vec::new() };
    let calls = store.newest_activities(session, Some(batch), MOST_CALLS)?;
    Ok(Some(SessionRows {
        root: root.to_owned(),
        batches: vec![stored.batch],
        calls: calls.into_iter().map(|stored| stored.activity).collect(),
        plans,
    }))
}

fn plan_rows(store: &Store, session: SessionKey) -> Result<Vec<PlanRow>, StoreError> {
    let plans = store.plans(session)?.into_iter().map(|plan| PlanRow {
        plan: plan.plan.to_string(),
        content: plan.content,
        batch: plan.batch,
        states: plan.words,
    });
    Ok(plans.collect())
}

/// The rows of a session as the rules read them.
pub(super) fn session_rows(
    store: &Store,
    session: SessionKey,
    root: &str,
) -> Result<SessionRows, StoreError> {
    newest_rows(store, session, root, (MOST_TURNS, MOST_CALLS))
}

/// The rows of the newest turns and calls of a session, at most so many.
pub(super) fn newest_rows(
    store: &Store,
    session: SessionKey,
    root: &str,
    (turns, calls): (u32, u32),
) -> Result<SessionRows, StoreError> {
    Ok(SessionRows {
        root: root.to_owned(),
        batches: store.newest_batches(session, turns)?.into_iter().map(|stored| stored.batch).collect(),
        calls: store
            .newest_activities(session, None, calls)?
            .into_iter()
            .map(|stored| stored.activity)
            .collect(),
        plans: plan_rows(store, session)?,
    })
}

#[cfg(test)]
mod tests;
