//! Forgets sessions for good. Works here if this process may write the store; otherwise asks the holder through its
//! socket.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use watchbill_core::ids::SessionId;
use watchbill_core::time::Timestamp;
use watchbill_drive::folder::Folder;
use watchbill_history::errors::{data_dir, store_api_error};
use watchbill_history::query::named::{IdScope, resolve_one};
pub use watchbill_history::removal::ForgetWhat;
pub use watchbill_history::removal::forget::Stage;
use watchbill_history::removal::forget::{carry_out_removal, removal_preview, resolve_removal};
use watchbill_history::removal::{Removal, RemovalResult};
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::own::spec::OwnSpec;
use watchbill_protocol::store::ForgetReport;
use watchbill_settings::Settings;
use watchbill_store::{Access, OpenMode, Store, StoreError};

use super::holder::here_or_at_holder;
use crate::persist::live_state::StoredLiveState;
use crate::socket::client::Client;
use crate::witnesses::own_hosts::ended::{self, OwnLog, remove_unwanted};

/// How long to wait for a holder that does not listen.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The process that removes, and its progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemovalProgress {
    /// This process.
    Here(Stage),
    /// Another process, with its id if known. Its progress is unknown.
    Elsewhere(Option<u32>),
}

/// Removes sessions from the store for good; with `dry_run`, only reports the sessions that it would remove. If another
/// process writes the store, asks that process and waits for it. Calls `tell` with the progress.
///
/// # Errors
/// When no such session is stored, the store cannot be written, or its holder does not answer. The error says which it
/// is.
pub fn forget(
    settings: &Settings,
    what: &ForgetWhat,
    dry_run: bool,
    now: Timestamp,
    tell: &mut dyn FnMut(RemovalProgress),
) -> Result<ForgetReport, ApiError> {
    let data_dir = data_dir(settings)?;
    let own = ended::logs(data_dir);
    if own.is_empty() && !data_dir.join(watchbill_store::DATABASE).exists() {
        return Err(ApiError::new(ErrorCode::NotFound, "nothing is stored, so there is nothing to forget"));
    }
    let mode = if dry_run { OpenMode::Read } else { OpenMode::WriteOrRead };
    let store = match Store::open(data_dir, mode) {
        // Nothing is stored, and a look stores nothing.
        Err(StoreError::Absent { .. }) if dry_run => None,
        other => Some(other.map_err(|error| store_api_error(&error))?),
    };
    let (removal, work_chain_id) = match what {
        ForgetWhat::Before(at) => (Removal::ForgetBefore(*at), None),
        ForgetWhat::Sessions(asked) => named(store.as_ref(), asked, &own)?,
    };
    let removal = whole_logs(data_dir, store.as_ref(), &own, removal)?;
    let Some(store) = store else {
        let sessions = removal.sessions().iter().map(ToString::to_string).collect();
        return Ok(ForgetReport { sessions, dry_run, ..ForgetReport::default() });
    };
    let report = if dry_run {
        removal_preview(&store, &removal)?
    } else {
        let done = remove_here_or_at_holder(data_dir, store, &removal, now, TIMEOUT, tell)?;
        // What the hosts of own sessions have logged is in folders beside the store.
        remove_unwanted(data_dir, &settings.history.exclude);
        done.ok_or_else(|| {
            ApiError::new(
                ErrorCode::Internal,
                "the program that holds the store did not report what it removed",
            )
        })?
    };
    Ok(ForgetReport { work_chain_id, ..report })
}

/// Tells the host of an own session that was just started to keep nothing, if `exclude` or the list of the forgotten ones says so.
/// Perhaps no engine runs when it ends.
pub fn mark_unwanted_own(settings: &Settings, folder: &Folder, spec: &OwnSpec) {
    if let Some(data_dir) = &settings.data_dir {
        ended::mark_unwanted(data_dir, &settings.history.exclude, folder, spec);
    }
}

/// Removes the logs of own sessions that `exclude` or the list of the forgotten ones names.
pub(crate) fn remove_unwanted_own(settings: &Settings) {
    if let Some(data_dir) = &settings.data_dir {
        remove_unwanted(data_dir, &settings.history.exclude);
    }
}

