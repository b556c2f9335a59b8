//! What another program gets of the roster: nothing of forgotten sessions, and nothing that the user excludes.

use std::collections::BTreeSet;

use watchbill_core::history::Exclude;
use watchbill_history::query::Gate;
use watchbill_protocol::chain::WorkChain;
use watchbill_protocol::error::ApiError;
use watchbill_protocol::request::Request;
use watchbill_protocol::roster::{RosterMessage, RosterSnapshot, TrackedSession};

use super::Handle;

impl Handle {
    /// The id of a session, if it may leave Watchbill.
    ///
    /// # Errors
    /// When no session matches, it may not leave, or the engine has stopped.
    pub fn shown(&self, session: &str) -> Result<String, ApiError> {
        let (gate, session) = (Gate::of(&self.settings())?, session.to_owned());
        self.ask_loop(move |engine, _| engine.shown(&gate, &session))?.map(|id| id.to_string())
    }

    /// The work chain of a session without the sessions that may not leave Watchbill.
    ///
    /// # Errors
    /// As above.
    pub fn gated_chain(&self, session: &str) -> Result<WorkChain, ApiError> {
        let (gate, session) = (Gate::of(&self.settings())?, session.to_owned());
        self.ask_loop(move |engine, _| engine.gated_chain(&gate, &session))?
    }

    /// The roster without the sessions that may not leave Watchbill.
    ///
    /// # Errors
    /// When the rules cannot be read, or the engine has stopped.
    pub fn gated_roster(&self, mut roster: RosterSnapshot) -> Result<RosterSnapshot, ApiError> {
        let gate = Gate::of(&self.settings())?;
        let hidden = self.hidden(&gate, roster.sessions.iter())?;
        roster.sessions.retain(|row| !hidden.contains(&row.session_id));
        roster.sessions.iter_mut().for_each(|row| hide_content(row, gate.exclude(), &hidden));
        Ok(roster)
    }

    /// The same for a message to a follower.
    ///
    /// # Errors
    /// As above.
    pub fn gated(&self, message: RosterMessage) -> Result<RosterMessage, ApiError> {
        let mut delta = match message {
            RosterMessage::Snapshot(roster) => return self.gated_roster(roster).map(RosterMessage::Snapshot),
            RosterMessage::Delta(delta) => delta,
            other => return Ok(other),
        };
        let gate = Gate::of(&self.settings())?;
        let hidden = self.hidden(&gate, delta.upserts.iter().map(|upsert| &upsert.session))?;
        delta.upserts.retain(|upsert| !hidden.contains(&upsert.session.session_id));
        for upsert in &mut delta.upserts {
            hide_content(&mut upsert.session, gate.exclude(), &hidden);
        }
        // The follower may have a row from before the rules named it.
        delta.removals.extend(hidden);
        Ok(RosterMessage::Delta(delta))
    }

    /// Those of the rows, and of their successors, that may not leave.
    fn hidden<'r>(
        &self,
        gate: &Gate,
        rows: impl Iterator<Item = &'r TrackedSession>,
    ) -> Result<BTreeSet<String>, ApiError> {
        if gate.is_open() {
            return Ok(BTreeSet::new());
        }
        let named = rows.flat_map(|row| [Some(&row.session_id), row.superseded_by.as_ref()]).flatten();
        let ids: BTreeSet<String> = named.cloned().collect();
        if ids.is_empty() {
            return Ok(ids);
        }
        let gate = gate.clone();
        self.ask_loop(move |engine, _| ids.into_iter().filter(|id| engine.hides(&gate, id)).collect())
    }
}

/// Leaves out the content of a request that names an excluded path, and a successor that may not leave. The row still says
/// that it waits, or that its work goes on.
fn hide_content(row: &mut TrackedSession, exclude: &Exclude, hidden: &BTreeSet<String>) {
    row.superseded_by = row.superseded_by.take().filter(|successor| !hidden.contains(successor));
    let cwd = row.cwd.as_deref();
    let names =
        |request: &Request| exclude.call_names_excluded(&request.tool, &request.input.to_string(), cwd);
    if row.request.as_ref().is_some_and(names) {
        row.request = None;
    }
}
