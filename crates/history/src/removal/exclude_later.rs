//! Removes stored data that the user excludes later: at the next start, when the configuration changes, or in
//! `index`, once for each change of the rules.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::Path;
use watchbill_agents::excluded::is_named_in;

use watchbill_agents::files::{parser_of, place_of};
use watchbill_agents::layout::ClientPath;
use watchbill_agents::traits::Parser;
use watchbill_agents::{Root, root_of};
use watchbill_core::history::{Exclude, HistorySettings};
use watchbill_core::ids::SessionId;
use watchbill_core::time::Timestamp;
use watchbill_hooks::places::HookPaths;
use watchbill_store::archive::Archive;
use watchbill_store::removal::Heads;
use watchbill_store::tables::archive::ArchiveRow;
use watchbill_store::tables::folders::WorkedIn;
use watchbill_store::{Store, StoreError};
use watchbill_watch::fs::Fs;

use crate::index::over_http;
use crate::lines::{FromStart, any_line};
use crate::live_state::{ExcludeEffect, LiveState};
use crate::reader::folder_beside;

/// Whether these rules have not been carried out yet.
///
/// # Errors
/// When the store cannot be read.
pub fn exclude_is_due(store: &Store, settings: &HistorySettings) -> Result<bool, StoreError> {
    store.are_rules_applied(settings.exclude.patterns()).map(|done| !done)
}

/// Removes excluded data from the store, if these rules have not been carried out yet. Transcripts found again in the
/// archive just now make the rules due again. Says how many files of other programs' events it could not read.
///
/// # Errors
/// When the store cannot be written. The next run tries again.
pub fn remove_excluded(
    store: &mut Store,
    fs: &dyn Fs,
    live: &dyn LiveState,
    settings: &HistorySettings,
    roots: &[Root],
    now: Timestamp,
) -> Result<u64, StoreError> {
    let exclude = &settings.exclude;
    store.tidy_archive()?;
    if !exclude_is_due(store, settings)? {
        return Ok(0);
    }
    let (worked, heads) = match exclude.is_empty() {
        true => Default::default(),
        false => worked_in(store, fs, live, exclude, roots)?,
    };
    let mut selection = store.select_excluded(exclude, worked, heads)?;
    let unread = leave_out_of_hooks(store, exclude, &selection.forecast.sessions)?;
    selection.facts = live.facts_without(store, &|id| selection.forecast.sessions.contains(id))?;
    store.remove(&selection, now, &mut |_| ()).map(|_| unread)
}

/// Removes recent hook events, which lie in files of their own. They go first: after an interruption the rules count
/// as not carried out.
fn leave_out_of_hooks(
    store: &Store,
    exclude: &Exclude,
    sessions: &BTreeSet<String>,
) -> Result<u64, StoreError> {
    let Some(data_dir) = store.path().parent().filter(|_| !exclude.is_empty()) else { return Ok(0) };
    let places = HookPaths::new(data_dir);
    let ids: Vec<SessionId> = sessions.iter().map(|id| SessionId::new(id)).collect();
    let (unread, gone) = over_http::remove(data_dir, &ids, &|line| is_named_in(exclude, line))
        .and_then(|unread| Ok((unread, watchbill_hooks::forget::remove_excluded(&places, exclude, &ids)?)))
        .map_err(|source| StoreError::Io { path: places.root().to_path_buf(), source })?;
    if gone > 0 {
        tracing::info!(gone, "hook events were removed, because `exclude` names them now");
    }
    Ok(unread)
}

