//! The user's decisions about memories.

use std::path::Path;

use watchbill_core::ids::SessionId;
use watchbill_core::memory::likeness::normal_form;
use watchbill_core::memory::plain::plain_line;
use watchbill_core::memory::secrets::has_secret;
use watchbill_core::memory::signals::memory_id;
use watchbill_core::memory::{Edit, EditKind, Mark, MemoryKind};
use watchbill_core::time::Timestamp;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::memory::{MarkedRecord, MemoryChange, MemoryChanged};
use watchbill_settings::Settings;
use watchbill_store::Store;
use watchbill_watch::fs::Fs;

use super::ids::{find, id_text};
use super::learn::learn_all;
use super::project::project_of;
use crate::errors::store_api_error;

/// The name of the fact that holds the end of a pause: milliseconds since the epoch.
pub(super) const PAUSED_UNTIL: &str = "memory_paused_until";

/// Carries out a change and stores it.
///
/// # Errors
/// When no memory fits the id, the text cannot be kept, or the store cannot be written.
pub fn change(
    store: &mut Store,
    fs: &dyn Fs,
    settings: &Settings,
    change: &MemoryChange,
    now: Timestamp,
) -> Result<MemoryChanged, ApiError> {
    let edit = |id: &str, what, text| -> Result<(u64, Edit), ApiError> {
        let (memory, project) = find(store, id)?;
        Ok((project, Edit { memory, what, at: now, text, path: None, mark: None }))
    };
    let (project, edit) = match change {
        MemoryChange::Learn => {
            let enabled = settings.memory.enabled;
            let learn = |store| learn_all(store, fs, &settings.history, &settings.memory, now);
            let seen = if enabled { learn(store) } else { Ok(0) };
            let sessions = Some(seen.map_err(|error| store_api_error(&error))?);
            return Ok(MemoryChanged { sessions, ..MemoryChanged::default() });
        }
        MemoryChange::CatchUp => return catch_up(store, settings, now),
        MemoryChange::Pause { until } => return pause(store, until.as_deref()),
        MemoryChange::Add { cwd, text, path, from } => {
            let (project, edit) = added(fs, settings, cwd, text, path.as_deref(), now)?;
            (project, Edit { mark: from.as_ref().map(|from| mark(store, from)).transpose()?, ..edit })
        }
        MemoryChange::Accept { id } => edit(id, EditKind::Accepted, None)?,
        MemoryChange::Reject { id } => edit(id, EditKind::Rejected, None)?,
        MemoryChange::Edit { id, text } => edit(id, EditKind::Edited, Some(checked(text)?))?,
        MemoryChange::Forget { id } => edit(id, EditKind::Forgotten, None)?,
    };
    let edit = keep_own_text(store, project, edit)?;
    let stored = store.step().and_then(|mut step| {
        step.put_memory_edit(project, &edit)?;
        step.commit()
    });
    stored.map_err(|error| store_api_error(&error))?;
    Ok(MemoryChanged { id: Some(id_text(edit.memory)), ..MemoryChanged::default() })
}

/// The model is asked about every turn that waits.
fn catch_up(store: &mut Store, settings: &Settings, now: Timestamp) -> Result<MemoryChanged, ApiError> {
    if !settings.memory.model.is_chosen() {
        return Err(no_model());
    }
    let wanted = store.step().and_then(|mut step| {
        let wanted = step.want_all_model_jobs(now)?;
        step.commit()?;
        Ok(wanted)
    });
    let turns = Some(wanted.map_err(|error| store_api_error(&error))?);
    Ok(MemoryChanged { turns, ..MemoryChanged::default() })
}

/// The user has chosen no model.
pub(super) fn no_model() -> ApiError {
    let message = "no model is chosen: set `base_url` or `agent` under [model] in the configuration file";
    ApiError::new(ErrorCode::Invalid, message)
}

/// A text that the user wrote stays: accepting keeps it, and a memory that was added is edited in its place.
fn keep_own_text(store: &Store, project: u64, edit: Edit) -> Result<Edit, ApiError> {
    let (_, edits) =
        store.memories_by_id(project, &Default::default()).map_err(|error| store_api_error(&error))?;
    let Some(before) = edits.into_iter().find(|before| before.memory == edit.memory) else { return Ok(edit) };
    let is_hand = before.what == EditKind::Added;
    Ok(match edit.what {
        EditKind::Accepted if before.text.is_some() => Edit { at: edit.at, ..before },
        EditKind::Edited if is_hand => Edit { text: edit.text, at: edit.at, ..before },
        // What was typed before belongs to no session, and stays when this one is forgotten.
        EditKind::Added if is_hand && before.mark.is_none() => Edit { at: edit.at, ..before },
        // Nothing else shows it.
        EditKind::Rejected if is_hand => Edit { what: EditKind::Forgotten, ..edit },
        _ => edit,
    })
}

