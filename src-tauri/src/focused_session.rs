//! The session that the user looks at: it is open in the window, and the window has the focus.

/// The window's focus and its open session, as far as the window has reported them.
#[derive(Debug, Default)]
pub struct FocusedSession {
    focused: bool,
    shows: Option<String>,
}

/// Each change returns the session that is in front now, if that changed.
impl FocusedSession {
    /// The session that is in front.
    pub fn in_front(&self) -> Option<&String> {
        self.shows.as_ref().filter(|_| self.focused)
    }

    /// The window got the focus, or lost it.
    pub fn focused(&mut self, focused: bool) -> Option<Option<String>> {
        self.change(|now| now.focused = focused)
    }

    /// The window shows this session in full, or none.
    pub fn shows(&mut self, session: Option<String>) -> Option<Option<String>> {
        self.change(|now| now.shows = session)
    }

    /// The session that is open in the window, in front or not.
    #[cfg(any(target_os = "linux", test))]
    pub fn shown(&self) -> Option<String> {
        self.shows.clone()
    }

    /// The window is gone.
    pub fn closed(&mut self) -> Option<Option<String>> {
        self.change(|now| *now = Self::default())
    }

    fn change(&mut self, change: impl FnOnce(&mut Self)) -> Option<Option<String>> {
        let before = self.in_front().cloned();
        change(self);
        let after = self.in_front().cloned();
        (before != after).then_some(after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_in_front_while_it_is_open_in_the_focused_window() {
        let mut session = FocusedSession::default();
        let a = || Some("a".to_owned());
        assert_eq!(session.shows(a()), None, "the window is behind others");
        assert_eq!(session.focused(true), Some(a()));
        assert_eq!(session.focused(true), None, "nothing new");
        assert_eq!(session.in_front(), a().as_ref(), "a new engine gets this session");
        assert_eq!(session.shows(None), Some(None));
        assert_eq!(session.shows(a()), Some(a()));
        assert_eq!(session.focused(false), Some(None));
        assert_eq!(session.shown(), a(), "without the focus it is still open");
        assert_eq!(session.focused(true), Some(a()));
        assert_eq!(session.closed(), Some(None));
        assert_eq!(session.focused(true), None, "a window that opens again shows nothing yet");
    }
}