/// The sessions that the user names, of the store and of logs: the store may not know them, because no engine ran.
fn named(
    store: Option<&Store>,
    asked: &[String],
    own: &[OwnLog],
) -> Result<(Removal, Option<String>), ApiError> {
    let ids: BTreeSet<&String> = own.iter().flat_map(|log| log.conversations.iter().flatten()).collect();
    let resolve = |asked: &String| {
        let begin: Vec<String> =
            ids.iter().filter(|id| id.starts_with(&**asked)).map(ToString::to_string).collect();
        match store {
            Some(store) => resolve_removal(store, asked, begin),
            None => resolve_one(IdScope::StoredOrChains, asked, &begin)
                .map(|id| (Removal::Forget(SessionId::new(id)), None)),
        }
    };
    if let [one] = asked {
        return resolve(one);
    }
    let each = asked.iter().map(resolve).collect::<Result<Vec<_>, _>>()?;
    let all: BTreeSet<SessionId> = each.iter().flat_map(|(removal, _)| removal.sessions()).cloned().collect();
    Ok((Removal::ForgetAll(all.into_iter().collect()), None))
}

/// A removal that the socket or HTTP asks for, as [`whole_logs`] gives it.
///
/// # Errors
/// When it would take a part of a log, or the store cannot be read.
pub(crate) fn of_whole_logs(settings: &Settings, removal: Removal) -> Result<Removal, ApiError> {
    let (Some(data_dir), false) = (&settings.data_dir, matches!(removal, Removal::RememberAgain(_))) else {
        return Ok(removal);
    };
    let store = match Store::open(data_dir, OpenMode::Read) {
        Err(StoreError::Absent { .. }) => None,
        other => Some(other.map_err(|error| store_api_error(&error))?),
    };
    whole_logs(data_dir, store.as_ref(), &ended::logs(data_dir), removal)
}

/// The removal so that each log of an own session goes as a whole or stays. `/clear` begins another conversation in the same log. Sessions
/// by name must be all of a log. Those before a time include what only logs hold, and leave out a log that is newer.
fn whole_logs(
    data_dir: &Path,
    store: Option<&Store>,
    own: &[OwnLog],
    removal: Removal,
) -> Result<Removal, ApiError> {
    let forgotten = watchbill_store::forgotten_sessions(data_dir).unwrap_or_default();
    // The conversations of a log that stay, each by its first id.
    let staying = |log: &OwnLog, goes: &BTreeSet<String>| -> Vec<String> {
        let stays = |ids: &&Vec<String>| !ids.iter().any(|id| goes.contains(id) || forgotten.contains(id));
        log.conversations.iter().filter(stays).filter_map(|ids| ids.first().cloned()).collect()
    };
    let is_stored =
        |id: &String| store.is_some_and(|store| store.session_ids(id, 1).is_ok_and(|ids| !ids.is_empty()));
    let Removal::ForgetBefore(at) = removal else {
        let asked: BTreeSet<String> = removal.sessions().iter().map(ToString::to_string).collect();
        for log in own.iter().filter(|log| log.conversations.iter().flatten().any(|id| asked.contains(id))) {
            let rest = staying(log, &asked);
            if !rest.is_empty() {
                return Err(shared_log(&asked, &rest));
            }
        }
        return Ok(removal);
    };
    let stored: BTreeSet<String> = match store {
        Some(store) => removal_preview(store, &removal)?.sessions.into_iter().collect(),
        None => BTreeSet::new(),
    };
    let mut all = stored.clone();
    for log in own {
        let rest = staying(log, &all);
        if !rest.is_empty() && !log.fold.is_live() && log.fold.last_at() < at && !rest.iter().any(is_stored) {
            all.extend(rest);
        } else if !rest.is_empty() {
            all.retain(|id| !log.conversations.iter().flatten().any(|of_log| of_log == id));
        }
    }
    if all == stored {
        return Ok(removal);
    }
    Ok(Removal::ForgetAll(all.iter().map(|id| SessionId::new(id)).collect()))
}

fn shared_log(asked: &BTreeSet<String>, rest: &[String]) -> ApiError {
    let all: Vec<&str> = asked.iter().chain(rest).map(|id| &**id).collect();
    let message = format!(
        "nothing was forgotten: the session is in one log with {}, because `/clear` began that one; to forget all of them: \
         `watchbill forget {}`",
        rest.join(", "),
        all.join(" ")
    );
    ApiError::new(ErrorCode::Conflict, message)
}

/// Allows a forgotten session to be stored again. Gives its id.
///
/// # Errors
/// When it was not forgotten, the store cannot be written, or its holder does not answer.
pub fn unforget(settings: &Settings, asked: &str, now: Timestamp) -> Result<String, ApiError> {
    let data_dir = data_dir(settings)?;
    let store = Store::open(data_dir, OpenMode::WriteOrRead).map_err(|error| store_api_error(&error))?;
    let forgotten = store.forgotten().map_err(|error| store_api_error(&error))?;
    let mut begin: Vec<&str> = forgotten.iter().map(SessionId::as_str).collect();
    begin.retain(|id| id.starts_with(asked));
    let session = SessionId::new(resolve_one(IdScope::Forgotten, asked, &begin)?);
    let removal = Removal::RememberAgain(session.clone());
    remove_here_or_at_holder(data_dir, store, &removal, now, TIMEOUT, &mut |_| ())?;
    remove_unwanted_own(settings);
    Ok(session.to_string())
}

