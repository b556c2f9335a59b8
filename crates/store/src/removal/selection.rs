//! What a removal takes away, and what it reports.

use std::collections::BTreeSet;

use super::mentions::Mentions;
use crate::tables::FileKey;
use crate::tables::archive::ArchiveRow;

/// The engine's heads of transcripts that tell of too much: the path, the bytes that are stored, and those instead.
pub type Heads = Vec<(String, Vec<u8>, Vec<u8>)>;

/// What goes.
#[derive(Debug)]
pub struct Selection {
    /// What removing it will be reported as; texts of single calls and transcripts are counted when they go.
    pub would: Removed,
    /// The engine's facts that replace those that name what goes: the fact's name, and its bytes.
    pub facts: Option<(&'static str, Vec<u8>)>,
    pub(super) reason: Reason,
    /// Files of the archive that are removed with those that count.
    pub(super) beside: Vec<String>,
    /// Single transcripts of sessions that stay.
    pub(super) files: Vec<(FileKey, String)>,
    /// Paths of single archived transcripts of sessions that stay.
    pub(super) archived: BTreeSet<String>,
    /// Single rows of sessions that stay.
    pub(super) mentions: Mentions,
    pub(super) heads: Heads,
}

/// Why it goes, which decides what is noted with the removal.
#[derive(Debug)]
pub(super) enum Reason {
    /// The person forgets sessions: their ids are kept, so that they are not stored again.
    Forgotten,
    /// The person excludes it: the mark of these rules is kept, nothing where there are none.
    Excluded(Option<String>),
}

/// Files of the archive that no row names, but for those of sessions that were forgotten.
#[derive(Debug, Default)]
pub(super) struct Strays {
    /// The first copy of each transcript of which no row tells.
    pub untold: Vec<ArchiveRow>,
    /// Other copies, which count as nothing.
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
    /// The bytes are still in the database, since another process reads it.
    /// [`Store::finish_wiping`](crate::Store::finish_wiping) wipes them.
    pub wiped_later: bool,
}

impl Selection {
    /// Sessions as a whole, and single archived transcripts of others.
    pub(super) fn of(reason: Reason, would: Removed, archived: BTreeSet<String>, strays: &Strays) -> Self {
        let goes =
            |row: &&ArchiveRow| would.sessions.contains(&row.session_id) || archived.contains(&row.path);
        let beside = strays.beside.iter().filter(goes).map(|row| row.file.clone()).collect();
        let (facts, files, mentions, heads) = (None, Vec::new(), Mentions::default(), Heads::new());
        Self { would, facts, reason, beside, files, archived, mentions, heads }
    }
}
