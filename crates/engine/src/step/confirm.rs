//! Whether the states of sessions are those that the store has them in.

use std::borrow::Cow;

use watchbill_core::ids::SessionId;
use watchbill_core::roster::row::Row;
use watchbill_core::session::state::State;

use super::rooms::Rooms;
use super::verdicts::row_of;

/// How a session is shown, compared with what the store says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// As it was, or nobody asks for it.
    Same,
    /// Otherwise, or its last transition may say so: to be followed by [`ShownStates::confirm`].
    Differs,
    /// It went on when it was shown last, and there is nothing to show of it any more: to be followed by
    /// [`ShownStates::gone`], unless it lies elsewhere.
    NoMore,
}

/// How sessions are shown.
pub(crate) struct ShownStates<'e>(pub(super) &'e mut Rooms);

impl ShownStates<'_> {
    /// Whether everything was looked at, and all rows that anybody asks for are put together.
    pub fn are_complete(&self) -> bool {
        let Rooms { rows, pending, startup, .. } = &*self.0;
        startup.is_over() && rows.due().is_empty() && !rows.resting().is_waking() && !pending.is_alone()
    }

    /// Compares the state of a session, and the kind of it, with the words that the store has; a row that differs is kept.
    pub fn compare(&mut self, id: &SessionId, state: Option<&str>, kind: Option<&str>) -> Shown {
        let goes_on = State::GOES_ON.iter().any(|known| Some(known.word()) == state);
        let Some(row) = made_row(self.0, id, goes_on) else {
            return if goes_on { Shown::NoMore } else { Shown::Same };
        };
        if !is_in(&row, state, kind) {
            let row = row.into_owned();
            self.0.pending.row(&row);
            return Shown::Differs;
        }
        // A row that was stored since this start may have been shown otherwise before.
        if self.0.rows.shown(id).is_some() { Shown::Differs } else { Shown::Same }
    }

    /// Has the state of a session kept as a transition, unless `last`, the last one in the store, says the same.
    pub fn confirm(&mut self, id: &SessionId, last: Option<(&str, Option<&str>)>) {
        let Some(row) = made_row(self.0, id, true).map(Cow::into_owned) else { return };
        if last.is_none_or(|(state, kind)| !is_in(&row, Some(state), kind)) {
            self.0.pending.transition(&row);
        }
    }

    /// There is nothing to show any more of a session that the store has as one that goes on.
    pub fn gone(&mut self, id: &SessionId) {
        self.0.pending.gone(id);
    }
}

/// The row of a session as it is shown, or, where nobody has asked for it, as it would be.
fn made_row<'r>(rooms: &'r Rooms, id: &SessionId, at_rest_too: bool) -> Option<Cow<'r, Row>> {
    let made = rooms.rows.made(id).map(Cow::Borrowed);
    made.or_else(|| at_rest_too.then(|| row_of(rooms, id)).flatten().map(Cow::Owned))
}

fn is_in(row: &Row, state: Option<&str>, kind: Option<&str>) -> bool {
    Some(row.state.word()) == state && row.state_kind.map(|kind| kind.word()) == kind
}
