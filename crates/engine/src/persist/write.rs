//! Writes one step's changes into the store's tables, in one transaction.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use watchbill_core::chain::link::{Link, LinkConfidence, LinkReason};
use watchbill_core::history::Exclude;
use watchbill_core::ids::SessionId;
use watchbill_core::roster::row::Row;
use watchbill_core::session::snapshot::{from_bytes, to_bytes};
use watchbill_core::time::Timestamp;
use watchbill_store::tables::links::LinkRow;
use watchbill_store::tables::sessions::SessionRow;
use watchbill_store::tables::transitions::TransitionRow;
use watchbill_store::{Store, StoreError, WriteTransaction};

use super::changes::{AnswerChange, COMMANDS, Changes, FACTS, FileChange, SeenFacts};
use super::user_edits::{self, MANUAL};

/// Sessions that the user has forgotten. The store takes nothing of them, though their transcripts still exist.
#[derive(Debug, Default)]
pub struct Forgotten(HashSet<SessionId>);

impl Forgotten {
    /// Reads the list from the store.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn of(store: &Store) -> Result<Self, StoreError> {
        Ok(Self(store.forgotten()?.into_iter().collect()))
    }

    /// The sessions that a later list no longer has: they are stored again.
    pub fn not_in(&self, later: &Self) -> Vec<SessionId> {
        self.0.difference(&later.0).cloned().collect()
    }

    /// Adds forgotten sessions.
    pub fn add(&mut self, sessions: &BTreeSet<SessionId>) {
        self.0.extend(sessions.iter().cloned());
    }

    /// All forgotten sessions.
    pub fn sessions(&self) -> impl Iterator<Item = &SessionId> {
        self.0.iter()
    }

    fn is(&self, id: &str) -> bool {
        self.0.contains(id)
    }
}

/// Whether the store holds the record memory of a file after these changes are stored.
pub fn will_hold_records(path: &Path, change: &FileChange, changes: &Changes, forgotten: &Forgotten) -> bool {
    match change {
        FileChange::Read { session, .. } => {
            path.to_str().is_some() && !forgotten.is(session) && !changes.left_out.contains(session.as_str())
        }
        FileChange::Gone => false,
    }
}

/// The engine's knowledge about stored data.
pub struct EngineKnowledge<'e> {
    /// Whether a transcript lies below this engine's roots.
    pub is_below_our_roots: &'e dyn Fn(&str) -> bool,
    /// Whether the engine knows that such a link no longer holds.
    pub has_untied: &'e dyn Fn(&Link) -> bool,
}

/// Stores everything or nothing. `changes` were filtered by the rules of `exclude`.
pub fn write(
    store: &mut Store,
    changes: &Changes,
    forgotten: &Forgotten,
    exclude: &Exclude,
    seen: &EngineKnowledge<'_>,
    now: Timestamp,
) -> Result<(), StoreError> {
    // The removal of these rules still needs the stored states: they tell which sessions the rules exclude.
    let is_due = !exclude.is_empty() && !store.are_rules_applied(exclude.patterns())?;
    let is_removed = |id: &str| forgotten.is(id) || changes.left_out.contains(id);
    let known = if changes.links.is_some() { store.links()? } else { Vec::new() };
    let mut step = store.step()?;
    if changes.rows_behind {
        step.mark_rows_behind()?;
    }
    for (path, change) in &changes.files {
        // Paths that are not UTF-8 are rare, so each start reads them again.
        let Some(path) = path.to_str() else { continue };
        match change {
            FileChange::Read { session, head, piece, fresh } if !is_removed(session) => {
                step.put_state(path, session, head, piece.as_deref(), *fresh)?;
            }
            FileChange::Read { session, .. } if is_due && !forgotten.is(session) => {}
            FileChange::Gone if is_due => {}
            FileChange::Read { .. } | FileChange::Gone => step.remove_state(path)?,
        }
    }
    for row in changes.rows.values().filter(|row| !is_removed(row.session_id.as_str())) {
        step.put_session(&session_row(row))?;
    }
    for id in changes.gone.iter().filter(|id| !is_removed(id.as_str())) {
        step.end_shown_state(id)?;
    }
    for row in changes.transitions.iter().filter(|row| !is_removed(row.session_id.as_str())) {
        let session = step.session_key(&row.session_id)?;
        step.add_transition(session, &transition_row(row, exclude), now)?;
    }
    if let Some(links) = &changes.links {
        remove_old_links(&mut step, &known, seen)?;
        write_links(&mut step, &known, links, &is_removed)?;
    }
    for link in &changes.old_links {
        step.remove_link(link.from.as_str(), link.to.as_str(), link.reason.as_str())?;
    }
    // These links come from this step, or from one that could not be stored.
    write_links(&mut step, &[], &changes.new_links, &is_removed)?;
    user_edits::write(&mut step, &changes.user_edits)?;
    for change in &changes.answers {
        match change {
            AnswerChange::Given(row) if is_removed(&row.session_id) => {}
            AnswerChange::Given(row) => step.put_answer(row)?,
            AnswerChange::Outcome(request, outcome, at) => step.note_outcome(request, outcome, *at)?,
        }
    }
    for session in &changes.forgotten {
        step.note_forgotten(session.as_str(), now)?;
    }
    if changes.all_rows {
        step.rows_are_there(seen.is_below_our_roots)?;
    }
    if let Some(carried_out) = &changes.carried_out {
        step.put_fact(COMMANDS, &to_bytes(carried_out))?;
    }
    if let Some(facts) = &changes.facts {
        step.put_fact(FACTS, &to_bytes(&facts.without(&is_removed)))?;
    }
    step.commit()?;
    if !changes.forgotten.is_empty()
        && let Err(error) = store.write_forgotten_list()
    {
        tracing::warn!(%error, "should the store be damaged, it may not be known what was forgotten");
    }
    Ok(())
}

