//! Whose a transcript is, and whether the person wants it forgotten.

use std::collections::HashSet;

use watchbill_core::ids::SessionId;
use watchbill_core::transcript::parse::parse_line;
use watchbill_store::{Store, StoreError};
use watchbill_watch::fs::Fs;
use watchbill_watch::layout::Place;
use watchbill_watch::scan::Found;

use crate::lines::first_lines;

/// The sessions of which nothing is to be stored any more.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ForgottenSessions(HashSet<SessionId>);

impl ForgottenSessions {
    /// As the store has them.
    pub(crate) fn of(store: &Store) -> Result<Self, StoreError> {
        Ok(Self(store.forgotten()?.into_iter().collect()))
    }

    /// Whether the transcript is of one of them, as far as its path tells: it is never read then.
    pub(crate) fn has(&self, found: &Found) -> bool {
        !self.0.is_empty()
            && found.place().and_then(owner_by_path).is_some_and(|session| self.contains(&session))
    }

    /// Whether the session is one of them.
    pub(crate) fn contains(&self, session: &SessionId) -> bool {
        self.0.contains(session)
    }
}

/// So much of a file is looked into for something that is to be stored.
const HEAD: usize = 64 << 10;
/// Of more files than these it is taken for granted that each has something: to look into those of a first index takes long.
pub(crate) const FEW: usize = 64;

/// Whose a transcript is of which nothing is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Owner {
    /// Nobody's: it cannot be read, holds no record, or none that names a session. The store will never know it.
    Nobody,
    /// This session's.
    Session(SessionId),
    /// Its beginning does not tell.
    Unknown,
}

/// Whose it is, as its path says, as far as it does.
fn owner_by_path(place: Place) -> Option<SessionId> {
    match place {
        Place::Transcript { session } | Place::Subagent { session, .. } => Some(session),
        _ => None,
    }
}

/// Looks into the beginning of a transcript that the store does not know.
pub(crate) fn owner(fs: &dyn Fs, found: &Found) -> Owner {
    let Ok(file) = fs.open(&found.path) else { return Owner::Nobody };
    let (mut records, mut named) = (0, None);
    let read = first_lines(&*file, HEAD, &mut |line| {
        let report = parse_line(line, &mut |record| {
            named = named.take().or_else(|| record.envelope.session_id.as_deref().map(SessionId::new));
        });
        records += report.records;
    });
    let Ok(count) = read else { return Owner::Nobody };
    let by_path = found.place().and_then(owner_by_path);
    match by_path.filter(|_| records > 0 || count == HEAD).or(named) {
        Some(session) => Owner::Session(session),
        None if count == HEAD => Owner::Unknown,
        None => Owner::Nobody,
    }
}
