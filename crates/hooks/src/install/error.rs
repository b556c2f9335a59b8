//! Why settings of the agent are left as they are.

use std::path::PathBuf;

/// Why settings were left as they are.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// The text is no JSON, or not of the shape that settings have.
    #[error("line {line}, column {column}: {what}; correct it, then run this again")]
    Malformed {
        /// Counted from 1.
        line: usize,
        /// Counted from 1.
        column: usize,
        /// What is wrong there.
        what: String,
    },
    /// What would be written into them is no text.
    #[error(
        "the path {} is not valid UTF-8, so it cannot be written into settings; use a folder whose name is",
        path.display()
    )]
    NotText {
        /// The program's path, or the data folder's.
        path: PathBuf,
    },
    /// There is nothing in it, which is no JSON either.
    #[error("it is empty; delete it, or write {{}} into it, then run this again")]
    Empty,
}
