//! Own sessions whose hosts have ended: what they add up to, and the removal of those that must not be kept.

use std::collections::BTreeSet;
use std::path::Path;

use watchbill_core::history::Exclude;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_drive::client::{HostClient, HostError};
use watchbill_drive::fold::{HostState, OwnFold};
use watchbill_drive::folder::Folder;
use watchbill_drive::sessions::{FoundHost, session};
use watchbill_drive::summary::OwnSummary;
use watchbill_platform::clock::since_boot;
use watchbill_protocol::own::spec::OwnSpec;

use crate::clock::{Clock, SystemClock};

/// How long a session without a host counts as starting.
const STARTS_WITHIN: Millis = Millis::from_secs(10);

/// Whether the host of a session may still come: it was asked for just now, and nothing is logged.
pub(super) fn is_starting(folder: &Folder, spec: &OwnSpec) -> bool {
    let asked_at = Timestamp::parse(&spec.created_at);
    asked_at.is_some_and(|at| SystemClock.now().since(at) < STARTS_WITHIN) && !folder.log().exists()
}

/// The summary of a session whose host has ended, or runs and cannot be reached.
pub(super) fn summary(folder: &Folder, spec: &OwnSpec, state: HostState) -> OwnSummary {
    let summary = match state {
        HostState::Runs => OwnSummary::of_log(folder, spec),
        _ => OwnSummary::of_ended(folder, spec),
    };
    let mut summary = summary.unwrap_or_else(|error| {
        tracing::warn!(%error, session = spec.session, "the log of an own session cannot be read");
        OwnSummary::new(spec)
    });
    summary.fold.set_host(match state {
        HostState::Runs => state,
        _ => gone(Some(summary.fold.last_at())),
    });
    summary
}

/// Whether a host that is gone ended with the machine: it said nothing since the machine started.
pub(super) fn gone(last_at: Option<Timestamp>) -> HostState {
    let up = Millis(i64::try_from(since_boot() / 1_000_000).unwrap_or(0));
    let booted = SystemClock.now() - up;
    if last_at.is_some_and(|at| at < booted) { HostState::GoneWithMachine } else { HostState::Gone }
}

/// The sessions that must not be kept once they have ended.
pub(crate) struct ExcludedSessions {
    /// `None` if the list cannot be read: then nothing is removed for it, and no mark is taken back.
    forgotten: Option<BTreeSet<String>>,
    exclude: Exclude,
}

impl ExcludedSessions {
    /// Finishes removals that were interrupted, and reads the list of the forgotten sessions.
    pub fn read(data_dir: &Path, exclude: &Exclude) -> Self {
        if let Err(error) = Folder::finish_removals(data_dir) {
            tracing::warn!(%error, "the rest of a removed session cannot be removed");
        }
        let forgotten = watchbill_store::forgotten_sessions(data_dir)
            .inspect_err(|error| tracing::warn!(%error, "the list of the forgotten sessions cannot be read"))
            .ok();
        Self { forgotten, exclude: exclude.clone() }
    }

    /// Whether a session is forgotten or excluded.
    fn names(&self, sessions: &BTreeSet<String>, folder: &Folder) -> bool {
        let excluded = || folder.spec().is_ok_and(|spec| self.exclude.excludes(&spec.cwd));
        self.forgotten.as_ref().is_some_and(|forgotten| !forgotten.is_disjoint(sessions)) || excluded()
    }

    fn mark(&self, sessions: &BTreeSet<String>, folder: &Folder) {
        let unwanted = self.names(sessions, folder);
        if unwanted || self.forgotten.is_some() {
            set_unwanted(folder, unwanted);
        }
    }

    /// Tells the host of a session that is forgotten or excluded to remove the folder at its end. Takes that back if the session is
    /// neither any more. The host goes on until then: the agent works, and readers need the log.
    pub(super) fn marks(&self, folder: &Folder, spec: &OwnSpec) {
        if folder.is_unwanted() || self.names(&OwnSummary::new(spec).sessions, folder) {
            let sessions = summary(folder, spec, HostState::Runs).sessions;
            self.mark(&sessions, folder);
        }
    }

