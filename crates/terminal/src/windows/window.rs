//! A window, the facts for choosing one, and how sure the choice is.

/// A window of an X display.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Window {
    /// Its id on the display.
    pub id: u32,
    /// The process on this machine that the window names (`_NET_WM_PID`).
    pub pid: Option<u32>,
    /// Its title.
    pub title: String,
}

/// Known facts about the window that shows a place.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WindowHint {
    /// `WINDOWID`, which every program started from a terminal inherits.
    pub id: Option<u32>,
    /// The program's process, if it is not among the place's ancestors.
    pub pid: Option<u32>,
    /// Words in the title of the right window, if one process has several; the best first.
    pub titles: Vec<String>,
}

/// A window was brought to the front.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Raised {
    /// The window that shows the place.
    ExactWindow,
    /// One of the program's several windows; which one shows the place is unknown.
    Guessed,
}
