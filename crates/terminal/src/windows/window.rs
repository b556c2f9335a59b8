//! A window, what is known of the one that is looked for, and how surely it was found.

/// A window of an X display.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Window {
    /// Its id on the display.
    pub id: u32,
    /// The process that it belongs to on this machine, as it says itself (`_NET_WM_PID`).
    pub pid: Option<u32>,
    /// Its title.
    pub title: String,
}

/// What is known of the window that shows a place.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hint {
    /// `WINDOWID`, which every program that is started from a terminal inherits.
    pub id: Option<u32>,
    /// The program's process, where the place's own ancestors do not lead to it.
    pub pid: Option<u32>,
    /// Words that its title holds when it is the right one among several of one process, the best first.
    pub titles: Vec<String>,
}

/// A window was brought to the front.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Raised {
    /// The one that shows the place.
    Right,
    /// One of several windows of the program, and none could be told to be the right one.
    Guessed,
}