/// Sessions and subagents that have ever worked in an excluded folder. The history notes the folders of each
/// transcript. The engine may have read further than the history, and the store's session rows name only the first
/// folder.
fn worked_in(
    store: &Store,
    fs: &dyn Fs,
    live: &dyn LiveState,
    exclude: &Exclude,
    roots: &[Root],
) -> Result<(WorkedIn, Heads), StoreError> {
    let mut heads = Heads::new();
    let mut worked = store.worked_in(&|path: &str| exclude.excludes(path))?;
    store.states(&mut |path, head| {
        let Some(place) = place(roots, Path::new(path)) else { return };
        match live.exclude_effect(place, head, exclude) {
            ExcludeEffect::Nothing => {}
            ExcludeEffect::WorkedIn(session) => drop(worked.sessions.insert(session)),
            ExcludeEffect::Rest(rest) => heads.push((path.to_owned(), head.to_vec(), rest)),
        }
    })?;
    // For files read before the store noted folders, only the transcript has them, if it still exists.
    store.without_folders(&mut |session, subagent, path| {
        // For a session, the engine has kept its folders. A subagent whose transcript may not be read now is removed:
        // its texts come back from the transcript where they may be stored.
        let may_have = |error: io::Error| subagent && error.kind() == io::ErrorKind::PermissionDenied;
        if has_worked_in(fs, Path::new(&path), exclude).unwrap_or_else(may_have) {
            worked.add(session, subagent, path);
        }
    })?;
    look_into_archive(store, exclude, &mut worked)?;
    Ok((worked, heads))
}

/// The same for archived transcripts that are not stored completely, for example because the database was made anew.
/// One that cannot be read gives no evidence, and stays.
fn look_into_archive(store: &Store, exclude: &Exclude, worked: &mut WorkedIn) -> Result<(), StoreError> {
    let Some(archive) = store.path().parent().map(Archive::new) else { return Ok(()) };
    let mut read = HashMap::new();
    store.files(&mut |_, file| {
        read.insert(file.path, (file.cursor.size, file.cursor.mtime));
    })?;
    let partly = store.partly_excluded()?;
    // If single calls of a transcript were left out, its rows do not tell either.
    let is_read = |row: &ArchiveRow| read.get(&row.path) == Some(&(row.bytes, row.mtime));
    for row in store.all_archived()? {
        if is_read(&row) && !partly.contains(&row.path) {
            continue;
        }
        let Ok(frames) = archive.open_as_found(&row) else { continue };
        let (mut worked_there, mut named) = (false, false);
        let looked = any_line(&mut frames.reader(), &mut |line| {
            worked_there = is_work_in(parser_of(Path::new(&row.path)), line, exclude);
            named |= is_named_in(exclude, &String::from_utf8_lossy(line));
            worked_there
        });
        if let Err(error) = looked {
            tracing::warn!(path = row.path, %error, "an archived transcript cannot be read to its end");
        }
        if worked_there {
            worked.add(row.session_id, row.subagent.is_some(), row.path);
        } else if named {
            worked.archived.insert(row.path);
        }
    }
    Ok(())
}

/// The kind of a transcript, also below a root that is not watched now: the rules apply to everything stored.
fn place(roots: &[Root], path: &Path) -> Option<ClientPath> {
    root_of(roots, path)
        .and_then(|root| root.classify(path))
        .or_else(|| place_of(path))
        .filter(ClientPath::is_transcript)
}

/// Whether a transcript names an excluded folder or file. If so, it is not archived, because the archive keeps
/// complete transcripts. One that cannot be read now is not archived now.
pub fn mentions_excluded(fs: &dyn Fs, path: &Path, exclude: &Exclude) -> bool {
    if exclude.is_empty() {
        return false;
    }
    if folder_beside(fs, path).is_some_and(|folder| exclude.excludes(&folder)) {
        return true;
    }
    let is_told_of = &mut |line: &[u8]| is_named_in(exclude, &String::from_utf8_lossy(line));
    fs.open(path).and_then(|file| any_line(&mut FromStart { file, at: 0 }, is_told_of)).unwrap_or(true)
}

/// Whether a transcript has an excluded folder as a working folder.
fn has_worked_in(fs: &dyn Fs, path: &Path, exclude: &Exclude) -> io::Result<bool> {
    if folder_beside(fs, path).is_some_and(|folder| exclude.excludes(&folder)) {
        return Ok(true);
    }
    any_line(&mut FromStart { file: fs.open(path)?, at: 0 }, &mut |line| {
        is_work_in(parser_of(path), line, exclude)
    })
}

/// Whether a line has an excluded folder as its working folder.
fn is_work_in(parse: Parser, line: &[u8], exclude: &Exclude) -> bool {
    let mut worked = false;
    parse(line, &mut |record, _| {
        worked |= record.envelope.cwd.as_deref().is_some_and(|cwd| exclude.excludes(cwd));
    });
    worked
}
