//! Forgets sessions for good. It needs a store that can be written.

use std::path::Path;

use watchbill_core::ids::SessionId;
use watchbill_core::time::Timestamp;
use watchbill_hooks::places::HookPaths;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::store::ForgetReport;
pub use watchbill_store::removal::Stage;
use watchbill_store::removal::{Forget, Removed};
use watchbill_store::{Store, StoreError};

use super::request::{Removal, RemovalResult};
use crate::errors::store_api_error;
use crate::index::over_http;
use crate::live_state::LiveState;
use crate::query::named::{IdScope, MAX_CANDIDATES, resolve_one};

/// The session that `asked` names, or all sessions of the work chain with that id. A beginning of a session's id
/// means that session, as in all commands. `own` holds the ids of own sessions that begin so, stored or not.
///
/// # Errors
/// When nothing matches, or several ids do.
pub fn resolve_removal(
    store: &Store,
    asked: &str,
    own: Vec<String>,
) -> Result<(Removal, Option<String>), ApiError> {
    let stored = |error: StoreError| store_api_error(&error);
    let chains = store.chain_ids(asked, MAX_CANDIDATES + 1).map_err(stored)?;
    let is_chain = chains.iter().any(|chain| chain == asked);
    let mut sessions = store.session_ids(asked, MAX_CANDIDATES + 1).map_err(stored)?;
    if sessions.is_empty() {
        sessions = store.session_ids_of_strays(asked).map_err(stored)?;
    }
    let unstored: Vec<String> = own.into_iter().filter(|id| !sessions.contains(id)).collect();
    sessions.extend(unstored);
    if chains.is_empty() || !(sessions.is_empty() || is_chain) {
        let session = resolve_one(IdScope::StoredOrChains, asked, &sessions)?;
        return Ok((Removal::Forget(SessionId::new(session)), None));
    }
    let chain = resolve_one(IdScope::StoredChains, asked, &chains)?;
    let sessions = store.session_ids_of_chain(chain).map_err(stored)?;
    let sessions = sessions.iter().map(|id| SessionId::new(id)).collect();
    Ok((Removal::ForgetAll(sessions), Some(chain.clone())))
}

/// Carries out a removal. `tell` receives its progress.
///
/// # Errors
/// When the store or the hook events cannot be written.
pub fn carry_out_removal(
    store: &mut Store,
    data_dir: &Path,
    live: &dyn LiveState,
    removal: &Removal,
    now: Timestamp,
    tell: &mut dyn FnMut(Stage),
) -> RemovalResult {
    let what = match removal {
        Removal::RememberAgain(session) => {
            return store
                .remember_again(Some(session))
                .map(|_| None)
                .map_err(|error| store_api_error(&error));
        }
        Removal::Forget(session) => Forget::Session(session.clone()),
        Removal::ForgetAll(sessions) => Forget::Sessions(sessions.clone()),
        Removal::ForgetBefore(at) => Forget::Before(*at),
    };
    let bytes = |store: &Store| store.totals().map_or(0, |totals| totals.bytes);
    let before = bytes(store);
    let gone = forget_all_of(store, data_dir, live, &what, now, tell)?;
    let freed = before.saturating_sub(bytes(store));
    Ok(Some(report(gone, freed, false)))
}

/// Also removes the engine's facts, which no file repeats, and recent hook events. The hook events go first: after an
/// interruption the session is still stored, so the user can name it again.
fn forget_all_of(
    store: &mut Store,
    data_dir: &Path,
    live: &dyn LiveState,
    what: &Forget,
    now: Timestamp,
    tell: &mut dyn FnMut(Stage),
) -> Result<Removed, ApiError> {
    store.tidy_archive().map_err(|error| store_api_error(&error))?;
    let mut selection = store.select_forgotten(what).map_err(|error| store_api_error(&error))?;
    let ids: Vec<SessionId> = selection.forecast.sessions.iter().map(|id| SessionId::new(id)).collect();
    let places = HookPaths::new(data_dir);
    let out_of_hooks = || {
        over_http::forget(data_dir, &ids)?;
        watchbill_hooks::forget::forget(&places, &ids)
    };
    out_of_hooks().map_err(|error| {
        let folder = places.root().display();
        let message =
            format!("the hook events in {folder} cannot be rewritten, so nothing is forgotten: {error}");
        ApiError::new(ErrorCode::Unreadable, message)
    })?;
    let facts = live.facts_without(store, &|id| selection.forecast.sessions.contains(id));
    let forgotten = facts.and_then(|facts| {
        selection.facts = facts;
        store.remove(&selection, now, tell)
    });
    // From now on the store names these sessions as forgotten, so that new hook events are not kept. This removes
    // those that arrived before.
    if let Err(error) = out_of_hooks() {
        tracing::warn!(%error, "the last hook events of forgotten sessions may still be in the journal");
    }
    forgotten.map_err(|error| store_api_error(&error))
}

/// The report of a removal that is not carried out.
///
/// # Errors
/// When the store cannot be read.
pub fn removal_preview(store: &Store, removal: &Removal) -> Result<ForgetReport, ApiError> {
    let what = match removal {
        Removal::Forget(session) => Forget::Session(session.clone()),
        Removal::ForgetAll(sessions) => Forget::Sessions(sessions.clone()),
        Removal::ForgetBefore(at) => Forget::Before(*at),
        Removal::RememberAgain(_) => return Ok(ForgetReport::default()),
    };
    store
        .select_forgotten(&what)
        .map(|selection| report(selection.forecast, 0, true))
        .map_err(|error| store_api_error(&error))
}

fn report(gone: Removed, freed_bytes: u64, dry_run: bool) -> ForgetReport {
    ForgetReport {
        sessions: gone.sessions.into_iter().collect(),
        work_chain_id: None,
        files: gone.files,
        prompts: gone.prompts,
        tool_calls: gone.activities,
        texts: gone.texts,
        archived: gone.archived.len() as u64,
        freed_bytes,
        wiped_later: gone.wiped_later,
        dry_run,
    }
}
