//! Compares the sessions' states with those in the store.

use std::borrow::Cow;

use watchbill_core::ids::SessionId;
use watchbill_core::roster::row::Row;
use watchbill_core::session::state::State;

use super::rooms::Rooms;
use super::verdicts::row_of;

/// The result of comparing a session with the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StateComparison {
    /// The same state, or no caller asks for the row.
    Same,
    /// Another state, or the last stored transition may differ. Call [`ShownStates::confirm`] next.
    Differs,
    /// The store has it in a state that goes on, and now it has no row. Call [`ShownStates::gone`] next, unless its
    /// files lie elsewhere.
    NoMore,
}

/// The present states of sessions.
pub(crate) struct ShownStates<'e>(pub(super) &'e mut Rooms);

impl ShownStates<'_> {
    /// Whether the first look is over and all requested rows are made.
    pub fn are_complete(&self) -> bool {
        let Rooms { rows, pending, startup, .. } = &*self.0;
        startup.is_over() && rows.due().is_empty() && !rows.resting().is_waking() && !pending.is_store_only()
    }

    /// Compares a session's state and its kind with the stored words. Queues a row that differs.
    pub fn compare(&mut self, id: &SessionId, state: Option<&str>, kind: Option<&str>) -> StateComparison {
        let goes_on = State::GOES_ON.iter().any(|known| Some(known.as_str()) == state);
        let Some(row) = made_row(self.0, id, goes_on) else {
            return if goes_on { StateComparison::NoMore } else { StateComparison::Same };
        };
        if !is_in(&row, state, kind) {
            let row = row.into_owned();
            self.0.pending.row(&row);
            return StateComparison::Differs;
        }
        // An earlier save of this run may have stored the row, but not its transition.
        if self.0.rows.shown(id).is_some() { StateComparison::Differs } else { StateComparison::Same }
    }

    /// Queues a session's state as a transition, unless `last`, the last stored one, has the same state.
    pub fn confirm(&mut self, id: &SessionId, last: Option<(&str, Option<&str>)>) {
        let Some(row) = made_row(self.0, id, true).map(Cow::into_owned) else { return };
        if last.is_none_or(|(state, kind)| !is_in(&row, Some(state), kind)) {
            self.0.pending.transition(&row);
        }
    }

    /// Queues the end of a session: the store has it in a state that goes on, and now it has no row.
    pub fn gone(&mut self, id: &SessionId) {
        self.0.pending.gone(id);
    }
}

/// The made row of a session. With `at_rest_too`, makes the row if there is none.
fn made_row<'r>(rooms: &'r Rooms, id: &SessionId, at_rest_too: bool) -> Option<Cow<'r, Row>> {
    let made = rooms.rows.made(id).map(Cow::Borrowed);
    made.or_else(|| at_rest_too.then(|| row_of(rooms, id)).flatten().map(Cow::Owned))
}

fn is_in(row: &Row, state: Option<&str>, kind: Option<&str>) -> bool {
    Some(row.state.as_str()) == state && row.state_kind.map(|kind| kind.as_str()) == kind
}
