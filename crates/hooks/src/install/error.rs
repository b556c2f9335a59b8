//! Errors that leave the agent's settings unchanged.

use std::path::PathBuf;

/// Why settings were not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// The text is no JSON, or does not have the structure of settings.
    #[error("line {line}, column {column}: {what}; correct it, then run this again")]
    Malformed {
        /// Counted from 1.
        line: usize,
        /// Counted from 1.
        column: usize,
        /// The error at that place.
        what: String,
    },
    /// A path to be written is not valid UTF-8.
    #[error(
        "the path {} is not valid UTF-8, so it cannot be written into settings; use a folder whose name is",
        path.display()
    )]
    NotText {
        /// The program's path, or the data folder's.
        path: PathBuf,
    },
    /// Another program's file has the name of our plugin.
    #[error("it is not of Watchbill; give it another name, then run this again")]
    NotOurs,
    /// The file is empty, so it is no JSON.
    #[error("it is empty; delete it, or write {{}} into it, then run this again")]
    Empty,
}
