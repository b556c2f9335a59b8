//! Why there is no reply, and whether that says something about the question.

/// A failure.
#[derive(Debug)]
pub struct Failure {
    /// In words for the user.
    pub words: String,
    /// The model could not be used at all; every question fails.
    pub away: bool,
}

impl Failure {
    /// The model cannot be used.
    pub fn away(words: impl Into<String>) -> Self {
        Self { words: words.into(), away: true }
    }
}

impl From<String> for Failure {
    fn from(words: String) -> Self {
        Self { words, away: false }
    }
}

impl From<&str> for Failure {
    fn from(words: &str) -> Self {
        Self::from(words.to_owned())
    }
}
