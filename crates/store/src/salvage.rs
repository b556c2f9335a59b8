//! A damaged database is set aside, and all that no transcript holds is taken over from it, whatever comes in between.

use std::io::Write;
use std::path::{Path, PathBuf};

use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, OptionalExtension, params_from_iter};

use crate::damage::beside;
use crate::tables::meta::SALVAGED;
use crate::{StoreError, folder};

/// Tables of names, with their columns.
const NAMED: [(&str, &str); 7] = [
    ("forgotten", "session_id, at"),
    ("archive", "path, session_id, subagent, file, bytes, stored, hash, mtime, archived_at"),
    ("chains", "chain_id, name"),
    ("links", "earlier, later, reason, confidence, at"),
    ("set_aside", "session_id, snoozed_until, away_active_at, away_since"),
    ("engine_facts", "name, bytes"),
    ("recoveries", "at, what, session_id, detail"),
];

/// Tables whose rows belong to a session, which has another number in the new database.
const OWNED: [(&str, &str); 2] = [
    ("hook_events", "at, event, tool, call, prompt, detail"),
    ("transitions", "at, state, kind, source, detail, confidence"),
];

/// What lies beside a database, with its name: the log and what belongs to it.
const COMPANIONS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// A file beside the database. It names the one that was set aside until everything was taken over from that: a program
/// that is ended in between must not lose what the person has said, nor what they wanted forgotten.
fn note_of(path: &Path) -> PathBuf {
    beside(path, ".salvage")
}

/// Gives a damaged database another name, together with its companions: what can still be saved may be in them.
pub(crate) fn set_aside(path: &Path) -> Result<PathBuf, StoreError> {
    let seconds =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut aside = beside(path, &format!(".corrupt-{seconds}"));
    // Twice within a second must not lose the first.
    for again in 1.. {
        if !aside.exists() {
            break;
        }
        aside = beside(path, &format!(".corrupt-{seconds}-{again}"));
    }
    let note = note_of(path);
    let mut file = folder::touch(&note)?;
    let name = aside.file_name().unwrap_or_default().to_string_lossy();
    let write = file.set_len(0).and_then(|()| file.write_all(name.as_bytes()));
    write.and_then(|()| file.sync_all()).map_err(|e| StoreError::io(&note, e))?;
    path.parent().map(folder::sync_names);
    folder::rename_if_there(path, &aside)?;
    move_companions(path, &aside)?;
    Ok(aside)
}

fn move_companions(path: &Path, aside: &Path) -> Result<(), StoreError> {
    COMPANIONS.iter().try_for_each(|companion| {
        folder::rename_if_there(&beside(path, companion), &beside(aside, companion))
    })
}

/// The database from which a start before this one was to take over what it could, and was ended. To be asked before the
/// new one is opened: the old one's log must not be taken for its own.
pub(crate) fn left_over(path: &Path) -> Result<Option<PathBuf>, StoreError> {
    let Ok(name) = std::fs::read_to_string(note_of(path)) else { return Ok(None) };
    let aside = path.with_file_name(&name);
    let is_ours = beside(path, ".corrupt-")
        .file_name()
        .is_some_and(|begin| name.starts_with(&*begin.to_string_lossy()));
    if !is_ours || !aside.exists() {
        // It was not set aside yet, or the person has removed it since.
        done(path);
        return Ok(None);
    }
    if !path.exists() {
        move_companions(path, &aside)?;
    }
    Ok(Some(aside))
}

/// Everything was taken over.
fn done(path: &Path) {
    if let Err(error) = std::fs::remove_file(note_of(path))
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::debug!(%error, "it will be looked again whether everything was taken over");
    }
}

/// Takes over what can still be read, once. Says how many rows that were.
pub(crate) fn take_over(path: &Path, aside: &Path, to: &mut Connection) -> rusqlite::Result<u64> {
    let name = aside.file_name().unwrap_or_default().to_string_lossy();
    let known: Option<String> =
        to.query_row("SELECT value FROM meta WHERE name = ?1", [SALVAGED], |row| row.get(0)).optional()?;
    let saved = if known.as_deref() == Some(&*name) { 0 } else { from(aside, &name, to)? };
    // So that it is on the disk before the note is gone.
    to.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?;
    done(path);
    Ok(saved)
}

/// Copies row by row, each as far as it can still be read. Says how many.
fn from(aside: &Path, name: &str, to: &mut Connection) -> rusqlite::Result<u64> {
    // Not a damaged row, nor a damaged table or file keeps the rest from being tried.
    let Ok(from) = Connection::open_with_flags(aside, OpenFlags::SQLITE_OPEN_READ_ONLY) else { return Ok(0) };
    let mut saved = 0;
    let step = to.transaction()?;
    for (table, columns) in NAMED {
        let marks = vec!["?"; columns.split(',').count()].join(", ");
        let insert = format!("INSERT OR IGNORE INTO {table} ({columns}) VALUES ({marks})");
        each_row(&from, &format!("SELECT {columns} FROM {table}"), &mut |values| {
            saved += step.prepare_cached(&insert)?.execute(params_from_iter(values))? as u64;
            Ok(())
        });
    }
    for (table, columns) in OWNED {
        let marks = vec!["?"; columns.split(',').count()].join(", ");
        let insert = format!(
            "INSERT INTO {table} (session, {columns}) VALUES ((SELECT id FROM sessions WHERE session_id = ?), {marks})"
        );
        let select =
            format!("SELECT s.session_id, {columns} FROM {table} t JOIN sessions s ON s.id = t.session");
        each_row(&from, &select, &mut |values| {
            step.prepare_cached("INSERT OR IGNORE INTO sessions (session_id) VALUES (?1)")?
                .execute([values.first()])?;
            saved += step.prepare_cached(&insert)?.execute(params_from_iter(values))? as u64;
            Ok(())
        });
    }
    step.execute("INSERT OR REPLACE INTO meta (name, value) VALUES (?1, ?2)", [SALVAGED, name])?;
    step.commit()?;
    Ok(saved)
}

/// Hands over the rows that can be read. A row that the new database refuses is left out.
fn each_row(from: &Connection, select: &str, take: &mut dyn FnMut(Vec<Value>) -> rusqlite::Result<()>) {
    let Ok(mut statement) = from.prepare(select) else { return };
    let width = statement.column_count();
    let Ok(mut rows) = statement.query([]) else { return };
    while let Ok(Some(row)) = rows.next() {
        let values: rusqlite::Result<Vec<Value>> = (0..width).map(|column| row.get(column)).collect();
        if let Err(error) = values.and_then(&mut *take) {
            tracing::debug!(%error, select, "a row is lost");
        }
    }
}
