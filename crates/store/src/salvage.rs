//! Sets a damaged database aside, and copies all rows that no transcript holds into the new one. An interruption at
//! any point loses nothing.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rusqlite::types::Value;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, params_from_iter};

use crate::names::beside;
use crate::tables::meta_names::{EXCLUDE_MARK, SALVAGED};
use crate::{DATABASE, Store, StoreError, folder, forgotten_list, removal};

/// Tables whose rows name a session by its id, or no session, with their columns. Rows of `memory_edits` that have a
/// session are copied as those of the next list.
const TABLES_BY_SESSION_ID: [(&str, &str); 9] = [
    ("forgotten", "session_id, at"),
    ("archive", "path, session_id, subagent, file, bytes, stored, hash, mtime, archived_at, dev, inode"),
    ("chains", "chain_id, name"),
    ("links", "earlier, later, reason, confidence, at"),
    ("set_aside", "session_id, snoozed_until, away_active_at, away_since"),
    ("answers", "request_id, session_id, tool, shown, decision, surface, at, outcome, outcome_at"),
    ("memory_edits", "memory, project, what, at, text, path"),
    ("engine_facts", "name, bytes"),
    ("recoveries", "at, what, session_id, detail"),
];

/// Tables whose rows name a session by its row number, which differs in the new database.
const TABLES_BY_SESSION_KEY: [(&str, &str); 4] = [
    ("hook_events", "at, event, tool, call, prompt, detail"),
    ("hook_folders", "cwd"),
    ("transitions", "at, state, kind, source, detail, confidence"),
    ("memory_edits", "memory, project, what, at, text, path, batch, byte, record_at"),
];

/// Suffixes of the files beside a database: its log and the log's companions.
const COMPANIONS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// A note beside the database. It lists the databases that were set aside, one per line, the newest last, until
/// everything is copied from them. A program that is ended in between must not lose the user's edits, or which
/// sessions to forget.
fn note_of(path: &Path) -> PathBuf {
    beside(path, ".salvage")
}

/// Renames a damaged database and its companions, which may hold rows that can still be saved.
pub(crate) fn set_aside_database(path: &Path) -> Result<PathBuf, StoreError> {
    let seconds =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut aside = beside(path, &format!(".corrupt-{seconds}"));
    // A second one within the same second must not replace the first.
    for again in 1.. {
        if !aside.exists() {
            break;
        }
        aside = beside(path, &format!(".corrupt-{seconds}-{again}"));
    }
    let note = note_of(path);
    let mut file = folder::touch(&note)?;
    // After the databases that were not copied yet.
    let write =
        file.seek(SeekFrom::End(0)).and_then(|_| file.write_all(format!("\n{}", name(&aside)).as_bytes()));
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

/// The databases that earlier starts set aside and did not finish copying; the newest last. Call this before the
/// new database is opened: the old log must not be taken for its log.
pub(crate) fn unfinished_copies(path: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let Ok(names) = folder::read_text(&note_of(path)) else { return Ok(Vec::new()) };
    let begin = beside(path, ".corrupt-");
    let ours = names.lines().filter(|line| line.starts_with(&*name(&begin)));
    let left: Vec<PathBuf> =
        ours.map(|line| path.with_file_name(line)).filter(|aside| aside.exists()).collect();
    match left.last() {
        // It was not set aside yet, or the user has removed it since.
        None => done(path),
        Some(newest) if !path.exists() => move_companions(path, newest)?,
        Some(_) => {}
    }
    Ok(left)
}

/// A file of a damaged database that was set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedFile {
    /// Its path.
    pub path: PathBuf,
    /// Its length in bytes.
    pub bytes: u64,
    /// Whether all readable rows were copied, so that the file is no longer needed.
    pub is_copied: bool,
}

/// The files of all databases that were set aside in a data folder, sorted by name.
pub fn damaged_files(data_dir: &Path) -> Vec<DamagedFile> {
    let path = data_dir.join(DATABASE);
    let begin = beside(&path, ".corrupt-");
    let begin = name(&begin);
    let wanted = folder::read_text(&note_of(&path)).unwrap_or_default();
    let is_wanted = |file: &str| {
        wanted.lines().any(|aside| {
            file.strip_prefix(aside).is_some_and(|rest| rest.is_empty() || COMPANIONS.contains(&rest))
        })
    };
    let mut files: Vec<DamagedFile> = std::fs::read_dir(data_dir)
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let file = entry.file_name();
            let file = file.to_str().filter(|file| file.starts_with(&*begin))?;
            let found = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
            let taken_over = !is_wanted(file);
            Some(DamagedFile { path: entry.path(), bytes: found.len(), is_copied: taken_over })
        })
        .collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// The name of a file without its folder.
