//! Forgetting for good: done here where this process may write the store, and else by the one that does, which is asked by
//! a wish (`wishes.rs`) and answers with what it has removed.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use watchbill_core::ids::SessionId;
use watchbill_core::time::Timestamp;
use watchbill_hooks::places::Places;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::store::ForgetReport;
pub use watchbill_store::forget::Stage;
use watchbill_store::forget::{Forget, Forgotten};
use watchbill_store::{Access, Mode, Store, StoreError, who};

use crate::named::{Among, SHOWN, one};
use crate::persist::facts_without;
use crate::settings::Settings;
use crate::stored::{data_dir, refusal};
use crate::wishes::Wishes;

/// How often an answer is looked for.
const STEP: Duration = Duration::from_millis(20);
/// After so many looks in vain, half a second: does the other process still write?
const TAKE_OVER: u32 = 25;
/// After so many, half a minute, nobody will begin with it any more: a first scan may last that long, and is shorter than
/// [`crate::wishes::GIVEN_UP`].
const BEGUN: u32 = 1_500;
/// After so many, ten minutes, whoever has begun with it is left alone. Wiping the bytes out of some gigabytes takes one.
const DONE: u32 = 30_000;

/// What is to be forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForgetWhat {
    /// One session, or all of a work chain: by the id of either, or the unique beginning of one.
    Session(String),
    /// Every session that has been silent since before this moment.
    Before(Timestamp),
}

/// What is asked of whoever writes the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Removal {
    /// This session is removed for good.
    Forget(SessionId),
    /// These sessions are, which are all of a work chain.
    ForgetAll(Vec<SessionId>),
    /// Every session that has been silent since before this moment is.
    ForgetBefore(Timestamp),
    /// A session that was removed may be stored again.
    RememberAgain(SessionId),
}

/// Who is at it, and how far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// This process.
    Here(Stage),
    /// Another one, where known this one: how far it is nobody knows.
    Elsewhere(Option<u32>),
}

/// What came of it: what was removed, if that was asked for.
pub type Outcome = Result<Option<ForgetReport>, ApiError>;

/// Removes sessions from the store for good, or with `dry_run` only says what would be removed. Where another process
/// writes the store, that one is asked to, and waited for. `tell` is told how far it is.
///
/// # Errors
/// When no such session is stored, the store cannot be written, or whoever writes it does not answer; what that means is
/// said.
pub fn forget(
    settings: &Settings,
    what: &ForgetWhat,
    dry_run: bool,
    now: Timestamp,
    tell: &mut dyn FnMut(Doing),
) -> Result<ForgetReport, ApiError> {
    let data_dir = data_dir(settings)?;
    let mode = if dry_run { Mode::Read } else { Mode::WriteOrRead };
    if !data_dir.join(watchbill_store::DATABASE).exists() {
        return Err(ApiError::new(ErrorCode::NotFound, "nothing is stored, so there is nothing to forget"));
    }
    let store = Store::open(data_dir, mode).map_err(|error| refusal(&error))?;
    let (removal, work_chain_id) = match what {
        ForgetWhat::Before(at) => (Removal::ForgetBefore(*at), None),
        ForgetWhat::Session(asked) => meant(&store, asked)?,
    };
    let report = if dry_run {
        would(&store, &removal)?
    } else {
        let done = done_by_whoever_writes(data_dir, store, &removal, now, BEGUN, tell)?;
        done.ok_or_else(|| ApiError::new(ErrorCode::Internal, "it is not known what was removed"))?
    };
    Ok(ForgetReport { work_chain_id, ..report })
}

/// The one session that is meant, or those of the work chain with its id. What begins the id of a session means that
/// session, as everywhere.
fn meant(store: &Store, asked: &str) -> Result<(Removal, Option<String>), ApiError> {
    let stored = |error: StoreError| refusal(&error);
    let chains = store.chain_ids(asked, SHOWN + 1).map_err(stored)?;
    let is_chain = chains.iter().any(|chain| chain == asked);
    let mut sessions = store.session_ids(asked, SHOWN + 1).map_err(stored)?;
    if sessions.is_empty() {
        sessions = store.session_ids_of_strays(asked).map_err(stored)?;
    }
    if chains.is_empty() || !(sessions.is_empty() || is_chain) {
        let session = one(Among::StoredOrChains, asked, &sessions)?;
        return Ok((Removal::Forget(SessionId::new(session)), None));
    }
    let chain = one(Among::StoredChains, asked, &chains)?;
    let sessions = store.session_ids_of_chain(chain).map_err(stored)?;
    let sessions = sessions.iter().map(|id| SessionId::new(id)).collect();
    Ok((Removal::ForgetAll(sessions), Some(chain.clone())))
}

