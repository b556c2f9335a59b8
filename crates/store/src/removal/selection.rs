//! The rows and files that a removal takes away, and its report.

use std::collections::BTreeSet;

use super::mentions::Mentions;
use crate::tables::FileKey;
use crate::tables::archive::ArchiveRow;

/// Heads of the engine's folds that name an excluded path: the transcript's path, the stored bytes, and the bytes
/// to replace them.
pub type Heads = Vec<(String, Vec<u8>, Vec<u8>)>;

/// The rows and files that go.
#[derive(Debug)]
pub struct Selection {
    /// The report of the removal. Texts of single calls and transcripts are counted when they are removed.
    pub forecast: Removed,
    /// A fact of the engine that replaces one with data that goes: its name and its bytes.
    pub facts: Option<(&'static str, Vec<u8>)>,
    pub(super) reason: Reason,
    /// Archive files that no row names, removed with the others.
    pub(super) beside: Vec<String>,
    /// Single transcripts of sessions that stay.
    pub(super) files: Vec<(FileKey, String)>,
    /// Paths of single archived transcripts of sessions that stay.
    pub(super) archived: BTreeSet<String>,
    /// Single rows of sessions that stay.
    pub(super) mentions: Mentions,
    pub(super) heads: Heads,
}

/// The reason of the removal. It decides what is noted with it.
#[derive(Debug)]
pub(super) enum Reason {
    /// The user forgets sessions: their ids are kept, so that they are not stored again.
    Forgotten,
    /// The user excludes them: the mark of the rules is kept; `None` without rules.
    Excluded(Option<String>),
}

/// Files of the archive that no row names, except those of forgotten sessions.
#[derive(Debug, Default)]
pub(super) struct Strays {
    /// The first copy of each transcript that no row names.
    pub first_copies: Vec<ArchiveRow>,
    /// Other copies, which do not count.
    pub beside: Vec<ArchiveRow>,
}

/// What was removed, or would be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Removed {
    /// The sessions.
    pub sessions: BTreeSet<String>,
    /// Files that had been read.
    pub files: u64,
    /// Prompts.
    pub prompts: u64,
    /// Tool calls.
    pub activities: u64,
    /// Texts, with their entries in the index.
    pub texts: u64,
    /// Archived transcripts: names of the compressed files, relative to `archive/`.
    pub archived: BTreeSet<String>,
    /// Whether the bytes are still in the database, because another process reads it.
    /// [`Store::finish_wiping`](crate::Store::finish_wiping) wipes them.
    pub wiped_later: bool,
}

impl Selection {
    /// Selects whole sessions, and single archived transcripts of others.
    pub(super) fn of(reason: Reason, forecast: Removed, archived: BTreeSet<String>, strays: &Strays) -> Self {
        let goes =
            |row: &&ArchiveRow| forecast.sessions.contains(&row.session_id) || archived.contains(&row.path);
        let beside = strays.beside.iter().filter(goes).map(|row| row.file.clone()).collect();
        let (facts, files, mentions, heads) = (None, Vec::new(), Mentions::default(), Heads::new());
        Self { forecast, facts, reason, beside, files, archived, mentions, heads }
    }
}