fn name(path: &Path) -> Cow<'_, str> {
    path.file_name().unwrap_or_default().to_string_lossy()
}

/// Removes the note after everything was copied.
fn done(path: &Path) {
    if let Err(error) = std::fs::remove_file(note_of(path))
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::debug!(%error, "the next start checks again whether all rows were copied");
    }
}

/// Copies all rows that can still be read, once from each database. Returns how many.
pub(crate) fn copy_rows(path: &Path, left: &[PathBuf], to: &mut Connection) -> Result<u64, StoreError> {
    let to_error = |error: rusqlite::Error| StoreError::of(path, &error);
    let (mut saved, mut all) = (0, true);
    // Of two edits by the user the later one counts, so the newest database comes first.
    for aside in left.iter().rev() {
        match from(aside, to, forgotten_list::is_there(path)).map_err(to_error)? {
            Some(rows) => saved += rows,
            None => all = false,
        }
    }
    saved += forgotten_list::restore_forgotten(path, to)?;
    // The rows must be on the disk before the note is removed.
    to.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).map_err(to_error)?;
    if all {
        done(path);
    }
    Ok(saved)
}

/// The databases that were completely copied into this one, one per line.
fn salvaged(sql: &Connection) -> rusqlite::Result<String> {
    let known = sql.query_row("SELECT value FROM meta WHERE name = ?1", [SALVAGED], |row| row.get(0));
    Ok(known.optional()?.unwrap_or_default())
}

impl Store {
    /// Whether the store has rows that would be copied if the database were damaged: edits of the user, states that
    /// were seen live, archived transcripts.
    pub(crate) fn has_unrepeatable_rows(&self) -> Result<bool, StoreError> {
        let tables = TABLES_BY_SESSION_ID
            .iter()
            .chain(&TABLES_BY_SESSION_KEY)
            .map(|(table, _)| format!("EXISTS (SELECT 1 FROM {table})"));
        let any = tables.collect::<Vec<_>>().join(" OR ");
        self.with_sql(|sql| sql.query_row(&format!("SELECT {any}"), [], |row| row.get(0)))
    }
}