/// The stored facts without those that name one of these sessions, with their name; `None` if no fact names one.
///
/// # Errors
/// When the store cannot be read.
pub fn facts_without(
    store: &Store,
    is_removed: &dyn Fn(&str) -> bool,
) -> Result<Option<(&'static str, Vec<u8>)>, StoreError> {
    let Some(bytes) = store.fact(FACTS)? else { return Ok(None) };
    // Facts of another version are unusable, and may name these sessions, so drop them.
    let facts: SeenFacts = from_bytes(&bytes).unwrap_or_default();
    let rest = facts.without(is_removed);
    Ok((rest != facts || to_bytes(&facts) != bytes).then(|| (FACTS, to_bytes(&rest))))
}

/// Removes links that a transcript once told of and later told otherwise. An example: a session and its origin, after
/// the transcript of a third session between them was read.
fn remove_old_links(
    step: &mut WriteTransaction<'_>,
    known: &[LinkRow],
    seen: &EngineKnowledge<'_>,
) -> Result<(), StoreError> {
    for row in known {
        // A link that the user made is undone by the user alone.
        let ties_two =
            |reason: &LinkReason| !matches!(reason, LinkReason::Manual | LinkReason::CompactBoundary);
        let Some(reason) = row.reason.parse().ok().filter(ties_two) else { continue };
        let link = Link {
            from: SessionId::new(&row.earlier),
            to: SessionId::new(&row.later),
            reason,
            confidence: LinkConfidence::Proven,
            at: row.at,
        };
        if (seen.has_untied)(&link) {
            step.remove_link(&row.earlier, &row.later, &row.reason)?;
        }
    }
    Ok(())
}

/// Writes links that are new or changed. A link to a deleted transcript stays: no file tells of it any more.
fn write_links(
    step: &mut WriteTransaction<'_>,
    known: &[LinkRow],
    links: &[Link],
    is_removed: &dyn Fn(&str) -> bool,
) -> Result<(), StoreError> {
    let known: BTreeSet<&LinkRow> = known.iter().collect();
    let may_store = |link: &&Link| !is_removed(link.from.as_str()) && !is_removed(link.to.as_str());
    // A link that the user made is stored as a user edit.
    let found = |link: &&Link| link.reason.as_str() != MANUAL;
    for link in links.iter().filter(found).filter(may_store) {
        let row = LinkRow {
            earlier: link.from.to_string(),
            later: link.to.to_string(),
            reason: link.reason.as_str().to_owned(),
            confidence: link.confidence.as_str().to_owned(),
            at: link.at,
        };
        if !known.contains(&row) {
            step.put_link(&row)?;
        }
    }
    Ok(())
}

fn session_row(row: &Row) -> SessionRow {
    let text = |text: &Option<std::sync::Arc<str>>| text.as_ref().map(ToString::to_string);
    let superseded = row.superseded.as_ref();
    SessionRow {
        session_id: row.session_id.to_string(),
        agent: row.agent,
        project: text(&row.project_id),
        cwd: text(&row.cwd),
        title: text(&row.title),
        goal: text(&row.goal),
        summary: text(&row.summary),
        branch: text(&row.branch),
        model: text(&row.model),
        created_at: row.created_at,
        active_at: Some(row.last_activity_at),
        state: Some(row.state.as_str().to_owned()),
        state_kind: row.state_kind.map(|kind| kind.as_str().to_owned()),
        state_since: Some(row.state_since),
        chain_id: Some(row.work_chain_id.to_string()),
        superseded_by: superseded.map(|by| by.by.to_string()),
        superseded_at: superseded.and_then(|by| by.at),
        compactions: u64::from(row.compaction_count),
        row: None,
    }
}

fn transition_row(row: &Row, exclude: &Exclude) -> TransitionRow {
    let mut detail = row.state_reason.detail.to_string();
    // A witness's own text may name anything.
    if exclude.text_names_excluded(&detail, row.cwd.as_deref()) {
        detail.clear();
    }
    TransitionRow {
        detail,
        at: row.state_since,
        state: row.state.as_str().to_owned(),
        kind: row.state_kind.map(|kind| kind.as_str().to_owned()),
        source: row.state_reason.source.as_str().to_owned(),
        confidence: row.state_reason.confidence.as_str().to_owned(),
    }
}
