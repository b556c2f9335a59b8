//! How far the store lags behind the transcripts.

use std::collections::HashMap;

use watchbill_agents::Root;
use watchbill_core::history::HistorySettings;
use watchbill_store::{Store, StoreError};
use watchbill_watch::fs::Fs;
use watchbill_watch::scan::{Found, scan};

use super::owner::{ForgottenSessions, MAX_OWNER_LOOKUPS, TranscriptOwner, owner};
use crate::removal::exclude_later::exclude_is_due;

/// Data on disk that is not stored yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lag {
    /// All files that may be stored.
    pub all: u64,
    /// Folders and files that cannot be read.
    pub problems: u64,
    /// Files with something new.
    pub files: u64,
    /// Their bytes that are still to be read.
    pub bytes: u64,
    /// Files that the settings leave out, whole or in part. Their missing parts are not to be read.
    pub left_out: u64,
    /// The rules have changed since the store applied them.
    pub exclude_changed: bool,
}

/// Compares every transcript with the store. It counts files that grew or changed since they were stored, and files
/// that must be read anew because earlier rules left a part out.
///
/// # Errors
/// When the store cannot be read.
pub fn lag(store: &Store, fs: &dyn Fs, roots: &[Root], history: &HistorySettings) -> Result<Lag, StoreError> {
    let mut known = HashMap::new();
    store.files(&mut |_, file| {
        known.insert(file.path, (file.cursor.size, file.cursor.offset));
    })?;
    let forgotten = ForgottenSessions::of(store)?;
    let partly = store.partly_excluded()?;
    let mut lag = Lag { exclude_changed: exclude_is_due(store, history)?, ..Lag::default() };
    let scan = scan(fs, roots);
    lag.problems = scan.problems.iter().filter(|problem| problem.kind.loses_something()).count() as u64;
    let mut found = scan.found;
    found.retain(|found| found.kind.is_transcript() && !forgotten.has(found));
    // A rewritten file without a record so far has no stored rows either.
    let is_begun =
        |found: &Found| known.get(&*found.path.to_string_lossy()).is_some_and(|(_, read)| *read > 0);
    let few = found.iter().filter(|found| !is_begun(found)).count() <= MAX_OWNER_LOOKUPS;
    for found in &found {
        let path = found.path.to_string_lossy();
        if history.exclude.excludes(&path) {
            lag.left_out += 1;
            continue;
        }
        lag.all += 1;
        let partly = partly.contains(&*path);
        let (size, read) = match lag.exclude_changed && partly {
            true => (0, 0),
            false => known.get(&*path).copied().unwrap_or_default(),
        };
        let is_storable = || match owner(fs, found) {
            // It counts among the problems.
            TranscriptOwner::NoSession => false,
            TranscriptOwner::Session(session) => !forgotten.contains(&session),
            TranscriptOwner::Unknown => true,
        };
        if size != found.stat.len && few && !is_begun(found) && !is_storable() {
            // The history will never store it.
        } else if size != found.stat.len {
            lag.files += 1;
            lag.bytes += found.stat.len.saturating_sub(read);
        } else {
            lag.left_out += u64::from(partly);
        }
    }
    Ok(lag)
}