/// Copies each row that can still be read. Returns how many; `None` if the file cannot be opened now, though it may
/// still hold rows.
fn from(aside: &Path, to: &mut Connection, is_reminded: bool) -> rusqlite::Result<Option<u64>> {
    let known = salvaged(to)?;
    if known.lines().any(|line| line == name(aside)) {
        return Ok(Some(0));
    }
    // A damaged row, table or file does not keep the rest from being tried.
    let from = match Connection::open_with_flags(aside, OpenFlags::SQLITE_OPEN_READ_ONLY) {
        Ok(from) => from,
        Err(error) => {
            tracing::warn!(path = %aside.display(), %error, "the next start tries again to copy rows from a damaged store");
            return Ok(None);
        }
    };
    // Includes the databases that this one has copied itself.
    let known = [&*known, &*salvaged(&from).unwrap_or_default(), &*name(aside)].join("\n");
    let (mut saved, mut lost) = (0, Vec::new());
    let step = to.transaction()?;
    let by_id = TABLES_BY_SESSION_ID.map(|table| (table, false));
    for ((table, columns), is_owned) in
        by_id.into_iter().chain(TABLES_BY_SESSION_KEY.map(|table| (table, true)))
    {
        let has_session_key = has_column(&from, table, "session");
        if is_owned && has_session_key == Ok(false) {
            // An older schema has no such rows.
            continue;
        }
        let marks = vec!["?"; columns.split(',').count()].join(", ");
        let (select, insert) = if is_owned {
            // The same folder may have come from a newer database already.
            let insert = format!(
                "INSERT INTO {table} (session, {columns})
                 VALUES ((SELECT id FROM sessions WHERE session_id = ?), {marks}) ON CONFLICT DO NOTHING"
            );
            let from = format!("{table} t JOIN sessions s ON s.id = t.session");
            (format!("SELECT s.session_id, t.{} FROM {from}", columns.replace(", ", ", t.")), insert)
        } else {
            let insert = format!("INSERT OR IGNORE INTO {table} ({columns}) VALUES ({marks})");
            let without_session = if has_session_key == Ok(true) { " WHERE session IS NULL" } else { "" };
            (format!("SELECT {columns} FROM {table}{without_session}"), insert)
        };
        // The first table is the list of forgotten sessions itself.
        let forgotten = if table == "forgotten" { HashSet::new() } else { forgotten(&step)? };
        let whole = each_row(&from, &select, &mut |values| {
            if values.iter().any(|value| names_one_of(&forgotten, value)) {
                return Ok(());
            }
            if let Some(session) = values.first().filter(|_| is_owned) {
                step.prepare_cached("INSERT OR IGNORE INTO sessions (session_id) VALUES (?1)")?
                    .execute([session])?;
            }
            saved += step.prepare_cached(&insert)?.execute(params_from_iter(values))? as u64;
            Ok(())
        })?;
        lost.extend((!whole && !lost.contains(&table)).then_some(table));
    }
    step.execute(
        "INSERT OR REPLACE INTO meta (name, value) VALUES (?1, ?2)",
        [SALVAGED, known.trim_start()],
    )?;
    // The exclusion rules were not applied yet to the archived transcripts that were copied.
    step.execute(removal::RESET_EXCLUDE_MARK, [EXCLUDE_MARK])?;
    step.commit()?;
    // The list of forgotten sessions is also in the file beside the database.
    lost.retain(|table| *table != "forgotten" || !is_reminded);
    // A table that an older schema does not have is not lost.
    lost.retain(|table| is_there(&from, table) != Ok(false));
    if !lost.is_empty() {
        let tables = lost.join(", ");
        tracing::warn!(path = %aside.display(), tables, "some rows that no transcript holds cannot be read");
    }
    Ok(Some(saved))
}

/// The sessions that must not come back: rows may be copied long after the damage.
fn forgotten(sql: &Connection) -> rusqlite::Result<HashSet<String>> {
    sql.prepare("SELECT session_id FROM forgotten")?.query_map([], |row| row.get(0))?.collect()
}

fn names_one_of(sessions: &HashSet<String>, value: &Value) -> bool {
    matches!(value, Value::Text(text) if sessions.contains(text))
}

fn is_there(sql: &Connection, table: &str) -> rusqlite::Result<bool> {
    let there = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = ?1)";
    sql.query_row(there, [table], |row| row.get(0))
}

fn has_column(sql: &Connection, table: &str, column: &str) -> rusqlite::Result<bool> {
    let has = "SELECT EXISTS (SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2)";
    sql.query_row(has, [table, column], |row| row.get(0))
}

/// Hands each readable row to `take`. Skips a row that the new database refuses. Returns whether all rows were
/// copied.
///
/// # Errors
/// When the new database accepts nothing more, because the disk is full. SQLite has then rolled back everything,
/// and the rows after that would be only a part.
fn each_row(
    from: &Connection,
    select: &str,
    take: &mut dyn FnMut(Vec<Value>) -> rusqlite::Result<()>,
) -> rusqlite::Result<bool> {
    let Ok(mut statement) = from.prepare(select) else { return Ok(false) };
    let width = statement.column_count();
    let Ok(mut rows) = statement.query([]) else { return Ok(false) };
    let mut whole = true;
    loop {
        let row = match rows.next() {
            Ok(Some(row)) => row,
            Ok(None) => return Ok(whole),
            Err(_) => return Ok(false),
        };
        let values: rusqlite::Result<Vec<Value>> = (0..width).map(|column| row.get(column)).collect();
        let lost = match values.map(&mut *take) {
            Ok(Ok(())) => continue,
            Ok(Err(error)) if !concerns_one_row(&error) => return Err(error),
            Ok(Err(error)) | Err(error) => error,
        };
        tracing::debug!(error = %lost, select, "a row is lost");
        whole = false;
    }
}

/// Whether the new database may still accept another row.
fn concerns_one_row(refusal: &rusqlite::Error) -> bool {
    use ErrorCode::{ConstraintViolation, TooBig, TypeMismatch};
    matches!(refusal.sqlite_error_code(), Some(ConstraintViolation | TypeMismatch | TooBig))
}

#[cfg(test)]
mod tests;