/// Lets a session that was forgotten be stored again. Gives its id.
///
/// # Errors
/// When it was not forgotten, the store cannot be written, or whoever writes it does not answer.
pub fn remember_again(settings: &Settings, asked: &str, now: Timestamp) -> Result<String, ApiError> {
    let data_dir = data_dir(settings)?;
    let store = Store::open(data_dir, Mode::WriteOrRead).map_err(|error| refusal(&error))?;
    let forgotten = store.forgotten().map_err(|error| refusal(&error))?;
    let mut begin: Vec<&str> = forgotten.iter().map(SessionId::as_str).collect();
    begin.retain(|id| id.starts_with(asked));
    let session = SessionId::new(one(Among::Forgotten, asked, &begin)?);
    let removal = Removal::RememberAgain(session.clone());
    done_by_whoever_writes(data_dir, store, &removal, now, BEGUN, &mut |_| ())?;
    Ok(session.to_string())
}

/// Carries it out, by a store that may be written. `tell` is told how far it is.
///
/// # Errors
/// When the store, or what hooks have told, cannot be written.
pub fn carry_out(
    store: &mut Store,
    data_dir: &Path,
    removal: &Removal,
    now: Timestamp,
    tell: &mut dyn FnMut(Stage),
) -> Outcome {
    let what = match removal {
        Removal::RememberAgain(session) => {
            return store.remember_again(Some(session)).map(|_| None).map_err(|error| refusal(&error));
        }
        Removal::Forget(session) => Forget::Session(session.clone()),
        Removal::ForgetAll(sessions) => Forget::Sessions(sessions.clone()),
        Removal::ForgetBefore(at) => Forget::Before(*at),
    };
    let bytes = |store: &Store| store.totals().map_or(0, |totals| totals.bytes);
    let before = bytes(store);
    let gone = forget_all_of(store, data_dir, &what, now, tell)?;
    let freed = before.saturating_sub(bytes(store));
    Ok(Some(report(gone, freed, false)))
}

/// Also what no file would tell again, and what hooks have told lately. Those first: when this is cut short, the session
/// is still stored, and can be named again.
fn forget_all_of(
    store: &mut Store,
    data_dir: &Path,
    what: &Forget,
    now: Timestamp,
    tell: &mut dyn FnMut(Stage),
) -> Result<Forgotten, ApiError> {
    store.tidy_archive().map_err(|error| refusal(&error))?;
    let sessions = store.would_forget(what).map_err(|error| refusal(&error))?.sessions;
    let ids: Vec<SessionId> = sessions.iter().map(|id| SessionId::new(id)).collect();
    let places = Places::new(data_dir);
    let out_of_hooks = || watchbill_hooks::forget::forget(&places, &ids);
    out_of_hooks().map_err(|error| {
        let folder = places.root().display();
        let message =
            format!("the hook events in {folder} cannot be rewritten, so nothing is forgotten: {error}");
        ApiError::new(ErrorCode::Unreadable, message)
    })?;
    let rest = facts_without(store, &|id| sessions.iter().any(|gone| gone == id));
    let forgotten = rest.and_then(|rest| {
        if let Some((name, bytes)) = rest {
            let mut step = store.step()?;
            step.put_fact(name, &bytes)?;
            step.commit()?;
        }
        store.forget(what, now, tell)
    });
    // Whoever keeps hook events knows from the store that none of these are to be kept, and what came before that goes now.
    if let Err(error) = out_of_hooks() {
        tracing::warn!(%error, "the last hook events of what was forgotten may still be in the journal");
    }
    forgotten.map_err(|error| refusal(&error))
}

fn would(store: &Store, removal: &Removal) -> Result<ForgetReport, ApiError> {
    let what = match removal {
        Removal::Forget(session) => Forget::Session(session.clone()),
        Removal::ForgetAll(sessions) => Forget::Sessions(sessions.clone()),
        Removal::ForgetBefore(at) => Forget::Before(*at),
        Removal::RememberAgain(_) => return Ok(ForgetReport::default()),
    };
    store.would_forget(&what).map(|would| report(would, 0, true)).map_err(|error| refusal(&error))
}

/// `begun` is after how many looks it is given up, where nobody has begun with it.
fn done_by_whoever_writes(
    data_dir: &Path,
    mut store: Store,
    removal: &Removal,
    now: Timestamp,
    begun: u32,
    tell: &mut dyn FnMut(Doing),
) -> Outcome {
    let Access::Reader { held_by } = store.access() else {
        return carry_out(&mut store, data_dir, removal, now, &mut |stage| tell(Doing::Here(stage)));
    };
    let would = would(&store, removal)?;
    // Whoever reads may keep the bytes from being wiped out.
    drop(store);
    let wishes = Wishes::open(data_dir).map_err(|error| unwritable(data_dir, &error))?;
    let wish = wishes.leave_removal(removal, now).map_err(|error| unwritable(wishes.folder(), &error))?;
    let writer = who(held_by);
    let nothing_done = || Err(unanswered(&writer));
    tell(Doing::Elsewhere(held_by));
    for look in 1..=DONE {
        if let Some(answer) = wishes.answered(&wish) {
            return answer.map_err(|error| of_another_version(&writer, error));
        }
        if look % TAKE_OVER == 0 {
            match Store::take_over(data_dir) {
                Ok(None) => {}
                Ok(Some(mut store)) => {
                    wishes.take_away(&wish);
                    return match wishes.answered(&wish) {
                        Some(answer) => answer,
                        None => go_on(&mut store, data_dir, removal, would, now, tell),
                    };
                }
                Err(error) => {
                    wishes.take_away(&wish);
                    return Err(refusal(&error));
                }
            }
        }
        // Once it is begun the wish is no longer there.
        if look == begun && wishes.take_away(&wish) {
            return nothing_done();
        }
        std::thread::sleep(STEP);
    }
    Err(ApiError::new(
        ErrorCode::NotReady,
        format!(
            "{writer} keeps the history, has begun to remove it and is not done after ten minutes; it goes on without \
             being waited for, and `watchbill forget --dry-run` says what is still stored"
        ),
    ))
}

