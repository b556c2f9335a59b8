//! Whether the states of sessions are those that the store has them in.

use std::borrow::Cow;

use watchbill_core::ids::SessionId;
use watchbill_core::roster::row::Row;
use watchbill_core::session::state::State;

use super::Engine;

/// How a session is shown, compared with what the store says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// As it was, or nobody asks for it.
    Same,
    /// Otherwise, or its last transition may say so: to be followed by [`Engine::confirm_state`].
    Differs,
    /// It went on when it was shown last, and there is nothing to show of it any more: to be followed by
    /// [`Engine::is_shown_no_more`], unless it lies elsewhere.
    NoMore,
}

impl Engine {
    /// Whether everything was looked at, and all rows that anybody asks for are put together.
    pub fn has_all_rows(&self) -> bool {
        self.startup.is_over() && self.dirty.is_empty() && !self.is_waking() && !self.keeping.is_alone()
    }

    /// Compares the state of a session, and the kind of it, with the words that the store has; a row that differs is kept.
    pub fn compare_state(&mut self, id: &SessionId, state: Option<&str>, kind: Option<&str>) -> Shown {
        let goes_on = State::GOES_ON.iter().any(|known| Some(known.word()) == state);
        let Some(row) = self.made_row(id, goes_on) else {
            return if goes_on { Shown::NoMore } else { Shown::Same };
        };
        if !is_in(&row, state, kind) {
            let row = row.into_owned();
            self.keeping.row(&row);
            return Shown::Differs;
        }
        // A row that was stored since this start may have been shown otherwise before.
        if self.views[0].roster.get(id).is_some() { Shown::Differs } else { Shown::Same }
    }

    /// Has the state of a session kept as a transition, unless `last`, the last one in the store, says the same.
    pub fn confirm_state(&mut self, id: &SessionId, last: Option<(&str, Option<&str>)>) {
        let Some(row) = self.made_row(id, true).map(Cow::into_owned) else { return };
        if last.is_none_or(|(state, kind)| !is_in(&row, Some(state), kind)) {
            self.keeping.transition(&row);
        }
    }

    /// There is nothing to show any more of a session that the store has as one that goes on.
    pub fn is_shown_no_more(&mut self, id: &SessionId) {
        self.keeping.gone(id);
    }

    /// The row of a session as it is shown, or, where nobody has asked for it, as it would be.
    fn made_row(&self, id: &SessionId, at_rest_too: bool) -> Option<Cow<'_, Row>> {
        let made = self.views[1].roster.get(id).map(|row| Cow::Borrowed(&**row));
        made.or_else(|| at_rest_too.then(|| self.row(id)).flatten().map(Cow::Owned))
    }
}

fn is_in(row: &Row, state: Option<&str>, kind: Option<&str>) -> bool {
    Some(row.state.word()) == state && row.state_kind.map(|kind| kind.word()) == kind
}
