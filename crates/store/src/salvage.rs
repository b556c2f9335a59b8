//! What is taken over from a database that was set aside: all that no transcript holds.

use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, params_from_iter};

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

/// Copies row by row, each as far as it can still be read. Says how many.
pub(crate) fn from(aside: &Path, to: &mut Connection) -> rusqlite::Result<u64> {
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