fn added(
    fs: &dyn Fs,
    settings: &Settings,
    cwd: &str,
    text: &str,
    path: Option<&str>,
    now: Timestamp,
) -> Result<(u64, Edit), ApiError> {
    if settings.history.exclude.excludes(cwd) {
        let message = format!("`exclude` leaves {cwd} out, so nothing is kept of it");
        return Err(ApiError::new(ErrorCode::Invalid, message));
    }
    let text = checked(text)?;
    let place = project_of(fs, cwd);
    let path = path.map(|path| relative(fs, cwd, &place.root, path)).transpose()?;
    let key = format!("{}\n{}", path.as_deref().unwrap_or_default(), normal_form(&text));
    let memory = memory_id(place.project, MemoryKind::Note, &key);
    Ok((place.project, Edit { memory, what: EditKind::Added, at: now, text: Some(text), path, mark: None }))
}

/// The record that the user marked. Without it the memory would not go with its session.
fn mark(store: &Store, from: &MarkedRecord) -> Result<Mark, ApiError> {
    let wrong = || ApiError::new(ErrorCode::Invalid, format!("`{}` is not an RFC 3339 time", from.at));
    let at = Timestamp::parse(&from.at).ok_or_else(wrong)?;
    let mark =
        store.mark_at(&SessionId::new(&from.session_id), at).map_err(|error| store_api_error(&error))?;
    mark.ok_or_else(|| {
        ApiError::new(ErrorCode::NotReady, "the history does not have this record; try again in a moment")
    })
}

/// A path as memories have it.
///
/// # Errors
/// When the file is outside of the project.
pub(super) fn relative(fs: &dyn Fs, cwd: &str, root: &str, path: &str) -> Result<String, ApiError> {
    let whole = Path::new(cwd).join(path);
    let real = fs.canonical(&whole).unwrap_or(whole);
    let inside = real.strip_prefix(root).ok().and_then(Path::to_str).filter(|path| !path.is_empty());
    let outside = || ApiError::new(ErrorCode::Invalid, format!("{path} is not a file in {root}"));
    inside.map(|path| path.replace('\\', "/")).ok_or_else(outside)
}

/// The text as it is kept.
fn checked(text: &str) -> Result<String, ApiError> {
    let line = plain_line(text);
    if line.is_empty() {
        return Err(ApiError::new(ErrorCode::Invalid, "the text is empty, or all of it is private"));
    }
    if has_secret(text) {
        let message = "the text looks as if it held a secret, so it is not kept; leave the secret out";
        return Err(ApiError::new(ErrorCode::Invalid, message));
    }
    Ok(line)
}

fn pause(store: &mut Store, until: Option<&str>) -> Result<MemoryChanged, ApiError> {
    let wrong = |text| ApiError::new(ErrorCode::Invalid, format!("`{text}` is not an RFC 3339 time"));
    let until = until.map(|text| Timestamp::parse(text).ok_or_else(|| wrong(text))).transpose()?;
    let value = until.map_or(0, Timestamp::as_millis).to_string();
    let stored = store.step().and_then(|mut step| {
        step.set_meta(PAUSED_UNTIL, &value)?;
        step.commit()
    });
    stored.map_err(|error| store_api_error(&error))?;
    Ok(MemoryChanged::default())
}

/// Until when nothing is to be said, if that is to come.
pub(crate) fn paused_until(store: &Store, now: Timestamp) -> Option<Timestamp> {
    let until = store.meta(PAUSED_UNTIL).ok().flatten().and_then(|until| until.parse().ok());
    until.filter(|until| *until > now.as_millis()).map(Timestamp::from_millis)
}

/// Whether nothing is to be said now.
pub(super) fn is_paused(store: &Store, now: Timestamp) -> bool {
    paused_until(store, now).is_some()
}

#[cfg(test)]
mod tests {
    use watchbill_store::OpenMode;
    use watchbill_store::removal::Forget;
    use watchbill_watch::mem::MemFs;

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_795_262_400_000);
    const CWD: &str = "/home/dev/app";

    fn remember(store: &mut Store, session: Option<&str>) -> Result<MemoryChanged, ApiError> {
        let from = session.map(|id| MarkedRecord { session_id: id.to_owned(), at: NOW.to_string() });
        let add = MemoryChange::Add {
            cwd: CWD.to_owned(),
            text: "the proxy naps at night".to_owned(),
            path: None,
            from,
        };
        change(store, &MemFs::new(), &Settings::for_roots(Vec::<std::path::PathBuf>::new()), &add, NOW)
    }

    #[test]
    fn a_marked_record_must_be_stored_and_takes_no_typed_memory_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path(), OpenMode::WriteOrRead).unwrap();
        let early = remember(&mut store, Some("s")).unwrap_err();
        assert_eq!(early.code, ErrorCode::NotReady, "nothing would remove it with its session");
        let mut step = store.step().unwrap();
        step.session_key(&SessionId::new("s")).unwrap();
        step.commit().unwrap();
        let marked = remember(&mut store, Some("s")).unwrap();
        let project = project_of(&MemFs::new(), CWD).project;
        let edits = |store: &Store| store.memories_by_id(project, &Default::default()).unwrap().1;
        assert!(edits(&store)[0].mark.is_some());
        remember(&mut store, None).unwrap();
        assert!(edits(&store)[0].mark.is_none(), "the user has typed it, too");
        assert_eq!(remember(&mut store, Some("s")).unwrap(), marked);
        let forget = Forget::Sessions(vec![SessionId::new("s")]);
        let selection = store.select_forgotten(&forget).unwrap();
        store.remove(&selection, NOW, &mut |_| {}).unwrap();
        assert_eq!(edits(&store).len(), 1);
    }
}
