//! The session of a transcript, and whether the user has forgotten it.

use std::collections::HashSet;

use watchbill_agents::files::parser_of;
use watchbill_agents::layout::ClientPath;
use watchbill_core::ids::SessionId;
use watchbill_store::{Store, StoreError};
use watchbill_watch::fs::Fs;
use watchbill_watch::scan::Found;

use crate::lines::first_lines;

/// The sessions that must not be stored.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ForgottenSessions(HashSet<SessionId>);

impl ForgottenSessions {
    /// Reads them from the store.
    pub(crate) fn of(store: &Store) -> Result<Self, StoreError> {
        Ok(Self(store.forgotten()?.into_iter().collect()))
    }

    /// Whether the transcript belongs to one of them, by its path. Such a transcript is never read.
    pub(crate) fn has(&self, found: &Found) -> bool {
        !self.0.is_empty()
            && found.place().and_then(owner_by_path).is_some_and(|session| self.contains(&session))
    }

    /// Whether the session is one of them.
    pub(crate) fn contains(&self, session: &SessionId) -> bool {
        self.0.contains(session)
    }
}

/// How much of a file is searched for a record that can be stored.
const HEAD: usize = 64 << 10;
/// With more files than this, each counts as having something to store: looking into all files of a first index takes
/// long.
pub(crate) const MAX_OWNER_LOOKUPS: usize = 64;

/// The session of a transcript that is not stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TranscriptOwner {
    /// None: the file cannot be read, holds no record, or none that names a session. It will never be stored.
    NoSession,
    /// This session.
    Session(SessionId),
    /// The beginning of the file does not tell.
    Unknown,
}

/// The session that the path names, if it names one.
fn owner_by_path(place: ClientPath) -> Option<SessionId> {
    match place {
        ClientPath::Transcript { session, .. } | ClientPath::Subagent { session, .. } => Some(session),
        _ => None,
    }
}

/// Finds the session of an unstored transcript by its beginning.
pub(crate) fn owner(fs: &dyn Fs, found: &Found) -> TranscriptOwner {
    let Ok(file) = fs.open(&found.path) else { return TranscriptOwner::NoSession };
    let (mut records, mut named) = (0, None);
    let read = first_lines(&*file, HEAD, &mut |line| {
        let report = parser_of(&found.path)(line, &mut |record, _| {
            named = named.take().or_else(|| record.envelope.session_id.as_deref().map(SessionId::new));
        });
        records += report.records;
    });
    let Ok(count) = read else { return TranscriptOwner::NoSession };
    let by_path = found.place().and_then(owner_by_path);
    match by_path.filter(|_| records > 0 || count == HEAD).or(named) {
        Some(session) => TranscriptOwner::Session(session),
        None if count == HEAD => TranscriptOwner::Unknown,
        None => TranscriptOwner::NoSession,
    }
}