    /// Removes the folder of an ended session if it is forgotten or excluded. Says whether it did.
    pub(super) fn removes(&self, sessions: &BTreeSet<String>, folder: &Folder) -> bool {
        if !self.names(sessions, folder) {
            return false;
        }
        if let Err(error) = folder.remove() {
            tracing::warn!(%error, folder = %folder.path().display(), "the log of a session cannot be removed");
        }
        true
    }
}

/// Removes the folders of ended own sessions that are forgotten or excluded. The host of one that runs does it at its end.
pub(crate) fn remove_unwanted(data_dir: &Path, exclude: &Exclude) {
    let unwanted = ExcludedSessions::read(data_dir, exclude);
    for folder in Folder::all(data_dir) {
        let Ok(found) = session(folder) else { continue };
        let has_ended = matches!(found.host, FoundHost::Ended) && !is_starting(&found.folder, &found.spec);
        let state = if has_ended { HostState::Gone } else { HostState::Runs };
        let sessions = summary(&found.folder, &found.spec, state).sessions;
        if has_ended {
            unwanted.removes(&sessions, &found.folder);
        } else {
            unwanted.mark(&sessions, &found.folder);
        }
    }
}

/// Tells the host of a session to remove the folder at its end, if the session is forgotten or excluded.
pub(crate) fn mark_unwanted(data_dir: &Path, exclude: &Exclude, folder: &Folder, spec: &OwnSpec) {
    ExcludedSessions::read(data_dir, exclude).marks(folder, spec);
}

fn set_unwanted(folder: &Folder, unwanted: bool) {
    let told = folder.set_unwanted(unwanted);
    // The host may have ended before it could see the mark. One that has not begun has no log.
    let has_begun = folder.log().exists() || !folder.spec_file().exists();
    let has_ended = || matches!(HostClient::connect(folder), Err(HostError::NotRunning));
    let done = if unwanted && has_begun && has_ended() { folder.remove() } else { told };
    if let Err(error) = done {
        tracing::warn!(%error, folder = %folder.path().display(), "the log of a session may stay after its end");
    }
}

/// What the log of an own session holds.
pub(crate) struct OwnLog {
    /// The ids of each conversation, as [`OwnSummary::conversations`] gives them.
    pub conversations: Vec<Vec<String>>,
    /// What its events add up to.
    pub fold: OwnFold,
}

/// The logs of all own sessions.
pub(crate) fn logs(data_dir: &Path) -> Vec<OwnLog> {
    let read = |folder| {
        let found = session(folder).ok()?;
        let has_ended = matches!(found.host, FoundHost::Ended);
        let state = if has_ended { HostState::Gone } else { HostState::Runs };
        let OwnSummary { sessions, fold } = summary(&found.folder, &found.spec, state);
        let known = || vec![sessions.iter().cloned().collect()];
        let conversations = match sessions.len() {
            1 => known(),
            _ => OwnSummary::conversations(&found.folder, &found.spec).unwrap_or_else(|_| known()),
        };
        Some(OwnLog { conversations, fold })
    };
    Folder::all(data_dir).into_iter().filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a folder that cannot be made is a failure")]

    use std::fs;

    use super::*;

    #[test]
    fn a_mark_stays_while_the_list_of_the_forgotten_cannot_be_read() {
        let data = tempfile::tempdir().unwrap();
        let path = data.path().join("own/a");
        fs::create_dir_all(&path).unwrap();
        let folder = Folder::at(&path);
        folder.set_unwanted(true).unwrap();
        let look = || {
            ExcludedSessions::read(data.path(), &Exclude::default()).mark(&["a".to_owned()].into(), &folder)
        };
        let list = data.path().join("watchbill.db.forgotten");
        fs::create_dir(&list).unwrap();
        look();
        assert!(folder.is_unwanted());
        fs::remove_dir(&list).unwrap();
        look();
        assert!(!folder.is_unwanted(), "the list names it no more");
    }
}
