//! What the person looks at: the session that is open in the window, while the window has the focus.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The window's focus and its open session, as far as the window has told.
#[derive(Debug, Default)]
pub struct Looking {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    focused: bool,
    shows: Option<String>,
}

impl State {
    fn in_front(&self) -> Option<&String> {
        self.shows.as_ref().filter(|_| self.focused)
    }
}

/// Each change answers with the session that is in front now, if that is another one than before.
impl Looking {
    /// The window got the focus, or lost it.
    pub fn focused(&self, focused: bool) -> Option<Option<String>> {
        self.change(|state| state.focused = focused)
    }

    /// The window shows this session in full, or none.
    pub fn shows(&self, session: Option<String>) -> Option<Option<String>> {
        self.change(|state| state.shows = session)
    }

    /// The session that is open in the window, in front or not.
    pub fn shown(&self) -> Option<String> {
        self.lock().shows.clone()
    }

    /// The window is gone.
    pub fn closed(&self) -> Option<Option<String>> {
        self.change(|state| *state = State::default())
    }

    fn change(&self, change: impl FnOnce(&mut State)) -> Option<Option<String>> {
        let mut state = self.lock();
        let before = state.in_front().cloned();
        change(&mut state);
        let after = state.in_front().cloned();
        (before != after).then_some(after)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_in_front_while_it_is_open_in_the_focused_window() {
        let looking = Looking::default();
        let a = || Some("a".to_owned());
        assert_eq!(looking.shows(a()), None, "the window is behind others");
        assert_eq!(looking.focused(true), Some(a()));
        assert_eq!(looking.focused(true), None, "nothing new");
        assert_eq!(looking.shows(None), Some(None));
        assert_eq!(looking.shows(a()), Some(a()));
        assert_eq!(looking.focused(false), Some(None));
        assert_eq!(looking.shown(), a(), "behind others it is open all the same");
        assert_eq!(looking.focused(true), Some(a()));
        assert_eq!(looking.closed(), Some(None));
        assert_eq!(looking.focused(true), None, "a window that opens again shows nothing yet");
    }
}