/// The process that wrote has ended, perhaps in the midst of it. `would` is what there was before.
fn go_on(
    store: &mut Store,
    data_dir: &Path,
    removal: &Removal,
    would: ForgetReport,
    now: Timestamp,
    tell: &mut dyn FnMut(Doing),
) -> Outcome {
    let done = carry_out(store, data_dir, removal, now, &mut |stage| tell(Doing::Here(stage)))?;
    let is_left = |report: &ForgetReport| !report.sessions.is_empty() || would.sessions.is_empty();
    if done.as_ref().is_none_or(is_left) {
        return Ok(done);
    }
    // Its rows were gone already; their bytes may not be.
    let wiped = store.finish_wiping().and_then(|()| store.is_to_be_wiped());
    let wiped_later = wiped.map_err(|error: StoreError| refusal(&error))?;
    Ok(Some(ForgetReport { wiped_later, dry_run: false, ..would }))
}

fn unanswered(writer: &str) -> ApiError {
    let message = format!(
        "nothing was changed: {writer} keeps the history up to date now, and does not answer; wait until it is done if it is \
         `watchbill index`, or quit it, and try again"
    );
    ApiError::new(ErrorCode::NotReady, message)
}

/// What this version asks for always makes sense to itself.
fn of_another_version(writer: &str, answer: ApiError) -> ApiError {
    if answer.code != ErrorCode::Invalid {
        return answer;
    }
    let message = format!(
        "nothing was changed: {writer} keeps the history up to date now, and is a Watchbill of another version, which does not \
         know how to forget for others; quit it and try again"
    );
    ApiError::new(ErrorCode::Unsupported, message)
}

fn unwritable(folder: &Path, error: &std::io::Error) -> ApiError {
    let message = format!(
        "nothing was changed: whoever keeps the history is told so by a file, and {} cannot be written: {error}; check who \
         owns it, and the disk",
        folder.display()
    );
    ApiError::new(ErrorCode::Unreadable, message)
}

fn report(gone: Forgotten, freed_bytes: u64, dry_run: bool) -> ForgetReport {
    ForgetReport {
        sessions: gone.sessions,
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a store that cannot be made is a failure")]

    use super::*;

    /// With one session.
    fn store(folder: &Path) -> Store {
        let mut store = Store::open(folder, Mode::WriteOrRead).unwrap();
        let mut step = store.step().unwrap();
        step.session_key(&SessionId::new("s")).unwrap();
        step.commit().unwrap();
        store
    }

    #[test]
    fn what_nobody_begins_with_is_given_up_and_nothing_has_changed() {
        let folder = tempfile::tempdir().unwrap();
        let writer = store(folder.path());
        let reader = Store::open(folder.path(), Mode::WriteOrRead).unwrap();
        let removal = Removal::Forget(SessionId::new("s"));
        let now = Timestamp::from_millis(5);
        let given_up = {
            let (folder, at_most) = (folder.path(), TAKE_OVER + 1);
            done_by_whoever_writes(folder, reader, &removal, now, at_most, &mut |_| ()).unwrap_err()
        };
        let pid = format!("process {} ", std::process::id());
        assert!(given_up.message.contains(&pid), "{}", given_up.message);
        assert_eq!(writer.session_ids("s", 2).unwrap(), ["s"]);
        let wishes = Wishes::open(folder.path()).unwrap();
        assert!(wishes.waiting().is_empty(), "nobody does it later");
    }

    #[test]
    fn who_goes_on_for_another_one_says_what_there_was_before() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = store(folder.path());
        let removal = Removal::Forget(SessionId::new("s"));
        let before = would(&store, &removal).unwrap();
        let now = Timestamp::from_millis(5);
        for part in ["nothing was done", "everything was, and not said"] {
            let done = {
                let done = go_on(&mut store, folder.path(), &removal, before.clone(), now, &mut |_| ());
                done.unwrap().unwrap()
            };
            assert_eq!((done.sessions, done.dry_run), (vec!["s".to_owned()], false), "{part}");
        }
        assert_eq!(store.forgotten().unwrap(), [SessionId::new("s")]);
    }
}
