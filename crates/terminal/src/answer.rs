//! The outcome of a request to show a session's terminal.

/// The outcome, and what the user can do instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FocusAnswer {
    /// How much was brought to the front.
    pub outcome: FocusLevel,
    /// A shell command that shows a running session that no terminal shows, in a detached multiplexer.
    pub attach: Option<String>,
    /// A shell command that resumes the session.
    pub resume: String,
}

/// How much was brought to the front.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FocusLevel {
    /// The tab or pane is in front.
    Focused {
        /// The programs that took part, innermost first: `tmux in kitty`.
        by: String,
    },
    /// The window is in front, but it shows the same tab or pane as before.
    WindowOnly {
        /// The programs that took part, innermost first.
        by: String,
        /// Why the tab is not in front: a sentence.
        why: String,
    },
    /// Nothing was brought to the front.
    NotPossible {
        /// Why: one or two sentences.
        why: String,
    },
}

impl FocusLevel {
    /// Why no more was brought to the front; `None` if the tab is in front.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Focused { .. } => None,
            Self::WindowOnly { why, .. } | Self::NotPossible { why } => Some(why),
        }
    }
}