/// Carries the removal out here, or asks the holder to do it.
fn remove_here_or_at_holder(
    data_dir: &Path,
    mut store: Store,
    removal: &Removal,
    now: Timestamp,
    patience: Duration,
    tell: &mut dyn FnMut(RemovalProgress),
) -> RemovalResult {
    let Access::Reader { held_by } = store.access() else {
        return carry_out_removal(&mut store, data_dir, &StoredLiveState, removal, now, &mut |stage| {
            tell(RemovalProgress::Here(stage))
        });
    };
    let would = removal_preview(&store, removal)?;
    // An open reader could keep SQLite from wiping the bytes.
    drop(store);
    tell(RemovalProgress::Elsewhere(held_by));
    let at_holder = |client: &mut Client, was_sent| match client.forget(removal)? {
        // An earlier holder removed the session, and ended before it could answer.
        Some(report) if was_sent && report.sessions.is_empty() => {
            Ok(Some(ForgetReport { dry_run: false, ..would.clone() }))
        }
        report => Ok(report),
    };
    let here = || match Store::take_over(data_dir).map_err(|error| store_api_error(&error))? {
        Some(mut store) => finish_removal(&mut store, data_dir, removal, would.clone(), now, tell).map(Some),
        None => Ok(None),
    };
    let shows = "`watchbill forget --dry-run` shows what is still stored";
    here_or_at_holder(data_dir, patience, at_holder, here, shows)
}

/// Finishes the removal after the holder ended, perhaps in the middle of it. `would` is the report from before.
fn finish_removal(
    store: &mut Store,
    data_dir: &Path,
    removal: &Removal,
    would: ForgetReport,
    now: Timestamp,
    tell: &mut dyn FnMut(RemovalProgress),
) -> RemovalResult {
    let done = carry_out_removal(store, data_dir, &StoredLiveState, removal, now, &mut |stage| {
        tell(RemovalProgress::Here(stage))
    })?;
    let is_left = |report: &ForgetReport| !report.sessions.is_empty() || would.sessions.is_empty();
    if done.as_ref().is_none_or(is_left) {
        return Ok(done);
    }
    // The rows are gone already; their bytes may still be there.
    let wiped = store.finish_wiping().and_then(|()| store.is_wiping_due());
    let wiped_later = wiped.map_err(|error: StoreError| store_api_error(&error))?;
    Ok(Some(ForgetReport { wiped_later, dry_run: false, ..would }))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a store that cannot be made is a failure")]

    use super::*;

    /// A store with one session.
    fn store(folder: &Path) -> Store {
        let mut store = Store::open(folder, OpenMode::WriteOrRead).unwrap();
        let mut step = store.step().unwrap();
        step.session_key(&SessionId::new("s")).unwrap();
        step.commit().unwrap();
        store
    }

    #[test]
    fn a_holder_that_does_not_listen_is_given_up_and_nothing_has_changed() {
        let folder = tempfile::tempdir().unwrap();
        let writer = store(folder.path());
        let reader = Store::open(folder.path(), OpenMode::WriteOrRead).unwrap();
        let removal = Removal::Forget(SessionId::new("s"));
        let now = Timestamp::from_millis(5);
        let given_up =
            remove_here_or_at_holder(folder.path(), reader, &removal, now, Duration::ZERO, &mut |_| ())
                .unwrap_err();
        let pid = format!("process {} ", std::process::id());
        assert!(given_up.message.contains(&pid), "{}", given_up.message);
        assert_eq!(writer.session_ids("s", 2).unwrap(), ["s"]);
    }

    #[test]
    fn a_program_that_finishes_a_removal_reports_what_there_was_before() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = store(folder.path());
        let removal = Removal::Forget(SessionId::new("s"));
        let before = removal_preview(&store, &removal).unwrap();
        let now = Timestamp::from_millis(5);
        for part in ["nothing was done", "everything was, and not said"] {
            let done = {
                let done =
                    finish_removal(&mut store, folder.path(), &removal, before.clone(), now, &mut |_| ());
                done.unwrap().unwrap()
            };
            assert_eq!((done.sessions, done.dry_run), (vec!["s".to_owned()], false), "{part}");
        }
        assert_eq!(store.forgotten().unwrap(), [SessionId::new("s")]);
    }
}
