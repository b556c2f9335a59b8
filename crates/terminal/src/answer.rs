//! What became of the wish to see a terminal.

/// The answer, with what the person can do instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// What became of it.
    pub outcome: Outcome,
    /// A line for a shell that shows a running session which is shown nowhere: a detached multiplexer's.
    pub attach: Option<String>,
    /// A line for a shell that takes the session up again.
    pub resume: String,
}

/// How far it went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The tab or pane is in front.
    Focused {
        /// The programs that were asked, innermost first: `tmux in kitty`.
        by: String,
    },
    /// Its window is in front, but which tab or pane shows is as it was.
    WindowOnly {
        /// The programs that were asked, innermost first.
        by: String,
        /// Why not the tab: a sentence.
        why: String,
    },
    /// Nothing was brought to the front.
    NotPossible {
        /// Why: one or two sentences.
        why: String,
    },
}

impl Outcome {
    /// Why it went no further; `None` when the tab is in front.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Focused { .. } => None,
            Self::WindowOnly { why, .. } | Self::NotPossible { why } => Some(why),
        }
    }
}
